package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.stdout, "rpctop %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

func (a *app) pathsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "paths",
		Short: "Print where things are",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path, _ := a.configPath()
			dir := a.dataDir()
			for _, l := range [][2]string{
				{"config", path}, {"data", dir}, {"history", filepath.Join(dir, "history.db")}, {"journal", filepath.Join(dir, "journal.db")},
				{"HTTPS_PROXY", proxyHost("HTTPS_PROXY", "https_proxy")}, {"NO_PROXY", firstEnv("NO_PROXY", "no_proxy")},
			} {
				if _, err := fmt.Fprintf(a.stdout, "%-12s %s\n", l[0], orDash(l[1])); err != nil {
					return err
				}
			}
			return nil
		},
	}
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
