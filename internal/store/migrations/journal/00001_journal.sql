-- +goose Up
-- Everything is documented in docs/database.md.

CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;

-- The operator's word in force, in the order in which it was given.
CREATE TABLE overrides (
    id       INTEGER PRIMARY KEY,
    action   TEXT    NOT NULL,
    chain    TEXT    NOT NULL,
    endpoint TEXT    NOT NULL,
    author   TEXT    NOT NULL,
    reason   TEXT    NOT NULL,
    since    INTEGER NOT NULL,
    until    INTEGER NOT NULL,
    strict   INTEGER NOT NULL
);

-- Commands as asked, and their verdicts.
CREATE TABLE inbox (
    n           INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT    NOT NULL UNIQUE,
    author      TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    expires     INTEGER NOT NULL,
    body        TEXT    NOT NULL,
    verdict     TEXT,
    answered_at INTEGER
);
CREATE INDEX inbox_open ON inbox (n) WHERE verdict IS NULL;

-- What was used of each budget: by endpoint and UTC day, all processes
-- together. Empty names: the global budget.
CREATE TABLE budgets (
    chain    TEXT    NOT NULL,
    endpoint TEXT    NOT NULL,
    day      TEXT    NOT NULL,
    units    INTEGER NOT NULL,
    calls    INTEGER NOT NULL,
    PRIMARY KEY (chain, endpoint, day)
) WITHOUT ROWID;

CREATE VIEW inbox_v AS
SELECT n, id, author,
       strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch')          AS at,
       strftime('%Y-%m-%dT%H:%M:%fZ', expires / 1000.0, 'unixepoch')     AS expires,
       body, verdict,
       strftime('%Y-%m-%dT%H:%M:%fZ', answered_at / 1000.0, 'unixepoch') AS answered_at
FROM inbox;

CREATE VIEW overrides_v AS
SELECT id, action, chain, endpoint, author, reason,
       strftime('%Y-%m-%dT%H:%M:%fZ', since / 1000.0, 'unixepoch') AS since,
       CASE until WHEN 0 THEN 'for ever'
            ELSE strftime('%Y-%m-%dT%H:%M:%fZ', until / 1000.0, 'unixepoch') END AS until,
       strict
FROM overrides;
