// Package jsonrpc reads and writes JSON-RPC and says what an answer means.
//
// Classify turns the answer to one request into exactly one verdict: a class of
// the vocabulary with its finer reason and origin, what follows from it, the
// verbatim result, the decoded revert. What errors mean is data: the table in
// rules.go, one row a rule.
//
// The package is pure. It does no I/O, asks no clock (the time is part of the
// question), knows no endpoint and keeps no state between two calls. Verdicts
// that need more than one answer (forks, lag, a fault of this machine) are made
// elsewhere. Everything that comes from outside is hostile: nothing here may
// panic, grow without bound, or let a control character through.
package jsonrpc
