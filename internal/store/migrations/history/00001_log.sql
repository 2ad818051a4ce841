-- +goose Up
-- Everything is documented in docs/database.md. Numbers that may use all 64
-- bits (heights, block times, the seed) are two's complement.

CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;

-- Names behind stored numbers; written by the program from its vocabulary.
CREATE TABLE words (
    list TEXT    NOT NULL,
    id   INTEGER NOT NULL,
    word TEXT    NOT NULL,
    PRIMARY KEY (list, id)
) WITHOUT ROWID;

CREATE TABLE chains (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE
);

CREATE TABLE endpoints (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    chain INTEGER NOT NULL REFERENCES chains (id),
    name  TEXT    NOT NULL,
    UNIQUE (chain, name)
);

-- AUTOINCREMENT: an id is never used twice, so readers may remember texts.
CREATE TABLE texts (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    text TEXT NOT NULL UNIQUE
);

CREATE TABLE blocks (
    id            INTEGER PRIMARY KEY,
    chain         INTEGER NOT NULL,
    number        INTEGER NOT NULL,
    hash          BLOB    NOT NULL,
    parent        BLOB,
    time          INTEGER NOT NULL,
    first_seen_at INTEGER NOT NULL,
    first_by      INTEGER NOT NULL,
    UNIQUE (chain, number, hash)
);

-- The log: one row per input that is no sample.
CREATE TABLE rows (
    seq  INTEGER PRIMARY KEY,
    at   INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    body
);

-- The log: one row per sample. seq runs over both tables.
CREATE TABLE samples (
    seq            INTEGER PRIMARY KEY,
    at             INTEGER NOT NULL,
    endpoint       INTEGER NOT NULL,
    ago            INTEGER NOT NULL,
    class          INTEGER NOT NULL,
    sub            INTEGER NOT NULL,
    origin         INTEGER NOT NULL,
    status         INTEGER NOT NULL,
    code           INTEGER,
    message        INTEGER NOT NULL,
    connect        INTEGER NOT NULL,
    tls            INTEGER NOT NULL,
    first_byte     INTEGER NOT NULL,
    total          INTEGER NOT NULL,
    block          INTEGER,
    chain_id       INTEGER NOT NULL,
    chain_id_class INTEGER NOT NULL,
    hold           INTEGER NOT NULL,
    flags          INTEGER NOT NULL,
    odd            TEXT
);

CREATE TABLE events (
    seq       INTEGER PRIMARY KEY,
    row       INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    kind      TEXT    NOT NULL,
    chain     TEXT    NOT NULL,
    endpoint  TEXT    NOT NULL,
    from_name TEXT    NOT NULL,
    to_name   TEXT    NOT NULL,
    class     INTEGER NOT NULL,
    sub       TEXT    NOT NULL,
    reason    TEXT    NOT NULL,
    data      TEXT
);

CREATE TABLE checkpoints (
    seq   INTEGER PRIMARY KEY,
    at    INTEGER NOT NULL,
    fold  INTEGER NOT NULL,
    state BLOB    NOT NULL
);

CREATE VIEW endpoints_v AS
SELECT e.id, c.name AS chain, e.name AS endpoint
FROM endpoints e JOIN chains c ON c.id = e.chain;

CREATE VIEW samples_v AS
SELECT s.seq,
       strftime('%Y-%m-%dT%H:%M:%fZ', s.at / 1000.0, 'unixepoch')           AS at,
       strftime('%Y-%m-%dT%H:%M:%fZ', (s.at - s.ago) / 1000.0, 'unixepoch') AS start,
       c.name AS chain,
       e.name AS endpoint,
       coalesce(wc.word, s.class)  AS class,
       coalesce(ts.text, '')       AS sub,
       coalesce(wo.word, s.origin) AS origin,
       nullif(s.status, 0)         AS status,
       s.code,
       coalesce(tm.text, '')       AS message,
       s.connect AS connect_us, s.tls AS tls_us, s.first_byte AS first_byte_us, s.total AS total_us,
       CASE WHEN b.number < 0 THEN printf('%u', b.number) ELSE b.number END AS number,
       CASE WHEN length(b.hash) = 32 THEN '0x' || lower(hex(b.hash)) END     AS hash,
       b.time                      AS block_time,
       coalesce(ti.text, '')       AS chain_id,
       coalesce(wi.word, s.chain_id_class) AS chain_id_class,
       s.hold AS hold_ms,
       s.flags & 1 <> 0 AS cold, s.flags & 2 <> 0 AS suspicion, s.flags & 4 <> 0 AS traffic,
       s.odd
FROM samples s
LEFT JOIN endpoints e ON e.id = s.endpoint
LEFT JOIN chains c ON c.id = e.chain
LEFT JOIN blocks b ON b.id = s.block
LEFT JOIN texts ts ON ts.id = s.sub
LEFT JOIN texts tm ON tm.id = s.message
LEFT JOIN texts ti ON ti.id = s.chain_id
LEFT JOIN words wc ON wc.list = 'class' AND wc.id = s.class
LEFT JOIN words wo ON wo.list = 'origin' AND wo.id = s.origin
LEFT JOIN words wi ON wi.list = 'class' AND wi.id = s.chain_id_class;

CREATE VIEW events_v AS
SELECT v.seq, v.row,
       strftime('%Y-%m-%dT%H:%M:%fZ', v.at / 1000.0, 'unixepoch') AS at,
       v.kind, v.chain, v.endpoint, v.from_name, v.to_name,
       coalesce(w.word, v.class) AS class,
       v.sub, v.reason, v.data
FROM events v
LEFT JOIN words w ON w.list = 'class' AND w.id = v.class;

CREATE VIEW rows_v AS
SELECT r.seq,
       strftime('%Y-%m-%dT%H:%M:%fZ', r.at / 1000.0, 'unixepoch') AS at,
       coalesce(w.word, r.kind) AS kind,
       CASE typeof(r.body) WHEN 'blob' THEN '(packed, ' || length(r.body) || ' bytes)' ELSE r.body END AS body
FROM rows r
LEFT JOIN words w ON w.list = 'row' AND w.id = r.kind;
