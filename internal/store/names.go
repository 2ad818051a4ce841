package store

import (
	"context"
	"database/sql"
	"errors"

	"example.com/rpctop/internal/fleet"
)

// names turns what repeats into small numbers, on the writer's connection. It
// remembers what it wrote; after a rollback it must forget.
type names struct {
	chains    map[string]int64
	endpoints map[fleet.EndpointID]int64
	texts     map[string]int64
	blocks    map[blockKey]block

	findChain, addChain       *sql.Stmt
	findEndpoint, addEndpoint *sql.Stmt
	findText, addText         *sql.Stmt
	findBlock, addBlock       *sql.Stmt
}

type blockKey struct {
	chain  int64
	number uint64
	hash   fleet.Hash
}

// block is what the first sighting stated.
type block struct {
	id     int64
	parent fleet.Hash
	time   uint64
}

// Bounds of the memory: texts may come from outside, and blocks never end.
const (
	maxTexts  = 4096
	maxBlocks = 8192
)

func newNames(prepare func(string) *sql.Stmt) *names {
	n := &names{
		findChain:    prepare("SELECT id FROM chains WHERE name = ?"),
		addChain:     prepare("INSERT INTO chains (name) VALUES (?)"),
		findEndpoint: prepare("SELECT id FROM endpoints WHERE chain = ? AND name = ?"),
		addEndpoint:  prepare("INSERT INTO endpoints (chain, name) VALUES (?, ?)"),
		findText:     prepare("SELECT id FROM texts WHERE text = ?"),
		addText:      prepare("INSERT INTO texts (text) VALUES (?)"),
		findBlock:    prepare("SELECT id, parent, time FROM blocks WHERE chain = ? AND number = ? AND hash = ?"),
		addBlock: prepare("INSERT INTO blocks (chain, number, hash, parent, time, first_seen_at, first_by)" +
			" VALUES (?, ?, ?, ?, ?, ?, ?)"),
	}
	n.forget()
	return n
}

// forget drops what a rollback may have made wrong.
func (n *names) forget() {
	n.chains = map[string]int64{}
	n.endpoints = map[fleet.EndpointID]int64{}
	n.texts = map[string]int64{}
	n.blocks = map[blockKey]block{}
}

func findOrAdd(find, add *sql.Stmt, args ...any) (int64, error) {
	ctx := context.Background()
	var id int64
	err := find.QueryRowContext(ctx, args...).Scan(&id)
	if !errors.Is(err, sql.ErrNoRows) {
		return id, err
	}
	res, err := add.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

func (n *names) chain(name string) (int64, error) {
	if id, ok := n.chains[name]; ok {
		return id, nil
	}
	id, err := findOrAdd(n.findChain, n.addChain, name)
	if err == nil {
		n.chains[name] = id
	}
	return id, err
}

func (n *names) endpoint(e fleet.EndpointID) (int64, error) {
	if id, ok := n.endpoints[e]; ok {
		return id, nil
	}
	chain, err := n.chain(e.Chain)
	if err != nil {
		return 0, err
	}
	id, err := findOrAdd(n.findEndpoint, n.addEndpoint, chain, e.Name)
	if err == nil {
		n.endpoints[e] = id
	}
	return id, err
}

// text gives 0 for the empty text.
func (n *names) text(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	if id, ok := n.texts[s]; ok {
		return id, nil
	}
	id, err := findOrAdd(n.findText, n.addText, s)
	if err != nil {
		return 0, err
	}
	if len(n.texts) >= maxTexts {
		clear(n.texts)
	}
	n.texts[s] = id
	return id, nil
}

// block gives the row of a head, made at its first sighting. A later head may
// state another parent or time under the same hash; the caller sees it.
func (n *names) block(chain int64, h fleet.Head, at fleet.Millis, by int64) (block, error) {
	ctx := context.Background()
	key := blockKey{chain, h.Number, h.Hash}
	if b, ok := n.blocks[key]; ok {
		return b, nil
	}
	var b block
	var parent []byte
	var seconds int64
	err := n.findBlock.QueryRowContext(ctx, chain, int64(h.Number), hashBytes(h.Hash)).Scan(&b.id, &parent, &seconds)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		res, err := n.addBlock.ExecContext(ctx, chain, int64(h.Number), hashBytes(h.Hash), hashBytes(h.Parent), int64(h.Time), int64(at), by)
		if err != nil {
			return b, err
		}
		if b.id, err = res.LastInsertId(); err != nil {
			return b, err
		}
		b.parent, b.time = h.Parent, h.Time
	case err != nil:
		return b, err
	default:
		if b.parent, err = hashFrom(parent); err != nil {
			return b, err
		}
		b.time = uint64(seconds)
	}
	if len(n.blocks) >= maxBlocks {
		clear(n.blocks)
	}
	n.blocks[key] = b
	return b, nil
}
