// Package engine is the one place where inputs become history: a single
// goroutine gives each input its sequence number and time, folds it with
// failover.Step, hands the row to the store's queue, and publishes the new
// state. It does no I/O itself: the store, the journal and the prober stand
// behind small interfaces, and whoever wants to look pulls a snapshot.
//
// An Engine leads: it sequences. A Follower folds the rows that another
// process has committed, and passes commands on through the journal's inbox.
package engine
