// Package store keeps two SQLite files in one folder. history.db is the log of
// the fold's inputs with its events and checkpoints: written in groups,
// replaceable. journal.db is what must not be lost: overrides, commands and
// verdicts, the use of day budgets; each write is on the disk before it is
// acknowledged. The package also holds the lock that says which process leads.
//
// It stores values of package fleet and gives back the same values. It decides
// nothing, knows no endpoint's URL, and interprets no row; who may write is the
// caller's business (the leader writes the history, any process the journal).
//
// Readers hold no transaction while their caller thinks: each chunk of rows is
// a query of its own, so that no reader keeps the write-ahead log from
// shrinking.
package store
