package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"example.com/rpctop/internal/report"
)

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return printJSON(a.stdout, map[string]any{"version": report.FormatVersion, "program": version, "go": runtime.Version(),
					"os": runtime.GOOS, "arch": runtime.GOARCH})
			}
			_, err := fmt.Fprintf(a.stdout, "rpctop %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) pathsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "paths",
		Short: "Print where things are",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path, _ := a.configPath()
			dir := a.dataDir()
			lines := [][2]string{
				{"config", path}, {"data", dir}, {"history", filepath.Join(dir, "history.db")}, {"journal", filepath.Join(dir, "journal.db")},
				{"https_proxy", proxyHost("HTTPS_PROXY", "https_proxy")}, {"no_proxy", firstEnv("NO_PROXY", "no_proxy")},
			}
			if asJSON {
				out := map[string]any{"version": report.FormatVersion}
				for _, l := range lines {
					out[l[0]] = l[1]
				}
				return printJSON(a.stdout, out)
			}
			for _, l := range lines {
				if _, err := fmt.Fprintf(a.stdout, "%-12s %s\n", l[0], orDash(l[1])); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// proxyHost shows where requests go through, without any password.
func proxyHost(names ...string) string {
	v := firstEnv(names...)
	if v == "" {
		return ""
	}
	u, err := url.Parse(v)
	if err != nil || u.Host == "" {
		return "set, and no URL"
	}
	return u.Scheme + "://" + u.Host
}

func firstEnv(names ...string) string {
	for _, n := range names {
		if v := os.Getenv(n); v != "" {
			return v
		}
	}
	return ""
}
