package report

import "example.com/rpctop/internal/fleet"

// StatusWatch is one allowance that is looked after. Values are decimal strings
// in the token's smallest unit; what was not read is "", and the non-answer
// says why.
type StatusWatch struct {
	Name     string              `json:"name"`
	Token    string              `json:"token"`
	Owner    string              `json:"owner"`
	Spender  string              `json:"spender"`
	Required string              `json:"required"` // "": not given
	Verdict  string              `json:"verdict"`  // "": none yet
	Since    string              `json:"since"`
	Text     string              `json:"text"`
	Block    *StatusBlock        `json:"block"` // at which values were compared; null: none yet
	Odd      []string            `json:"odd"`
	Answers  []StatusWatchAnswer `json:"answers"`
}

// StatusBlock is a block.
type StatusBlock struct {
	Number uint64     `json:"number"`
	Hash   fleet.Hash `json:"hash"`
}

// StatusWatchAnswer is what one endpoint says of a watch.
type StatusWatchAnswer struct {
	Endpoint        string  `json:"endpoint"`
	Value           string  `json:"value"`
	NonAnswer       string  `json:"non_answer"`
	Latest          string  `json:"latest"`
	LatestNonAnswer string  `json:"latest_non_answer"`
	LatestHead      *uint64 `json:"latest_head"` // null: not read
}

func watchesOf(in []fleet.WatchView) []StatusWatch {
	out := make([]StatusWatch, 0, len(in))
	for _, w := range in {
		s := StatusWatch{Name: w.Name, Token: w.Token, Owner: w.Owner, Spender: w.Spender, Required: w.Required, Verdict: w.Verdict,
			Since: stamp(w.Since), Text: w.Text, Odd: orEmpty(w.Odd), Answers: make([]StatusWatchAnswer, 0, len(w.Answers))}
		if !w.Hash.IsZero() {
			s.Block = &StatusBlock{w.Number, w.Hash}
		}
		for _, a := range w.Answers {
			x := StatusWatchAnswer{Endpoint: a.Endpoint, Value: a.Value, NonAnswer: a.NonAnswer, Latest: a.Latest, LatestNonAnswer: a.LatestNon}
			if !a.LatestHash.IsZero() {
				n := a.LatestHead
				x.LatestHead = &n
			}
			s.Answers = append(s.Answers, x)
		}
		out = append(out, s)
	}
	return out
}
