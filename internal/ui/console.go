package ui

import (
	"context"
	"io"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/rpctop/internal/fleet"
)

// screen is one level of the console; esc goes out one.
type screen uint8

const (
	screenOverview screen = iota
	screenEndpoint
	screenWhy
	screenHelp
	screenLog
)

const (
	tickFocused   = 100 * time.Millisecond
	tickUnfocused = time.Second
	toastFor      = 6 * time.Second
	keptEvents    = 1000 // in the line-up
	pulledEvents  = 200  // at one tick
)

// console is the root model, and the only one.
type console struct {
	o     Options
	ctx   context.Context // of the program: commands end with it
	theme theme
	keys  bindings

	width, height int
	blurred       bool
	tickGen       uint64 // ticks of an older generation are dropped
	time          time.Time
	snap          *fleet.Snapshot
	snapAt        time.Time // the tick at which snap came
	frozen        bool
	frozenAt      fleet.Millis // what the fleet's clock showed then
	feed          feed

	stack  []screen // never empty; the last is shown
	sel    fleet.EndpointID
	top    int // first line of the table that is drawn
	scroll int // of the text pane that is shown

	bell    bell
	picked  picked
	sorting bool     // `s` was pressed: a letter follows
	prompt  *prompt  // the line that is being typed; nil: none
	typed   []string // commands, the oldest first

	dialog *dialog
	order  []fleet.EndpointID // while a dialog is open
	gen    uint64             // of commands: answers to older ones are dropped

	toast      string
	toastInk   ink
	toastUntil time.Time

	out         io.Writer // the terminal, for the clipboard
	interrupted bool
	crash       *PanicError
}

// tickMsg is the only source of time.
type tickMsg struct {
	gen uint64
	at  time.Time
}

func newConsole(ctx context.Context, o Options) *console {
	c := &console{
		o: o, ctx: ctx, out: io.Discard, keys: newBindings(), stack: []screen{screenOverview},
		theme: newTheme(o.Theme, o.coloured(), o.ASCII), time: o.Start,
	}
	c.pull()
	c.restore(o.State)
	return c
}

// Init implements tea.Model.
func (c *console) Init() tea.Cmd { return c.tick() }

// tick asks for the next tick, in the pace of the focus.
func (c *console) tick() tea.Cmd {
	gen, pace := c.tickGen, tickFocused
	if c.blurred && c.dialog == nil {
		pace = tickUnfocused
	}
	return tea.Tick(pace, func(t time.Time) tea.Msg { return tickMsg{gen, t} })
}

// restartTick replaces the running tick by one of another pace.
func (c *console) restartTick() tea.Cmd {
	c.tickGen++
	return c.tick()
}

// Update implements tea.Model.
func (c *console) Update(msg tea.Msg) (model tea.Model, cmd tea.Cmd) {
	defer func() {
		if v := recover(); v != nil {
			c.crash = newPanicError(v)
			model, cmd = c, tea.Quit
		}
	}()
	defer c.reveal()
	switch m := msg.(type) {
	case tickMsg:
		if m.gen != c.tickGen {
			return c, nil
		}
		if c.crash != nil {
			return c, tea.Quit
		}
		c.onTick(m.at)
		if ring := c.ring(); ring != nil {
			return c, tea.Batch(c.tick(), ring)
		}
		return c, c.tick()
	case tea.WindowSizeMsg:
		c.width, c.height = max(m.Width, 0), max(m.Height, 0)
	case tea.FocusMsg:
		c.blurred = false
		return c, c.restartTick()
	case tea.BlurMsg:
		c.blurred = true
		return c, c.restartTick()
	case tea.KeyMsg:
		if c.blurred { // who types looks
			c.blurred = false
			return c, tea.Batch(c.restartTick(), c.onKey(m))
		}
		return c, c.onKey(m)
	case verdictMsg:
		c.onVerdict(m)
	case copiedMsg:
		c.onCopied(m)
	case crashMsg:
		c.crash = m.err
		return c, tea.Quit
	}
	return c, nil
}

func (c *console) onTick(at time.Time) {
	if c.time.IsZero() {
		c.snapAt = at
	}
	c.time = at
	if c.dialog != nil && c.dialog.opened.IsZero() {
		c.dialog.opened = at
	}
	if !c.frozen {
		c.pull()
	}
	if c.toast != "" && at.After(c.toastUntil) {
		c.toast = ""
	}
}

// pull takes the current picture and the new events. Both are reads of memory.
func (c *console) pull() {
	s := c.o.Source.Snapshot()
	if s != nil && s != c.snap {
		c.snap, c.snapAt = s, c.time
		c.keepSelection()
	}
	if s != nil {
		c.feed.pull(c.o.Source, s.EventSeq)
	}
}

// now is the time of the fleet: that of the snapshot, plus what has passed
// since it came. It goes on when the engine does not, and stands when frozen.
func (c *console) now() fleet.Millis {
	if c.snap == nil {
		return millisOf(c.time)
	}
	if c.frozen {
		return c.frozenAt
	}
	if c.time.IsZero() || c.snapAt.IsZero() {
		return c.snap.At
	}
	return c.snap.At + fleet.Millis(max(c.time.Sub(c.snapAt).Milliseconds(), 0))
}

// wall is the wall clock at the last tick, by which overrides expire.
func (c *console) wall() fleet.Millis {
	if c.time.IsZero() {
		return c.now()
	}
	return millisOf(c.time)
}

func (c *console) screen() screen { return c.stack[len(c.stack)-1] }

// push shows another level; the same level is not stacked twice.
func (c *console) push(s screen) {
	for i, open := range c.stack {
		if open == s {
			c.stack = c.stack[:i+1]
			c.scroll = 0
			return
		}
	}
	c.stack = append(c.stack, s)
	c.scroll = 0
}

// say shows a line for a while.
func (c *console) say(k ink, text string) {
	c.toast, c.toastInk, c.toastUntil = text, k, c.time.Add(toastFor)
}

// setTheme draws with other colours from now on.
func (c *console) setTheme(name string) {
	c.o.Theme = name
	c.theme = newTheme(name, c.o.coloured(), c.o.ASCII)
}
