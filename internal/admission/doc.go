// Package admission keeps our own limits: token buckets, in-flight caps,
// budgets of the provider's units, and the failure cache, which remembers what
// an endpoint refused. It decides whether one request may leave, and a refusal
// is a *fleet.Denial, which no reader can take for the endpoint's fault.
//
// A request is admitted whole or not at all: all limits are looked at under
// one lock before anything is taken, so a refusal leaves no trace but its
// count. The package must not know how a request is sent, nor the time: it
// takes the clock as an argument.
package admission
