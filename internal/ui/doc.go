// Package ui is the operator's face: the interactive console. It shows the
// fleet's snapshots and events, says for each endpoint why it serves or does
// not, and passes the operator's word on as commands.
//
// It pulls what it shows from a Source at its own rate and is never pushed. It
// must not know where a snapshot comes from (a live engine, a followed one, a
// recording), holds no URL, opens no file and talks to no network; deciding
// anything is not its business. Among our packages it imports fleet only, and
// it is the only importer of bubbletea.
//
// One root model holds the state; panes are plain functions from that state to
// lines. Update does no I/O, starts no goroutine and asks no clock: time comes
// with the tick, and a command to the engine runs in a tea.Cmd with a time-out.
package ui
