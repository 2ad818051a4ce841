package ui

import (
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/rpctop/internal/fleet"
)

// FuzzConsole plays keys, sizes, ticks and hostile snapshots to a console. It
// never panics, and each frame fits.
func FuzzConsole(f *testing.F) {
	f.Add([]byte("jjjwj?\x80\x81\x82e"), "東京-主", false)
	f.Add([]byte("\x90\x91eee\x80\x80\x80\x80\x80\x80\x80\x80\x95\x96"), "\x1b]52;c;ZWNobyBoaQ==\x07\x1b[2J\u202e", true)
	f.Add([]byte("2pj\x80\x80\x80\x80\x80\x80\x80\xa5"), "🇩🇪👨‍👩‍👧é́́́́", true)
	f.Add([]byte("\x84\x85\x86\x87Gk\x88wG"), "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn1", false)
	f.Add([]byte("/lag>2 chain:\x02\x02\x80\x92jjsls:pin gnosis official\x00\x80\x80\x80\x80\x80\x80\x80\x00"), "東京-主", true)
	f.Add([]byte(":\x02\x02\x02e\x02\x02\x02\xb0\x00/\xb0\x01ss:theme light\x00?:sort lag\x00:clear base\x00"), "a b\"'", true)
	f.Fuzz(func(t *testing.T, ops []byte, name string, colour bool) {
		if len(ops) > 200 {
			ops = ops[:200]
		}
		src := newFake()
		hostile(src.snap, name)
		src.events[0].Reason, src.events[1].Endpoint = name, name
		d := drive(t, src, 80, 24, func(o *Options) {
			if colour {
				o.Colour = ColourAlways
			}
			o.Title, o.Notices = name, []string{name}
		})
		for _, op := range ops {
			d.play(op, name)
			d.wantWhole()
		}
	})
}

var fuzzSizes = [...][2]int{{80, 24}, {200, 50}, {40, 10}, {39, 9}, {3, 1}, {0, 0}, {1, 1}, {20, 40}, {120, 3}, {300, 8}, {8, 2}, {41, 11}}

// play does what one byte stands for.
func (d *driver) play(op byte, name string) {
	special := [...]string{"enter", "esc", "tab", "shift+tab", "left", "right", "ctrl+d", "ctrl+u", "pgdown", "pgup", "up", "down", " "}
	switch {
	case op < 0x20:
		d.keys(special[int(op)%len(special)])
	case op < 0x80:
		if cmd := d.keys(string(rune(op))); cmd != nil && d.c.dialog != nil && d.c.dialog.waiting {
			d.send(cmd())
		}
	case op < 0x90:
		d.at = d.at.Add(time.Duration(op-0x7f) * 70 * time.Millisecond)
		d.send(tickMsg{d.c.tickGen, d.at})
	case op < 0xa0:
		s := fuzzSizes[int(op)%len(fuzzSizes)]
		d.send(tea.WindowSizeMsg{Width: s[0], Height: s[1]})
	case op < 0xb0:
		s := fixtureSnapshot()
		hostile(s, name)
		switch op % 8 {
		case 0:
			s.Chains = nil
		case 1:
			s.Chains[0].Endpoints, s.Chains[0].Ranking = nil, nil
		case 2:
			s.Chains = s.Chains[1:]
		case 3:
			s = manyChains(7, 60)
		case 4:
			s.Leader, s.Following = nil, true
			s.Recording.History, s.Recording.Dropped = name, 7
			s.Notices = []string{name, name, name}
		case 5:
			s = nil
		case 6:
			s.Chains[1].Incumbent, s.Chains[1].Reference = "", nil
			s.Chains[1].Endpoints = s.Chains[1].Endpoints[:1]
		}
		d.src.show(s)
	case op < 0xc0:
		d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name), Paste: op%2 == 0})
	default:
		if op%2 == 0 {
			d.send(tea.BlurMsg{})
		} else {
			d.send(tea.FocusMsg{})
		}
	}
}

// hostile puts a text wherever a text from outside can stand.
func hostile(s *fleet.Snapshot, text string) {
	for i := range s.Chains {
		ch := &s.Chains[i]
		ch.Alarms = append(ch.Alarms, text)
		if i == 0 {
			ch.Name = text
			ch.Overrides = append(ch.Overrides, fleet.Override{Action: fleet.ActionPin, Endpoint: text, Author: text, Reason: text})
			ch.Pin = &ch.Overrides[0]
		}
		for j := range ch.Endpoints {
			e := &ch.Endpoints[j]
			e.Client, e.Evidence, e.Flags, e.Operator, e.Syncing = text, text, []string{text}, text, text
			if j == 1 {
				e.Name = text
				ch.Incumbent = text
			}
			if e.Gate != nil {
				e.Gate = &fleet.Gate{Name: e.Gate.Name, Evidence: text, Ends: text}
			}
			e.LastFailures = append(e.LastFailures, fleet.PastFailure{At: fixtureAt - 5, Outcome: fleet.Outcome{Message: text}})
		}
		for j := range ch.Ranking {
			ch.Ranking[j].Why, ch.Ranking[j].Needs = text, text
		}
	}
}
