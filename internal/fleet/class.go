package fleet

import (
	"fmt"
	"strings"
)

// Class says what the answer to one request means. Every outcome has exactly
// one. The numbers are stored in the database: append, never renumber.
type Class uint8

// The classes, in the words of the failure cases' schema.
const (
	ClassNone Class = iota // nothing was asked
	ClassOK
	ClassDeterministicRevert // the EVM ran and reverted
	ClassTxKnown             // pool or chain already has these bytes: success
	ClassTxRejected          // sub: nonce, policy, funds, invalid
	ClassBadRequest          // wrong at every endpoint
	ClassUnsupported         // a fact about (endpoint, method)
	ClassStateUnavailable    // a fact about the endpoint's history depth
	ClassNodeLimit           // over the endpoint's own limit
	ClassNotYetVisible       // "do not have it yet"
	ClassRateLimited         // refused because of our volume or quota
	ClassRemoteDenial        // sub: auth, plan, host
	ClassTransportFailure    // sub: refused, reset, dns, tls, http, timeout, eof, redirect
	ClassMalformed           // complete, but no valid JSON-RPC answer to this request
	ClassServerError         // well-formed error by which the endpoint reports its own failure
	ClassStale
	ClassForked
	ClassWrongChain
	ClassLocalDenial // a Denial, never an Attempt (but for the response cap)
	ClassLocalFault  // sub: cancelled, clock, resume, network, disk
	ClassChainStall  // state of the whole set
	ClassNoEndpoint  // state of the whole set
	classEnd
)

var classNames = [classEnd]string{
	"", "ok", "deterministic-revert", "tx-known", "tx-rejected", "bad-request",
	"unsupported", "state-unavailable", "node-limit", "not-yet-visible",
	"rate-limited", "remote-denial", "transport-failure", "malformed",
	"server-error", "stale", "forked", "wrong-chain", "local-denial",
	"local-fault", "chain-stall", "no-endpoint",
}

// String gives the class's word, as it stands in the database and in exports.
func (c Class) String() string {
	if c < classEnd {
		return classNames[c]
	}
	return fmt.Sprintf("class(%d)", uint8(c))
}

// MarshalText writes the word.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a word of the vocabulary.
func (c *Class) UnmarshalText(b []byte) error {
	for i, n := range classNames {
		if n == string(b) {
			*c = Class(i)
			return nil
		}
	}
	return fmt.Errorf("class %q is not one of: %s", b, strings.Join(classNames[1:], ", "))
}

// Charge says what an outcome does to the health of the endpoint that gave it.
type Charge uint8

// What an outcome can be charged as.
const (
	ChargeNothing  Charge = iota // cancels, denials, facts, throttles
	ChargeSuccess                // an answer, verdicts of the chain included
	ChargeFailure                // attributable to the endpoint
	ChargeThrottle               // rests the endpoint, and is no failure
)

// Charge follows the table of outcomes: reverts are successes, throttles only
// rest an endpoint, what is local or in doubt is charged to nobody.
func (o Outcome) Charge() Charge {
	switch o.Class {
	case ClassOK, ClassDeterministicRevert, ClassTxKnown:
		return ChargeSuccess
	case ClassRateLimited:
		if o.Sub == SubSender {
			return ChargeNothing // the sending account's, at every endpoint
		}
		return ChargeThrottle
	case ClassTransportFailure, ClassMalformed:
		return ChargeFailure
	case ClassServerError:
		if o.Sub == SubUnrecognised {
			return ChargeNothing
		}
		return ChargeFailure
	default:
		return ChargeNothing
	}
}

// Finer reasons that decisions depend on.
const (
	SubUnrecognised = "unrecognised"
	SubTimeout      = "timeout"
	SubCancelled    = "cancelled"
	SubQuota        = "quota"
	SubResponseCap  = "response-cap"
	SubMethod       = "method" // unsupported: the method itself, not a tag or parameter
	SubSender       = "sender" // rate-limited: the sending account, at every endpoint
)

// Origin says where an outcome came from. It is set where the outcome is made,
// never guessed later from a text. The numbers are stored.
type Origin uint8

// The origins.
const (
	OriginNone      Origin = iota
	OriginLocal            // we refused or gave up
	OriginTransport        // DNS, TCP, TLS, HTTP framing
	OriginGateway          // the provider's front
	OriginNode             // the client software
	OriginChain            // the EVM's verdict
	originEnd
)

var originNames = [originEnd]string{"", "local", "transport", "gateway", "node", "chain"}

// String gives the origin's word.
func (o Origin) String() string {
	if o < originEnd {
		return originNames[o]
	}
	return fmt.Sprintf("origin(%d)", uint8(o))
}

// MarshalText writes the word.
func (o Origin) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads a word.
func (o *Origin) UnmarshalText(b []byte) error {
	for i, n := range originNames {
		if n == string(b) {
			*o = Origin(i)
			return nil
		}
	}
	return fmt.Errorf("origin %q is not one of: %s", b, strings.Join(originNames[1:], ", "))
}
