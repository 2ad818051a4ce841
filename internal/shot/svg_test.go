package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/charmbracelet/x/vt"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// screenOf shows what a program has written.
func screenOf(t *testing.T, cols, rows int, output string) grid {
	t.Helper()
	e := vt.NewEmulator(cols, rows)
	if _, err := e.WriteString(output); err != nil {
		t.Fatal(err)
	}
	return capture(e)
}

const sample = "plain \x1b[1mbold\x1b[0m \x1b[2mfaint\x1b[0m \x1b[7mreverse\x1b[0m\r\n" +
	"\x1b[34m●\x1b[0m ok   \x1b[33m▲\x1b[0m lagging  \x1b[4mlink\x1b[0m\r\n" +
	"▁▂▃▄▅▆▇█ \x1b[38;2;1;2;3mtrue\x1b[0m \x1b[38;5;196mindexed\x1b[0m \x1b[44mpainted \x1b[0m\r\n" +
	"╭────╮ 世界 <&>\r\n"

func TestAKnownScreenGivesAKnownPicture(t *testing.T) {
	got := screenOf(t, 40, 5, sample).svg("A screen & its title")
	golden := filepath.Join("testdata", "screen.svg")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestThePictureIsWellFormed(t *testing.T) {
	d := xml.NewDecoder(bytes.NewReader(screenOf(t, 40, 5, sample).svg("<t>")))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestTextsStayTexts(t *testing.T) {
	g := screenOf(t, 40, 5, sample)
	want := "plain bold faint reverse\n● ok   ▲ lagging  link\n▁▂▃▄▅▆▇█ true indexed painted\n╭────╮ 世界 <&>\n\n"
	if got := g.text(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRunsAreCutWhereTheLookOrTheFontChanges(t *testing.T) {
	type piece struct {
		X, Cells int
		Text     string
	}
	for _, c := range []struct {
		name, output string
		want         []piece
	}{
		{"one look is one run", "a b  c", []piece{{0, 6, "a b  c"}}},
		{"blanks at the end are left out", "a   ", []piece{{0, 1, "a"}}},
		{"a blank row has none", "    ", nil},
		{"blanks go with the run before", "a \x1b[1mb\x1b[0m", []piece{{0, 2, "a "}, {2, 1, "b"}}},
		{"an underlined blank is drawn", "\x1b[4ma \x1b[0m", []piece{{0, 2, "a "}}},
		{"symbols stand alone", "●●a", []piece{{0, 1, "●"}, {1, 1, "●"}, {2, 1, "a"}}},
		{"blocks stay together", "▁▂a", []piece{{0, 2, "▁▂"}, {2, 1, "a"}}},
		{"a wide character takes two cells", "世a", []piece{{0, 2, "世"}, {2, 1, "a"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []piece
			for _, r := range runsOf(screenOf(t, 12, 1, c.output)[0]) {
				got = append(got, piece{r.x, r.cells, r.text})
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReverseSwapsTheTerminalsOwnColoursToo(t *testing.T) {
	g := screenOf(t, 4, 1, "\x1b[7ma\x1b[0m\x1b[7;34mb\x1b[0m")
	if got := g[0][0].look; got.fg != ownBG || got.bg != ownFG {
		t.Errorf("own colours: %+v", got)
	}
	if got := g[0][1].look; got.fg != ownBG || got.bg != sixteen[4] {
		t.Errorf("blue: %+v", got)
	}
}
