package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"example.com/rpctop/internal/config"
	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/ui"
	"example.com/rpctop/internal/upstream"
)

// app is what the verbs share: the streams, the global flags, and nothing that
// outlives the process.
type app struct {
	stdin          *os.File
	stdout, stderr *os.File
	flags          flags
	door           atomic.Pointer[upstream.Door] // knows what is secret; nil: nothing is yet
	log            *slog.Logger
	ring           *ui.LogRing // its last lines, for the console
	closeLog       func() error
}

type flags struct {
	config, data, color, log, logLevel string
	theme                              string
	readOnly, ascii, bell              bool
}

func newApp(stdin, stdout, stderr *os.File) *app {
	ring := ui.NewLogRing(500, slog.LevelInfo)
	return &app{stdin: stdin, stdout: stdout, stderr: stderr, log: slog.New(ring), ring: ring, closeLog: func() error { return nil }}
}

const long = `rpctop watches the JSON-RPC endpoints of a chain, decides which of them should
serve, and says why. Without a verb it opens the console.

Exit codes: 0 good; 1 usage or internal; 2 config; 3 degraded; 4 a chain has no
eligible endpoint; 5 refused by a safety rule; 70 panic; 75 try later;
130 interrupted.`

// root is the command line.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "rpctop [URL... | -]",
		Short:         "See, decide and repair who serves your JSON-RPC requests",
		Long:          long,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          a.urlArgs,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return a.prepare()
		},
		PersistentPostRunE: func(*cobra.Command, []string) error { return a.closeLog() },
		RunE:               a.runConsole,
		Version:            version,
		// Without it cobra suggests nothing to those who ask by SuggestionsFor.
		SuggestionsMinimumDistance: 2,
	}
	f := root.PersistentFlags()
	f.StringVar(&a.flags.config, "config", "", "configuration `file` (else $RPCTOP_CONFIG, else $XDG_CONFIG_HOME/rpctop/config.yaml)")
	f.StringVar(&a.flags.data, "data", "", "data `folder` (else $XDG_STATE_HOME/rpctop)")
	f.BoolVar(&a.flags.readOnly, "read-only", false, "take the operator's verbs away")
	f.BoolVar(&a.flags.ascii, "ascii", false, "draw with ASCII only")
	f.StringVar(&a.flags.theme, "theme", "", "colours of the console: dark, light or mono (else as it was left, else dark)")
	f.BoolVar(&a.flags.bell, "bell", false, "ring the terminal for a new alarm, at most once in 10 s")
	f.StringVar(&a.flags.color, "color", "auto", "colour: auto, always or never")
	f.StringVar(&a.flags.log, "log", "", "write a log to this `file`")
	f.StringVar(&a.flags.logLevel, "log-level", "info", "level of the log: debug, info, warn or error")
	root.AddCommand(a.demoCommand(), a.checkCommand(), a.serveCommand(), a.watchCommand(), a.statusCommand(),
		a.classifyCommand(), a.pinCommand(), a.ejectCommand(), a.clearCommand(), a.configCommand(), a.pathsCommand(), a.versionCommand())
	return root
}

// urlArgs tells a mistyped verb from a URL.
func (a *app) urlArgs(cmd *cobra.Command, args []string) error {
	for _, arg := range args {
		if arg != "-" && !strings.Contains(arg, "://") {
			hint := ""
			if near := cmd.SuggestionsFor(arg); len(near) > 0 {
				hint = "; did you mean `rpctop " + near[0] + "`?"
			}
			// A URL without its scheme may have a key in its path.
			shown, _, _ := strings.Cut(fleet.SanitizeMax(arg, 64), "/")
			return fmt.Errorf("%q is no verb and no URL%s (see `rpctop help`)", shown, hint)
		}
	}
	return nil
}

// prepare checks the global flags and opens the log.
func (a *app) prepare() error {
	switch a.flags.color {
	case "auto", "always", "never":
	default:
		return exit(exitUsage, "--color %q is not auto, always or never", a.flags.color)
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.flags.logLevel)); err != nil {
		return exit(exitUsage, "--log-level %q is not debug, info, warn or error", a.flags.logLevel)
	}
	if a.flags.theme != "" && !ui.KnownTheme(a.flags.theme) {
		return exit(exitUsage, "--theme %q is not dark, light or mono", a.flags.theme)
	}
	if a.flags.log == "" {
		return nil
	}
	f, err := os.OpenFile(a.flags.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return exit(exitUsage, "open the log: %w", err)
	}
	a.closeLog = f.Close
	a.log = slog.New(slog.NewMultiHandler(a.ring, slog.NewTextHandler(redacting{f, a}, &slog.HandlerOptions{Level: level})))
	return nil
}

// redacting is the last line of defence of the log: nothing that is known to
// be a secret passes, whoever wrote it.
type redacting struct {
	w io.Writer
	a *app
}

func (r redacting) Write(b []byte) (int, error) {
	if _, err := io.WriteString(r.w, r.a.redact(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// redact hides what the door knows to be secret.
func (a *app) redact(s string) string {
	if d := a.door.Load(); d != nil {
		return d.Redact(s)
	}
	return s
}

// configPath gives the file that --config, the environment or the default
// names, and whether it was named.
func (a *app) configPath() (path string, named bool) {
	switch {
	case a.flags.config != "":
		return a.flags.config, true
	case os.Getenv("RPCTOP_CONFIG") != "":
		return os.Getenv("RPCTOP_CONFIG"), true
	}
	return filepath.Join(xdg("XDG_CONFIG_HOME", ".config"), "rpctop", "config.yaml"), false
}

// dataDir gives the data folder.
func (a *app) dataDir() string {
	if a.flags.data != "" {
		return a.flags.data
	}
	return filepath.Join(xdg("XDG_STATE_HOME", ".local/state"), "rpctop")
}

func xdg(name, under string) string {
	if dir := os.Getenv(name); filepath.IsAbs(dir) {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "."
	}
	return filepath.Join(home, under)
}

// loadConfig reads the configuration; its errors end with exit 2.
func (a *app) loadConfig() (*config.Config, error) {
	path, named := a.configPath()
	cfg, err := config.Load(path, os.LookupEnv)
	switch {
	case err == nil:
		for _, w := range cfg.Warnings {
			fmt.Fprintln(a.stderr, "rpctop: "+w.String())
		}
		return cfg, nil
	case errors.Is(err, fs.ErrNotExist) && !named:
		return nil, exit(exitConfig, "there is no configuration at %s: write one with `rpctop config init`, give URLs (`rpctop https://…`), or try `rpctop demo`", path)
	}
	return nil, &exitError{exitConfig, err}
}

// author is the name that operator's acts are recorded under.
func author() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}
