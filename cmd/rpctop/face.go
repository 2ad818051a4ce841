package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/rpctop/internal/ui"
)

// faceFile holds how the console was left: sort, filter, theme, pane.
const faceFile = "console.json"

// face reads how the console was left. A file that cannot be read is told of,
// and the console opens as usual.
func face(dir string) (s ui.State, notices []string) {
	b, err := os.ReadFile(filepath.Join(dir, faceFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		s, err = ui.ParseState(b)
	}
	if err != nil {
		return ui.State{}, []string{faceFile + " is ignored: " + err.Error()}
	}
	return s, nil
}

// keepFace writes how the console was left. That it cannot be written is noted
// and no reason to end otherwise.
func (a *app) keepFace(dir string) func(ui.State) error {
	return func(s ui.State) error {
		path := filepath.Join(dir, faceFile)
		err := os.WriteFile(path+".new", s.JSON(), 0o600)
		if err == nil {
			err = os.Rename(path+".new", path)
		}
		if err != nil {
			a.log.Warn("keep the console's state", "err", err)
		}
		return nil
	}
}

// notes gives the last lines of the log, without secrets.
func (a *app) notes() []ui.LogLine {
	lines := a.ring.Lines()
	for i := range lines {
		lines[i].Text = a.redact(lines[i].Text)
	}
	return lines
}
