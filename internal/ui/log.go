package ui

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"example.com/rpctop/internal/fleet"
)

// LogLine is one note of the program about itself.
type LogLine struct {
	At    time.Time
	Level slog.Level
	Text  string // the message and its attributes, on one line
}

// LogRing is a slog handler that keeps the last notes for the log screen. It is
// safe for concurrent use.
type LogRing struct {
	kept  *keptLog
	group string // prefix of the attributes' names
	attrs string // those of the logger
}

type keptLog struct {
	mu    sync.Mutex
	lines []LogLine
	most  int
	level slog.Level
}

// NewLogRing keeps the last n notes of at least a level.
func NewLogRing(n int, level slog.Level) *LogRing {
	return &LogRing{kept: &keptLog{most: max(n, 1), level: level}}
}

// Lines gives the notes that are kept, the oldest first.
func (r *LogRing) Lines() []LogLine {
	r.kept.mu.Lock()
	defer r.kept.mu.Unlock()
	return append([]LogLine(nil), r.kept.lines...)
}

// Enabled implements slog.Handler.
func (r *LogRing) Enabled(_ context.Context, l slog.Level) bool { return l >= r.kept.level }

// Handle implements slog.Handler.
func (r *LogRing) Handle(_ context.Context, rec slog.Record) error {
	var b strings.Builder
	b.WriteString(rec.Message)
	b.WriteString(r.attrs)
	rec.Attrs(func(a slog.Attr) bool {
		writeAttr(&b, r.group, a)
		return true
	})
	k := r.kept
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.lines) >= k.most {
		k.lines = append(k.lines[:0:0], k.lines[len(k.lines)-k.most+1:]...)
	}
	k.lines = append(k.lines, LogLine{rec.Time, rec.Level, fleet.Sanitize(b.String())})
	return nil
}

// WithAttrs implements slog.Handler.
func (r *LogRing) WithAttrs(attrs []slog.Attr) slog.Handler {
	var b strings.Builder
	b.WriteString(r.attrs)
	for _, a := range attrs {
		writeAttr(&b, r.group, a)
	}
	return &LogRing{r.kept, r.group, b.String()}
}

// WithGroup implements slog.Handler.
func (r *LogRing) WithGroup(name string) slog.Handler {
	if name == "" {
		return r
	}
	return &LogRing{r.kept, r.group + name + ".", r.attrs}
}

func writeAttr(b *strings.Builder, group string, a slog.Attr) {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		if a.Key != "" {
			group += a.Key + "."
		}
		for _, in := range v.Group() {
			writeAttr(b, group, in)
		}
		return
	}
	b.WriteString(" " + group + a.Key + "=" + v.String())
}

// logPane draws the last notes, newest first.
func (c *console) logPane(w int) []string {
	p := &pane{t: &c.theme, w: w}
	p.heading("log of this process, newest first")
	if c.o.Log == nil {
		p.text("no log is kept", faint, 2)
		return p.lines
	}
	lines := c.o.Log()
	if len(lines) == 0 {
		p.text("nothing has been noted yet", faint, 2)
	}
	for i := len(lines) - 1; i >= 0; i-- {
		l := lines[i]
		k := plain
		switch {
		case l.Level >= slog.LevelError:
			k = bad
		case l.Level >= slog.LevelWarn:
			k = warn
		case l.Level < slog.LevelInfo:
			k = faint
		}
		for j, s := range wrap(clean(l.Text), max(w-19, 12)) {
			lead := blanks(17)
			if j == 0 {
				lead = p.t.paint(faint, "  "+l.At.UTC().Format("15:04:05")+" ") + p.t.paint(k, fit(strings.ToLower(l.Level.String()), 6))
			}
			p.lines = append(p.lines, lead+" "+s)
		}
	}
	return p.lines
}
