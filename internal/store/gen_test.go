package store

import (
	"encoding/json"
	"math"

	"pgregory.net/rapid"

	"example.com/rpctop/internal/fleet"
)

// Generators of every input, with what is awkward to store: the whole range of
// numbers, empty and hostile texts, absent values, blocks that one hash names
// with different contents.

func anyText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.Just(""), rapid.SampledFrom([]string{"a", "timeout", "'; DROP TABLE rows; --", "\u2028<&>", "é"}), rapid.String())
}

// anyBytes is for columns, which keep even what is no UTF-8; JSON does not,
// and texts from outside are made valid at the door.
func anyBytes() *rapid.Generator[string] {
	return rapid.OneOf(anyText(), rapid.SampledFrom([]string{"a\x00b", "\xff\xfe", "\x00"}))
}

func anyMillis() *rapid.Generator[fleet.Millis] {
	return rapid.Map(rapid.OneOf(rapid.Int64Range(0, 4e12), rapid.Int64()), func(v int64) fleet.Millis { return fleet.Millis(v) })
}

func anyMicros() *rapid.Generator[fleet.Micros] {
	return rapid.Map(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64()), func(v int64) fleet.Micros { return fleet.Micros(v) })
}

func anyHeight() *rapid.Generator[uint64] {
	return rapid.OneOf(rapid.Uint64Range(0, 3), rapid.Uint64(), rapid.SampledFrom([]uint64{math.MaxUint64, math.MaxInt64, math.MaxInt64 + 1}))
}

func anyHash() *rapid.Generator[fleet.Hash] {
	return rapid.OneOf(
		rapid.SampledFrom([]fleet.Hash{{}, {1}, {31: 1}, {0xff, 0xff}}),
		rapid.Custom(func(t *rapid.T) (h fleet.Hash) {
			copy(h[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "hash"))
			return h
		}))
}

func anyEndpoint() *rapid.Generator[fleet.EndpointID] {
	return rapid.Custom(func(t *rapid.T) fleet.EndpointID {
		return fleet.EndpointID{
			Chain: rapid.SampledFrom([]string{"gnosis", "base", ""}).Draw(t, "chain"),
			Name:  rapid.OneOf(rapid.SampledFrom([]string{"a", "b"}), anyText()).Draw(t, "name"),
		}
	})
}

func anyCode() *rapid.Generator[*int64] {
	return rapid.OneOf(rapid.Just[*int64](nil), rapid.Map(rapid.Int64(), func(v int64) *int64 { return &v }))
}

// maxClass bounds classes that stand in JSON: there they are words.
func anyOutcome(text *rapid.Generator[string], maxClass, maxOrigin uint8) *rapid.Generator[fleet.Outcome] {
	return rapid.Custom(func(t *rapid.T) fleet.Outcome {
		return fleet.Outcome{
			Class:   fleet.Class(rapid.Uint8Range(0, maxClass).Draw(t, "class")),
			Sub:     text.Draw(t, "sub"),
			Origin:  fleet.Origin(rapid.Uint8Range(0, maxOrigin).Draw(t, "origin")),
			Status:  rapid.Int().Draw(t, "status"),
			Code:    anyCode().Draw(t, "code"),
			Message: text.Draw(t, "message"),
		}
	})
}

func wordOutcome() *rapid.Generator[fleet.Outcome] {
	return anyOutcome(anyText(), uint8(fleet.ClassNoEndpoint), uint8(fleet.OriginChain))
}

