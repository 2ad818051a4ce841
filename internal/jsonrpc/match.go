package jsonrpc

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/rpctop/internal/fleet"
)

// rule is one row of the table in rules.go. An empty condition always holds;
// all conditions of a row must hold; the first row that fits decides.
type rule struct {
	name   string
	on     scope   // what was asked: any of these
	at     place   // at which block: any of these
	when   fact    // what else must be so: all of these
	client string  // detected client or provider
	status []int   // HTTP status: any of these
	codes  []int64 // JSON-RPC error code: any of these
	text   []string
	not    []string
	// plain rows also judge text that is no JSON-RPC answer.
	plain bool

	class  fleet.Class
	sub    string
	origin fleet.Origin
}

// A pattern in text and not is in the normal form of normalise. Each of its
// words begins at a word's start and may go on ("throttl"); a blank at its end
// ends the word; " .. " skips anything in between.

// scope says what kind of thing was asked.
type scope uint16

const (
	onSubmit scope = 1 << iota
	onCall         // runs the EVM: calls, estimates, simulations
	onState        // reads state, calls included
	onLogs
	onBlock
	onTx // by hash: transactions, receipts
	onTrace
	onBatch
)

// place says at which block it was asked.
type place uint16

const (
	atUnknown place = 1 << iota
	atLatest
	atSafe
	atFinalized
	atPending
	atEarliest
	atNumber
	atHash
	atObject // the block as an object (EIP-1898)
)

// fact is what else is known about question and answer.
type fact uint8

const (
	ownGas      fact = 1 << iota // the request names its gas
	revertBytes                  // bytes in the error that look like a revert's
	noText                       // the error says nothing
)

// facts are what the rows are matched against.
type facts struct {
	on     scope
	at     place
	when   fact
	who    []string // client and provider, lower case
	status int
	code   *int64
	text   string // normal form
}

func (r *rule) fits(f *facts) bool {
	switch {
	case r.on != 0 && r.on&f.on == 0,
		r.at != 0 && r.at&f.at == 0,
		r.when&^f.when != 0,
		r.client != "" && !slices.Contains(f.who, r.client),
		len(r.status) > 0 && !slices.Contains(r.status, f.status),
		len(r.codes) > 0 && (f.code == nil || !slices.Contains(r.codes, *f.code)):
		return false
	}
	return (len(r.text) == 0 || anyIn(f.text, r.text)) && !anyIn(f.text, r.not)
}

// firstRule gives the row that decides, or nil.
func firstRule(f *facts, accept func(*rule) bool) *rule {
	for i := range rules {
		if r := &rules[i]; (accept == nil || accept(r)) && r.fits(f) {
			return r
		}
	}
	return nil
}

func anyIn(text string, patterns []string) bool {
	for _, p := range patterns {
		if patternIn(text, p) {
			return true
		}
	}
	return false
}

func patternIn(text, pattern string) bool {
	for {
		part, rest, more := strings.Cut(pattern, " .. ")
		i := indexWord(text, part)
		if i < 0 {
			return false
		}
		if !more {
			return true
		}
		text, pattern = text[i+len(part):], rest
	}
}

// indexWord finds part where a word begins.
func indexWord(text, part string) int {
	for from := 0; ; {
		i := strings.Index(text[from:], part)
		if i < 0 {
			return -1
		}
		if i += from; i > 0 && text[i-1] == ' ' {
			return i
		}
		from = i + 1
	}
}

// matchMax bounds how much of an error's text is looked at.
const matchMax = 2048

// normalise makes wordings comparable: lower case, one blank between words and
// at both ends, nothing but letters and digits; AlreadyKnown, already_known and
// ALREADY-KNOWN become "already known".
func normalise(s string) string {
	if len(s) > matchMax {
		s = s[:matchMax]
	}
	b := make([]byte, 1, len(s)+8)
	b[0] = ' '
	lower := false // the last rune was a lower-case letter
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9'):
			lower = r >= 'a'
			b = append(b, byte(r))
		case r < utf8.RuneSelf && r >= 'A' && r <= 'Z':
			if lower {
				b = append(b, ' ')
			}
			lower = false
			b = append(b, byte(r)|0x20)
		case r == '\'' || r == '\u2019' || r == '`' || unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r':
			// doesn't is one word, and an escape sequence hides none
		case r >= utf8.RuneSelf && r != utf8.RuneError && unicode.IsLetter(r):
			lower = false
			b = utf8.AppendRune(b, unicode.ToLower(r))
		default:
			lower = false
			if b[len(b)-1] != ' ' {
				b = append(b, ' ')
			}
		}
	}
	if b[len(b)-1] != ' ' {
		b = append(b, ' ')
	}
	return string(b)
}

// clients whose rows in the table are theirs alone, by the words that give them
// away in web3_clientVersion or in an error's text.
var clientWords = []string{
	"geth", "erigon", "nethermind", "besu", "reth", "anvil", "hardhat", "ganache", "openethereum", "parity",
	"alchemy", "infura", "quicknode", "quiknode", "ankr", "drpc", "proxyd", "erpc", "nodecore", "goldsky",
}

// providerHeaders give a provider away by a header of its own.
var providerHeaders = []struct{ header, who string }{
	{"X-Drpc-Owner-Tier", "drpc"}, {"X-Drpc-Trace-Id", "drpc"}, {"X-Alchemy-Trace-Id", "alchemy"},
	{"X-Quicknode-Request-Id", "quicknode"}, {"X-Erpc-Version", "erpc"}, {"X-Nodecore-Version", "nodecore"},
}

// detect names the client and the provider as far as they show themselves.
func detect(client string, a *Answer, text string) (who []string) {
	seen := normalise(client)
	for _, w := range clientWords {
		if indexWord(seen, w) >= 0 || indexWord(text, w) >= 0 {
			if w == "quiknode" {
				w = "quicknode"
			}
			who = append(who, w)
		}
	}
	for _, p := range providerHeaders {
		if len(a.Header[p.header]) > 0 {
			who = append(who, p.who)
		}
	}
	return who
}
