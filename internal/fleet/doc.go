// Package fleet holds the words that the whole program speaks: chains,
// endpoints, outcomes, denials, rows of the history, events. They are plain
// types; the package decides nothing, does no I/O and asks no clock. It imports
// the standard library only, and every other package may import it.
//
// Times are Unix milliseconds (Millis), latencies microseconds (Micros), block
// heights uint64. What could not be read is never a number: an optional value
// is a pointer, a string that may be empty, or comes with a Class that says why
// it is not there.
package fleet
