package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"example.com/rpctop/internal/fleet"
)

// awaitEvery is how often a process looks for others' commits.
const awaitEvery = 25 * time.Millisecond

// Ask puts a command into the inbox, where the leader finds it; an unanswered
// one is never run after expires. The command's ID must be new.
func (j *Journal) Ask(ctx context.Context, cmd fleet.Command, expires fleet.Millis) error {
	body, err := json.Marshal(cmd)
	if err != nil {
		return fmt.Errorf("ask command: %w", err)
	}
	return j.update(ctx, func(tx *sql.Tx) error {
		const q = "INSERT INTO inbox (id, author, at, expires, body) VALUES (?, ?, ?, ?, ?)"
		_, err := tx.ExecContext(ctx, q, cmd.ID, cmd.Author, j.o.Now().UnixMilli(), int64(expires), string(body))
		return err
	})
}

// Await waits for the verdict on a command that was asked. It fails with
// ErrUnanswered when ctx ends before; the command may then still run until it
// expires.
func (j *Journal) Await(ctx context.Context, id string) (fleet.Verdict, error) {
	tick := time.NewTicker(awaitEvery)
	defer tick.Stop()
	var version int64
	for {
		changed, err := j.Changed(ctx, &version)
		if err == nil && changed {
			v, err := j.Verdict(ctx, id)
			if v != nil {
				return *v, nil
			}
			if err != nil && ctx.Err() == nil {
				return fleet.Verdict{}, err
			}
		}
		if err != nil && ctx.Err() == nil {
			return fleet.Verdict{}, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fleet.Verdict{}, fmt.Errorf("await verdict on command %s: %w: %w", id, ErrUnanswered, ctx.Err())
		}
	}
}

// Verdict gives the answer to a command; nil while there is none. It fails
// with ErrMissing if the command was never asked.
func (r *JournalReader) Verdict(ctx context.Context, id string) (*fleet.Verdict, error) {
	var text sql.NullString
	err := r.db.QueryRowContext(ctx, "SELECT verdict FROM inbox WHERE id = ?", id).Scan(&text)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("verdict on command %s: %w", fleet.Sanitize(id), ErrMissing)
	case err != nil:
		return nil, r.failed(err)
	case !text.Valid:
		return nil, nil
	}
	var v fleet.Verdict
	if err := json.Unmarshal([]byte(text.String), &v); err != nil {
		return nil, r.failed(err)
	}
	return &v, nil
}

// PendingCommands gives the unanswered commands, oldest first. Those that have
// expired by now are never among them: they are answered as expired.
func (j *Journal) PendingCommands(ctx context.Context, now fleet.Millis) (out []fleet.Command, err error) {
	rows, err := j.JournalReader.db.QueryContext(ctx, "SELECT id, expires, body FROM inbox WHERE verdict IS NULL ORDER BY n")
	if err != nil {
		return nil, j.failed(err)
	}
	defer func() { _ = rows.Close() }()
	var expired []string
	for rows.Next() {
		var id, body string
		var expires fleet.Millis
		if err := rows.Scan(&id, &expires, &body); err != nil {
			return nil, j.failed(err)
		}
		if expires <= now {
			expired = append(expired, id)
			continue
		}
		var cmd fleet.Command
		if err := json.Unmarshal([]byte(body), &cmd); err != nil {
			return nil, j.failed(fmt.Errorf("command %s: %w", id, err))
		}
		out = append(out, cmd)
	}
	if err := rows.Err(); err != nil {
		return nil, j.failed(err)
	}
	_ = rows.Close()
	return out, j.expire(ctx, expired, now)
}

func (j *Journal) expire(ctx context.Context, ids []string, now fleet.Millis) error {
	if len(ids) == 0 {
		return nil
	}
	return j.update(ctx, func(tx *sql.Tx) error {
		for _, id := range ids {
			v := fleet.Verdict{ID: id, Code: "expired", Recorded: true, Message: "expired before anybody who leads saw it; nothing was done"}
			if _, err := answer(ctx, tx, v, now); err != nil {
				return err
			}
		}
		return nil
	})
}

// answer sets the verdict of a command that has none, and reports whether it
// did.
func answer(ctx context.Context, tx *sql.Tx, v fleet.Verdict, now fleet.Millis) (bool, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return false, err
	}
	const q = "UPDATE inbox SET verdict = ?, answered_at = ? WHERE id = ? AND verdict IS NULL"
	res, err := tx.ExecContext(ctx, q, string(text), int64(now), v.ID)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// SaveVerdict records the answer to a command in one transaction: the verdict,
// and, if it was accepted, the overrides that are in force from then on. A
// command of this process, which never was in the inbox, is kept there too. It
// fails with ErrAnswered, changing nothing, if the command has a verdict: it
// expired, or another leader was first.
func (j *Journal) SaveVerdict(ctx context.Context, cmd fleet.Command, v fleet.Verdict, overrides []fleet.Override) error {
	body, err := json.Marshal(cmd)
	if err != nil {
		return fmt.Errorf("save verdict: %w", err)
	}
	v.ID = cmd.ID
	return j.update(ctx, func(tx *sql.Tx) error {
		now := fleet.MillisOf(j.o.Now())
		const add = "INSERT INTO inbox (id, author, at, expires, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
		if _, err := tx.ExecContext(ctx, add, cmd.ID, cmd.Author, int64(now), int64(now), string(body)); err != nil {
			return err
		}
		switch done, err := answer(ctx, tx, v, now); {
		case err != nil:
			return err
		case !done:
			return fmt.Errorf("command %s: %w", fleet.Sanitize(cmd.ID), ErrAnswered)
		}
		if !v.Accepted {
			return nil
		}
		return putOverrides(ctx, tx, overrides)
	})
}
