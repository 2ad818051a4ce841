package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/rpctop/internal/ui"
)

func TestTheConsolesStateIsKeptForItsUserOnly(t *testing.T) {
	dir := t.TempDir()
	if s, notices := face(dir); s != (ui.State{}) || notices != nil {
		t.Errorf("without a file: %+v, %q", s, notices)
	}
	a := newApp(nil, nil, nil)
	want := ui.State{Version: 1, Sort: "lag", Filter: "state:down", Theme: "light", Pane: "why"}
	if err := a.keepFace(dir)(want); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, faceFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v: %v", info.Mode(), err)
	}
	if got, notices := face(dir); got != want || notices != nil {
		t.Errorf("read back as %+v, %q", got, notices)
	}
	if err := os.WriteFile(filepath.Join(dir, faceFile), []byte("{\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, notices := face(dir); s != (ui.State{}) || len(notices) != 1 || !strings.Contains(notices[0], "is ignored") {
		t.Errorf("a broken file: %+v, %q", s, notices)
	}
	if err := a.keepFace(filepath.Join(dir, "none"))(want); err != nil {
		t.Errorf("a folder that is not there ends the console: %v", err)
	}
	if n := a.notes(); len(n) != 1 || !strings.Contains(n[0].Text, "keep the console's state") {
		t.Errorf("notes %+v", n)
	}
}