func anySample() *rapid.Generator[fleet.Sample] {
	return rapid.Custom(func(t *rapid.T) fleet.Sample {
		s := fleet.Sample{
			Endpoint: anyEndpoint().Draw(t, "endpoint"),
			Start:    anyMillis().Draw(t, "start"),
			Outcome:  anyOutcome(anyBytes(), 255, 255).Draw(t, "outcome"),
			Timing: fleet.Timing{
				Connect: anyMicros().Draw(t, "connect"), TLS: anyMicros().Draw(t, "tls"),
				FirstByte: anyMicros().Draw(t, "first"), Total: anyMicros().Draw(t, "total"), Cold: rapid.Bool().Draw(t, "cold"),
			},
			ChainID:      anyBytes().Draw(t, "chain id"),
			ChainIDClass: fleet.Class(rapid.Uint8().Draw(t, "chain id class")),
			Hold:         anyMillis().Draw(t, "hold"),
			Suspicion:    rapid.Bool().Draw(t, "suspicion"),
			Traffic:      rapid.Bool().Draw(t, "traffic"),
		}
		if rapid.Bool().Draw(t, "has head") {
			s.Head = &fleet.Head{
				Number: anyHeight().Draw(t, "number"), Hash: anyHash().Draw(t, "hash"),
				Parent: anyHash().Draw(t, "parent"), Time: anyHeight().Draw(t, "time"),
			}
		}
		return s
	})
}

func anyTraffic() *rapid.Generator[fleet.Traffic] {
	return rapid.Custom(func(t *rapid.T) fleet.Traffic {
		return fleet.Traffic{
			Endpoint: anyEndpoint().Draw(t, "endpoint"),
			Failovers: rapid.SliceOf(rapid.Custom(func(t *rapid.T) fleet.FailoverCount {
				return fleet.FailoverCount{To: anyText().Draw(t, "to"), Class: fleet.Class(rapid.Uint8().Draw(t, "class")), Sub: anyBytes().Draw(t, "sub"), N: rapid.Int64().Draw(t, "n")}
			})).Draw(t, "failovers"),
			Kind: fleet.Kind(rapid.Uint8().Draw(t, "kind")),
			Counts: rapid.SliceOf(rapid.Custom(func(t *rapid.T) fleet.ClassCount {
				return fleet.ClassCount{Class: fleet.Class(rapid.Uint8().Draw(t, "class")), Sub: anyBytes().Draw(t, "sub"), N: rapid.Int64().Draw(t, "n")}
			})).Draw(t, "counts"),
			Latency: rapid.SliceOf(rapid.Custom(func(t *rapid.T) fleet.BucketCount {
				return fleet.BucketCount{Bucket: rapid.Int().Draw(t, "bucket"), N: rapid.Int64().Draw(t, "n")}
			})).Draw(t, "latency"),
			Lost:    anyMicros().Draw(t, "lost"),
			Denials: rapid.Int64().Draw(t, "denials"),
		}
	})
}

func anyOverride() *rapid.Generator[fleet.Override] {
	return rapid.Custom(func(t *rapid.T) fleet.Override {
		return fleet.Override{
			Action: rapid.SampledFrom([]fleet.Action{fleet.ActionPin, fleet.ActionEject}).Draw(t, "action"),
			Chain:  anyText().Draw(t, "chain"), Endpoint: anyText().Draw(t, "endpoint"),
			Author: anyText().Draw(t, "author"), Reason: anyText().Draw(t, "reason"),
			Since: anyMillis().Draw(t, "since"), Until: anyMillis().Draw(t, "until"), Strict: rapid.Bool().Draw(t, "strict"),
		}
	})
}

func anyConfig() *rapid.Generator[fleet.Config] {
	finite := rapid.Float64().Filter(func(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) })
	return rapid.Custom(func(t *rapid.T) fleet.Config {
		p := fleet.DefaultPolicy()
		p.StickyRatio, p.BreakerRatio = finite.Draw(t, "ratio"), finite.Draw(t, "share")
		p.StickyGap = anyMicros().Draw(t, "gap")
		return fleet.Config{
			Policy: p,
			Seed:   rapid.Uint64().Draw(t, "seed"),
			Chains: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) fleet.ChainSpec {
				return fleet.ChainSpec{
					Name: anyText().Draw(t, "name"), ChainID: anyHeight().Draw(t, "id"),
					BlockTime: anyMillis().Draw(t, "block time"), Genesis: anyHash().Draw(t, "genesis"),
					Endpoints: []fleet.EndpointSpec{{Name: anyText().Draw(t, "endpoint"), PerDay: rapid.Int64().Draw(t, "per day"), Fingerprint: "f"}},
				}
			}), 0, 3).Draw(t, "chains"),
			Overrides: rapid.SliceOfN(anyOverride(), 0, 3).Draw(t, "overrides"),
		}
	})
}

