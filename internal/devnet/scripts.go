package devnet

import "time"

// Scenarios lists the scenarios of the demo; the first is the default.
func Scenarios() []Scenario {
	return []Scenario{tour(), healthy(), stalePrimary(), wrongChain(), throttle(), flap(), outage()}
}

// FindScenario gives a scenario by its name.
func FindScenario(name string) (Scenario, bool) {
	for _, s := range Scenarios() {
		if s.Name == name {
			return s, true
		}
	}
	return Scenario{}, false
}

// scenario fills in what all have in common.
func scenario(name, summary string, fronts []FrontSpec, repeat time.Duration, steps ...Step) Scenario {
	return Scenario{
		Name: name, Summary: summary, Fronts: fronts, BlockTime: time.Second,
		LagSoft: 2 * time.Second, LagHard: 8 * time.Second,
		Steps: steps, Repeat: repeat,
	}
}

// quartet is four honest endpoints of four operators.
func quartet() []FrontSpec {
	return []FrontSpec{
		{Name: "own", Operator: "own", Tier: 0, Latency: 8 * time.Millisecond, Jitter: 3 * time.Millisecond},
		{Name: "backup", Operator: "acme", Tier: 1, Latency: 25 * time.Millisecond, Jitter: 6 * time.Millisecond},
		{Name: "spare", Operator: "globex", Tier: 1, Latency: 45 * time.Millisecond, Jitter: 10 * time.Millisecond},
		{Name: "public", Operator: "umbrella", Tier: 2, Latency: 70 * time.Millisecond, Jitter: 25 * time.Millisecond},
	}
}

// sometimes is a quota that runs out over and over.
func sometimes() Fault {
	return Fault{Kind: Flap, Between: []Fault{
		{Kind: Throttle, RetryAfter: 2 * time.Second, For: 4 * time.Second},
		{Kind: None, For: 8 * time.Second},
	}}
}

func at(s int, front string, do Action, note string) Step {
	return Step{After: time.Duration(s) * time.Second, Front: front, Do: do, Note: note}
}

func tour() Scenario {
	return scenario("tour", "five endpoints, each with a trouble of its own; the primary goes stale and heals, over and over",
		DefaultFronts(), 70*time.Second,
		at(0, "laggard", NodeLag(5), "is five blocks behind, all the time"),
		at(0, "elsewhere", Fault{}, "answers politely, for another chain"),
		at(5, "throttled", sometimes(), "runs out of quota now and then: 429 with Retry-After"),
		at(12, "own", NodeFreeze(true), "stops following the chain, and still answers HTTP 200"),
		at(40, "own", NodeFreeze(false), "catches up"),
	)
}

func healthy() Scenario {
	return scenario("healthy", "four honest endpoints; nothing happens", quartet(), 0)
}

func stalePrimary() Scenario {
	return scenario("stale-primary", "the primary's head freezes while it keeps answering, then heals", quartet(), 70*time.Second,
		at(6, "own", NodeFreeze(true), "stops following the chain, and still answers HTTP 200"),
		at(30, "own", NodeFreeze(false), "catches up"),
	)
}

func wrongChain() Scenario {
	return scenario("wrong-chain", "a healthy primary turns to another chain, and comes back to the right one", quartet(), 0,
		at(8, "own", Fault{Kind: WrongChain}, "claims another chain id"),
		at(25, "own", Fault{}, "claims the right chain id again, and stays in quarantine"),
		at(35, "spare", Fault{Kind: OtherGenesis}, "has the right chain id, and another block 0"),
	)
}

func throttle() Scenario {
	return scenario("throttle", "one endpoint limits with 429 and Retry-After, one without, one inside HTTP 200", quartet(), 60*time.Second,
		at(5, "own", Fault{Kind: Throttle, RetryAfter: 3 * time.Second, Every: 2}, "answers every other request with 429 and Retry-After"),
		at(20, "backup", Fault{Kind: Throttle, Every: 3}, "answers every third request with 429, without a hint"),
		at(30, "spare", Fault{Kind: RateLimited, Every: 2}, "says rate limit exceeded inside HTTP 200"),
		at(45, "own", Fault{}, "has quota again"),
		at(45, "backup", Fault{}, "has quota again"),
		at(45, "spare", Fault{}, "has quota again"),
	)
}

func flap() Scenario {
	return scenario("flap", "the primary comes and goes faster than it is worth following", quartet(), 90*time.Second,
		at(5, "own", Fault{Kind: Flap, Between: []Fault{
			{Kind: Refuse, For: 5 * time.Second},
			{Kind: None, For: 9 * time.Second},
		}}, "goes down for 5 s out of every 14"),
		at(15, "backup", Fault{Kind: Flap, Period: 6 * time.Second, Between: []Fault{
			{Kind: Slow, Latency: 400 * time.Millisecond, Jitter: 200 * time.Millisecond},
			{Kind: None},
		}}, "is slow for 6 s out of every 12"),
		at(70, "own", Fault{}, "is steady again"),
		at(70, "backup", Fault{}, "is steady again"),
	)
}

func outage() Scenario {
	return scenario("outage", "the primary goes stale, a backup turns to another chain, then everything is down; at last it heals", quartet(), 0,
		at(6, "own", NodeFreeze(true), "stops following the chain, and still answers HTTP 200"),
		at(20, "backup", Fault{Kind: WrongChain}, "claims another chain id"),
		at(32, "own", Fault{Kind: Refuse}, "refuses connections"),
		at(34, "public", Fault{Kind: HTML}, "answers with a page instead of JSON"),
		at(36, "spare", Fault{Kind: Status, Code: 503, Body: "upstream unavailable"}, "answers 503: nobody is left"),
		at(50, "spare", Fault{}, "is back"),
		at(55, "own", NodeFreeze(false), "catches up, unseen"),
		at(56, "own", Fault{}, "is back"),
		at(60, "public", Fault{}, "is back"),
		at(62, "backup", Fault{}, "claims the right chain id again, and stays in quarantine"),
	)
}
