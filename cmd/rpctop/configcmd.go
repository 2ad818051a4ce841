package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"example.com/rpctop/internal/config"
	"example.com/rpctop/internal/probe"
)

func (a *app) configCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Write or check the configuration"}
	var force bool
	initCmd := &cobra.Command{
		Use:   "init",
		Short: "Write a commented configuration to start from",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return a.configInit(force) },
	}
	initCmd.Flags().BoolVar(&force, "force", false, "replace a file that is there")
	check := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Say all that is wrong with the configuration, and what it costs",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.flags.config = args[0]
			}
			return a.configCheck()
		},
	}
	cmd.AddCommand(initCmd, check)
	return cmd
}

func (a *app) configInit(force bool) error {
	path, _ := a.configPath()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write a configuration: %w", err)
	}
	mode := os.O_CREATE | os.O_WRONLY | os.O_EXCL
	if force {
		mode = os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	}
	f, err := os.OpenFile(path, mode, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return exit(exitConfig, "%s is there already; --force replaces it", path)
	}
	if err != nil {
		return fmt.Errorf("write a configuration: %w", err)
	}
	_, err = f.WriteString(config.Example())
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write a configuration: %w", err)
	}
	_, err = fmt.Fprintln(a.stdout, "wrote "+path)
	return err
}

func (a *app) configCheck() error {
	cfg, err := a.loadConfig()
	if err != nil {
		return err
	}
	for _, c := range cfg.Specs(nil) {
		fmt.Fprintf(a.stdout, "%s: chain id %d, a block every %v ms\n", c.Name, c.ChainID, c.BlockTime)
		for _, e := range c.Endpoints {
			fmt.Fprintf(a.stdout, "  %s: operator %s, tier %d, a probe every %v ms, %d calls a day\n", e.Name, e.Operator, e.Tier, e.Every, probe.CallsPerDay(c, e))
		}
	}
	_, err = fmt.Fprintln(a.stdout, "the configuration is good")
	return err
}