func anyCommand() *rapid.Generator[fleet.Command] {
	return rapid.Custom(func(t *rapid.T) fleet.Command {
		c := fleet.Command{
			ID: anyText().Draw(t, "id"), Author: anyText().Draw(t, "author"), Action: fleet.ActionPin,
			Chain: anyText().Draw(t, "chain"), Reason: anyText().Draw(t, "reason"), Until: anyMillis().Draw(t, "until"),
			Yes: rapid.Bool().Draw(t, "yes"),
		}
		if rapid.Bool().Draw(t, "bound") {
			c.Expect = &fleet.Expect{Serving: true, State: anyText().Draw(t, "state"), Overrides: rapid.Int().Draw(t, "overrides")}
		}
		return c
	})
}

func anyInput() *rapid.Generator[fleet.Input] {
	return rapid.Custom(func(t *rapid.T) fleet.Input {
		switch rapid.IntRange(0, 10).Draw(t, "kind") {
		case 0:
			return fleet.Lead{Version: anyText().Draw(t, "version"), Fold: rapid.Int().Draw(t, "fold"),
				Config: anyText().Draw(t, "config"), PID: rapid.Int().Draw(t, "pid"), Wall: anyMillis().Draw(t, "wall")}
		case 1:
			return anyConfig().Draw(t, "config")
		case 2:
			return fleet.Clock{Jump: anyMillis().Draw(t, "jump")}
		case 3:
			return fleet.Tick{}
		case 4:
			return fleet.Reading{Endpoint: anyEndpoint().Draw(t, "endpoint"), What: fleet.ReadSafe, Outcome: wordOutcome().Draw(t, "outcome"),
				Value: anyText().Draw(t, "value"), Number: anyHeight().Draw(t, "number"), Hash: anyHash().Draw(t, "hash"), Total: anyMicros().Draw(t, "total")}
		case 5:
			return fleet.Failure{Endpoint: anyEndpoint().Draw(t, "endpoint"), Kind: fleet.Kind(rapid.IntRange(0, fleet.Kinds-1).Draw(t, "kind")),
				Method: anyText().Draw(t, "method"), Outcome: wordOutcome().Draw(t, "outcome"), Total: anyMicros().Draw(t, "total"), Run: rapid.Int().Draw(t, "run")}
		case 6:
			return anyTraffic().Draw(t, "traffic")
		case 7:
			return anyCommand().Draw(t, "command")
		case 8:
			return fleet.Recovery{ID: anyText().Draw(t, "id"), State: anyText().Draw(t, "state"), Reason: anyText().Draw(t, "reason")}
		case 9:
			return fleet.Gap{From: anyHeight().Draw(t, "from"), To: anyHeight().Draw(t, "to"), Cause: anyText().Draw(t, "cause")}
		default:
			return anySample().Draw(t, "sample")
		}
	})
}

func anyEvent() *rapid.Generator[fleet.Event] {
	return rapid.Custom(func(t *rapid.T) fleet.Event {
		return fleet.Event{
			Row: rapid.Uint64().Draw(t, "row"), At: anyMillis().Draw(t, "at"), Kind: fleet.EventSwitch,
			Chain: anyBytes().Draw(t, "chain"), Endpoint: anyBytes().Draw(t, "endpoint"), From: anyBytes().Draw(t, "from"), To: anyBytes().Draw(t, "to"),
			Class: fleet.Class(rapid.Uint8().Draw(t, "class")), Sub: anyBytes().Draw(t, "sub"), Reason: anyBytes().Draw(t, "reason"),
			Data: rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage(`{"n":1}`), json.RawMessage(`null`)}).Draw(t, "data"),
		}
	})
}
