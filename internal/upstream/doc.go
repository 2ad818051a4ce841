// Package upstream is the one door to the network: every JSON-RPC request to an
// endpoint, whoever asks, leaves through Door.Do. The order inside is immutable
// cache, failure cache, budgets, transport, judgement, redaction.
//
// The package knows the endpoints' URLs and headers, which are secrets, and
// lets none of them out: transport errors are told in words of our own, and
// every text from outside is redacted and sanitised before anybody sees it. It
// must not know who is healthy, who serves, or why it is asked.
package upstream
