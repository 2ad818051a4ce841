package config

import (
	"slices"
	"strings"
)

// The keys of each mapping, in the order in which they are suggested.
var (
	topKeys      = []string{"chains", "recoveries", "limits", "policy", "proxy", "on_alarm", "store"}
	chainKeys    = []string{"chain_id", "block_time", "genesis", "lag", "endpoints", "watches"}
	lagKeys      = []string{"soft", "hard"}
	endpointKeys = []string{"name", "url", "operator", "tier", "offset", "headers", "timeout", "limits", "probe"}
	probeKeys    = []string{"per_day", "every"}
	limitKeys    = []string{"rps", "burst", "in_flight", "per_day", "per_month", "units"}
	watchKeys    = []string{"name", "token", "owner", "spender", "required"}
	policyKeys   = []string{"attempts", "serve_degraded", "sticky", "breaker"}
	stickyKeys   = []string{"ratio", "gap", "beaten", "dwell"}
	breakerKeys  = []string{"run", "ratio", "of", "within"}
	proxyKeys    = []string{"listen", "token", "allow", "origins", "forward_headers"}
	storeKeys    = []string{"keep_raw", "group"}
	recoveryKeys = []string{
		"preset", "to", "abi", "method", "args", "data", "value", "chain", "from", "token", "spender",
		"required", "signer", "approve", "fees",
	}
	requiredKeys = []string{"call", "to"}
	signerKeys   = []string{"keystore", "external", "env"}
	approveKeys  = []string{"policy", "amount", "max", "zero_first", "max_approves"}
	feeKeys      = []string{"max_fee_per_gas", "max_cost", "target_gas"}
)

// vocabulary is every key of ours: they may be quoted from any file.
func vocabulary() map[string]bool {
	words := map[string]bool{"<<": true}
	for _, keys := range [][]string{
		topKeys, chainKeys, lagKeys, endpointKeys, probeKeys, limitKeys, watchKeys, policyKeys, stickyKeys, breakerKeys,
		proxyKeys, storeKeys, recoveryKeys, requiredKeys, signerKeys, approveKeys, feeKeys,
	} {
		for _, k := range keys {
			words[k] = true
		}
	}
	return words
}

// secretKey reports whether the values of a key may be secrets; a value under a
// misspelt one is not quoted.
func secretKey(key string) bool {
	return slices.Contains([]string{"url", "headers", "token", "on_alarm", "signer", "keystore", "external", "env"}, key)
}

// suggest says what an unknown word was probably meant to be.
func suggest(word string, known []string) string {
	if near := nearest(word, known); near != "" {
		return "did you mean `" + near + "`?"
	}
	return "known here: " + strings.Join(known, ", ")
}

// nearest gives the known word that differs least, "" if none is near.
func nearest(word string, known []string) string {
	best, distance := "", max(1, min(2, len(word)/2))+1
	for _, k := range known {
		if d := editDistance(strings.ToLower(word), k, distance); d < distance {
			best, distance = k, d
		}
	}
	return best
}

// editDistance counts insertions, deletions, replacements and swaps of
// neighbours; anything from limit on is told as limit.
func editDistance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if max(len(x), len(y))-min(len(x), len(y)) >= limit {
		return limit
	}
	before, last := []int(nil), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row := make([]int, len(y)+1)
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return min(last[len(y)], limit)
}

// maxName is the longest name of a chain, an endpoint, a watch or a recovery.
const maxName = 64

const nameRule = "a name begins with a letter or digit, and has letters, digits, `.`, `_`, `-` only, at most 64"

// validName reports whether s can be a name: it becomes part of paths, command
// lines and file names.
func validName(s string) bool {
	if s == "" || len(s) > maxName || !isAlnum(rune(s[0])) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return !isKeyRune(r) && r != '.' })
}

// validVar reports whether s can be the name of an environment variable.
func validVar(s string) bool {
	if s == "" || len(s) > maxName || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return !isAlnum(r) && r != '_' })
}

// validHeader reports whether s is a token of RFC 9110.
func validHeader(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !isAlnum(r) && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// hopByHop are headers that belong to one connection, or that the transport
// writes itself.
func hopByHop(name string) bool {
	return slices.Contains([]string{
		"connection", "content-length", "content-type", "host", "keep-alive", "proxy-authenticate", "proxy-authorization",
		"proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
	}, strings.ToLower(name))
}
