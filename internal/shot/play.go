package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// player carries out a script.
type player struct {
	log        *log.Logger
	cols, rows int
	env        []string
	terminal   *terminal // nil: nothing runs
}

// play carries out the steps in order, ends at the first that fails, and leaves
// no program running.
func (p *player) play(ctx context.Context, steps []step) error {
	p.cols, p.rows = 80, 24
	defer p.end()
	for _, s := range steps {
		if err := p.do(ctx, s); err != nil {
			return fmt.Errorf("%s: %s: %w", s.where, s.verb, err)
		}
	}
	return nil
}

func (p *player) do(ctx context.Context, s step) error {
	if s.time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.time)
		defer cancel()
	}
	switch s.verb {
	case "size":
		p.cols, p.rows = s.cols, s.rows
	case "env":
		p.env = append(p.env, s.words[0])
	case "run":
		p.end()
		var err error
		p.terminal, err = start(s.words, p.env, p.cols, p.rows)
		return err
	case "wait":
		return p.terminal.await(ctx, s.words[0])
	case "pause":
		return pause(ctx)
	case "key":
		for _, name := range s.words {
			if err := p.press(ctx, name); err != nil {
				return err
			}
		}
	case "type":
		return p.terminal.send(s.words[0])
	case "shot":
		return p.shot(ctx, s.words[0], strings.Join(s.words[1:], ""))
	case "exit":
		if err := p.terminal.wait(ctx); err != nil {
			p.log.Printf("%s: the program: %v", s.where, err)
		}
		p.end()
	}
	return nil
}

// press sends one key and waits for what it draws: a lone escape that another
// key follows at once would be read as one key.
func (p *player) press(ctx context.Context, name string) error {
	keys, err := keyBytes(name)
	if err != nil {
		return err
	}
	if err := p.terminal.send(keys); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	return pause(ctx)
}

// pause waits until the context's time is over; to be cancelled is an error.
func pause(ctx context.Context) error {
	<-ctx.Done()
	if ctx.Err() == context.Canceled {
		return context.Canceled
	}
	return nil
}

func (p *player) shot(ctx context.Context, file, title string) error {
	p.terminal.settle(ctx)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(file, p.terminal.grid().svg(title), 0o644); err != nil {
		return err
	}
	p.log.Print("wrote ", file)
	return nil
}

func (p *player) end() {
	if p.terminal != nil {
		p.terminal.close()
		p.terminal = nil
	}
}
