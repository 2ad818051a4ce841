// Package devnet is a real chain inside the process, with faults to order. It
// runs go-ethereum nodes that share one chain (a leader that mines, followers
// behind it), a node of another chain, and before each node a Front: an HTTP
// server on loopback that passes JSON-RPC on and can be told, while it runs, to
// refuse, hang, lie about its head, answer for another chain, and so on.
// `rpctop demo` and tests use it.
//
// It knows nothing of rpctop's health, decisions or configuration: to the rest
// of the program a front is an endpoint like any other. Nothing here leaves
// loopback.
//
// With one seed and one Options value the hashes of blocks are the same in each
// run: block timestamps are counted, not taken from the clock. go-ethereum logs
// nothing unless somebody calls its log.SetDefault, so the process's loggers
// are left alone.
package devnet
