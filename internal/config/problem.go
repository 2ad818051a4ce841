package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Position is a place in a file, both numbers from 1; columns count
// characters. Line 0: the whole of what File names.
type Position struct {
	File         string
	Line, Column int
}

// String gives file:line:column.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Problem is one thing that is wrong.
type Problem struct {
	Position
	Message string
	Hint    string // what would be right; may be empty
	Quote   string // the source line, with everything hidden that may be a secret
	Caret   int    // column in Quote, from 1
}

// String gives the message, the source line with a caret, and the hint.
func (p Problem) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", p.Position, p.Message)
	margin := "    "
	if p.Line > 0 {
		number := fmt.Sprintf("%4d", p.Line)
		margin = strings.Repeat(" ", len(number))
		fmt.Fprintf(&b, "\n%s | %s\n%s | %s^", number, p.Quote, margin, strings.Repeat(" ", p.Caret-1))
	}
	if p.Hint != "" {
		fmt.Fprintf(&b, "\n%s = %s", margin, p.Hint)
	}
	return b.String()
}

// Errors is all that is wrong with a configuration, sorted by position.
type Errors struct{ List []Problem }

// Error gives all problems, an empty line between two.
func (e *Errors) Error() string {
	parts := make([]string, len(e.List))
	for i, p := range e.List {
		parts[i] = p.String()
	}
	return strings.Join(parts, "\n\n")
}

// Warning is something that works and is probably not meant.
type Warning struct {
	Position
	Message string
	Hint    string
}

// String gives the warning in one line.
func (w Warning) String() string {
	s := fmt.Sprintf("%s: warning: %s", w.Position, w.Message)
	if w.Hint != "" {
		s += "; " + w.Hint
	}
	return s
}

func byPosition(a, b Position) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// failf records a problem. An alias leads to one node from two places, so the
// same problem may come twice; it is told once.
func (p *reader) failf(at pos, hint, format string, args ...any) {
	at = p.clamp(at)
	pr := Problem{Position: Position{p.file, at.line, at.col}, Message: fmt.Sprintf(format, args...), Hint: hint}
	if key := (telling{at, pr.Message}); !p.told[key] {
		p.told[key] = true
		p.problems = append(p.problems, pr)
	}
}

// telling identifies a problem.
type telling struct {
	at      pos
	message string
}

// warnf records a warning.
func (p *reader) warnf(at pos, hint, format string, args ...any) {
	at = p.clamp(at)
	p.warnings = append(p.warnings, Warning{Position{p.file, at.line, at.col}, fmt.Sprintf(format, args...), hint})
}

// clamp keeps a position inside the file: the scanner's own ones may point
// behind its end.
func (p *reader) clamp(at pos) pos {
	at.line = min(max(at.line, 1), len(p.lines))
	at.col = min(max(at.col, 1), len([]rune(p.lines[at.line-1]))+1)
	return at
}

// maxProblems is how many are told: nobody reads on, and a file of another kind
// has thousands.
const maxProblems = 300

// errors gives what was recorded, or nil. The lines are quoted only now, when
// it is known of every scalar whether it may be shown.
func (p *reader) errors() error {
	if len(p.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(p.problems, func(a, b Problem) int { return byPosition(a.Position, b.Position) })
	if more := len(p.problems) - maxProblems; more > 0 {
		p.problems = p.problems[:maxProblems]
		p.problems[maxProblems-1].Hint = fmt.Sprintf("and %d more behind it", more)
	}
	words := vocabulary()
	for i := range p.problems {
		pr := &p.problems[i]
		pr.Quote, pr.Caret = p.quote(words, pos{pr.Line, pr.Column})
	}
	return &Errors{p.problems}
}
