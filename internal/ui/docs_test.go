package ui

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// docs/keys.md is written by `go test ./internal/ui -run Docs -update`.
func TestDocsOfTheKeysAreThoseOfTheKeymap(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "keys.md")
	want := KeysMarkdown() + "\n## Contrast\n\nMeasured by a test on the sixteen colours of xterm, as WCAG 2 does; text needs 4.5:1. Faint text is taken as\n" +
		"VTE draws it. What lies apart by 10 or more (CIE Lab) is told apart at a glance; a state also has its glyph and\nits word.\n\n" + colourFigures(t)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/keys.md is stale (-want +got); write it by `go test ./internal/ui -run Docs -update`:\n%s", diff)
	}
}
