// Package proxy is the programs' face: JSON-RPC over HTTP, on loopback. It
// reads what a client asks, refuses what may not be asked here, keeps sessions
// (so that a client reads its own writes, and time never goes backwards), sees
// writes through, and puts the answer, byte for byte, under the client's id.
//
// Who serves is decided below it, by failover.Caller. It knows no endpoint's
// URL, opens no connection to any, and touches no disk. What it keeps (sessions,
// relayed transactions, filters) is state of the process, bounded and aged.
package proxy
