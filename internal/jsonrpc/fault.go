package jsonrpc

import "example.com/rpctop/internal/fleet"

// Fault says why there is no complete HTTP answer. The zero value: there is one.
type Fault string

// The faults that the door tells apart.
const (
	FaultNone           Fault = ""
	FaultRefused        Fault = "refused"
	FaultTimeout        Fault = "timeout" // the attempt's own deadline
	FaultStall          Fault = "stall"   // connected, and not a byte until the deadline
	FaultHalfOpen       Fault = "half-open"
	FaultEOF            Fault = "eof"           // closed before an answer
	FaultEOFReused      Fault = "eof-on-reused" // the same, on a kept connection
	FaultReset          Fault = "reset"
	FaultMidBody        Fault = "mid-body" // closed within the body
	FaultDNS            Fault = "dns"
	FaultDNSNotFound    Fault = "dns-nxdomain"
	FaultTLS            Fault = "tls"
	FaultTLSExpired     Fault = "tls-expired"
	FaultTLSNotYetValid Fault = "tls-not-yet-valid"
	FaultNoRoute        Fault = "no-route"
	FaultRedirect       Fault = "redirect"
	FaultHTTP           Fault = "http"          // what came is no HTTP
	FaultWSClosed       Fault = "ws-close"      // a WebSocket closed without an answer
	FaultResponseCap    Fault = "response-cap"  // larger than our own limit
	FaultCancelled      Fault = "cancelled"     // our caller gave up
	FaultSuspended      Fault = "suspended"     // this machine slept meanwhile
	FaultLocalNetwork   Fault = "local-network" // this machine has no network
)

// faultRow says what a fault means. healed marks the faults that a fresh
// connection to the same endpoint cures at once: no other endpoint yet, nothing
// charged.
type faultRow struct {
	fault   Fault
	class   fleet.Class
	sub     string
	text    string
	healed  bool
	lasting bool // the same endpoint will not do better on a second try
}

var faultTable = []faultRow{
	{FaultRefused, fleet.ClassTransportFailure, "refused", "connection refused", false, false},
	{FaultTimeout, fleet.ClassTransportFailure, fleet.SubTimeout, "no answer in time", false, false},
	{FaultStall, fleet.ClassTransportFailure, fleet.SubTimeout, "connected, but no answer in time", false, true},
	{FaultHalfOpen, fleet.ClassTransportFailure, fleet.SubTimeout, "connection is dead", false, false},
	{FaultEOF, fleet.ClassTransportFailure, "eof", "closed before an answer", false, false},
	{FaultEOFReused, fleet.ClassTransportFailure, "eof", "kept connection was closed", true, false},
	{FaultReset, fleet.ClassTransportFailure, "reset", "connection reset", false, false},
	{FaultMidBody, fleet.ClassTransportFailure, "eof", "closed within the answer", false, false},
	{FaultDNS, fleet.ClassTransportFailure, "dns", "name does not resolve", false, false},
	{FaultDNSNotFound, fleet.ClassTransportFailure, "dns", "name not found", false, false},
	{FaultTLS, fleet.ClassTransportFailure, "tls", "TLS failed", false, true},
	{FaultTLSExpired, fleet.ClassTransportFailure, "tls-expired", "certificate expired", false, true},
	{FaultTLSNotYetValid, fleet.ClassTransportFailure, "tls-not-yet-valid", "certificate not yet valid", false, true},
	{FaultNoRoute, fleet.ClassTransportFailure, "no-route", "no route from here", false, false},
	{FaultRedirect, fleet.ClassTransportFailure, subRedirect, "redirects to another address", false, true},
	{FaultHTTP, fleet.ClassTransportFailure, subHTTP, "answer is no HTTP", false, false},
	{FaultWSClosed, fleet.ClassTransportFailure, "eof", "feed closed by the server", true, false},
	{FaultResponseCap, fleet.ClassLocalDenial, fleet.SubResponseCap, "answer exceeds our own limit", false, true},
	{FaultCancelled, fleet.ClassLocalFault, fleet.SubCancelled, "our caller gave up", false, true},
	{FaultSuspended, fleet.ClassLocalFault, "resume", "this machine was asleep", false, false},
	{FaultLocalNetwork, fleet.ClassLocalFault, "network", "this machine has no network", false, false},
}

// fault judges an attempt that got no complete answer. A fault without a row is
// a transport failure by its own name.
func (j *judge) fault() Verdict {
	row := faultRow{j.a.Fault, fleet.ClassTransportFailure, "other", "request failed", false, false}
	for _, r := range faultTable {
		if r.fault == j.a.Fault {
			row = r
			break
		}
	}
	origin := fleet.OriginTransport
	if row.class == fleet.ClassLocalDenial || row.class == fleet.ClassLocalFault {
		origin = fleet.OriginLocal
	}
	text := j.a.FaultText
	if text == "" {
		text = row.text
	}
	v := j.verdict(row.class, row.sub, origin, text)
	switch {
	case row.healed:
		v.Failover, v.Charge, v.RetrySame = false, false, true
	case row.lasting:
		v.RetrySame = false
	}
	return v
}
