package jsonrpc

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"example.com/rpctop/internal/fleet"
)

// statusRow says what an HTTP status means when the body is no JSON-RPC answer.
// lasting: a second try at the same endpoint is pointless.
type statusRow struct {
	from, to int
	class    fleet.Class
	sub      string
	lasting  bool
}

// statusTable: the first row that holds the status. 2xx is not in it: a body
// was due, and there is none.
var statusTable = []statusRow{
	{300, 303, fleet.ClassTransportFailure, subRedirect, true},
	{307, 308, fleet.ClassTransportFailure, subRedirect, true},
	{401, 401, fleet.ClassRemoteDenial, subAuth, true},
	{402, 402, fleet.ClassRemoteDenial, subPlan, true},
	{403, 403, fleet.ClassRemoteDenial, subAuth, true},
	{404, 406, fleet.ClassTransportFailure, subHTTP, true},
	{407, 407, fleet.ClassRemoteDenial, subAuth, true},
	{410, 410, fleet.ClassTransportFailure, subHTTP, true},
	{413, 414, fleet.ClassNodeLimit, subBody, true},
	{415, 415, fleet.ClassTransportFailure, subHTTP, true},
	{429, 430, fleet.ClassRateLimited, "", true},
	{431, 431, fleet.ClassNodeLimit, subBody, true},
	{451, 451, fleet.ClassRemoteDenial, subHost, true},
	{501, 501, fleet.ClassTransportFailure, subHTTP, true},
	{505, 505, fleet.ClassTransportFailure, subHTTP, true},
	{509, 509, fleet.ClassRateLimited, fleet.SubQuota, true},
	{529, 529, fleet.ClassRateLimited, "", true},
	{0, 999, fleet.ClassTransportFailure, subHTTP, false},
}

// bare judges a body that is no JSON-RPC answer: text, a page, broken JSON,
// nothing.
func (j *judge) bare(body []byte) Verdict {
	trimmed := bytes.TrimSpace(body)
	head := trimmed[:min(len(trimmed), 512)]
	switch {
	case j.httpOK() && len(trimmed) == 0:
		return j.malformed(subEmpty, "empty answer")
	case isPage(head) || strings.HasPrefix(strings.ToLower(header(j.a, "Content-Type")), "text/html") && len(trimmed) > 0:
		return j.page(body)
	case j.httpOK() && (head[0] == '{' || head[0] == '['):
		return j.malformed(subJSON, fmt.Sprintf("broken JSON (%d bytes)", len(body)))
	}
	text := string(trimmed[:min(len(trimmed), matchMax)])
	if s, ok := unquote(trimmed); ok {
		text = s
	}
	if v, ok := j.plainRule(text); ok {
		return v
	}
	if j.httpOK() {
		return j.malformed(subText, fmt.Sprintf("text where JSON was due (%d bytes): %s", len(body), fleet.SanitizeMax(text, 120)))
	}
	return j.byStatus(text)
}

func isPage(head []byte) bool {
	low := bytes.ToLower(head)
	return bytes.HasPrefix(low, []byte("<!doctype")) || bytes.HasPrefix(low, []byte("<html")) ||
		bytes.HasPrefix(low, []byte("<?xml")) || bytes.HasPrefix(low, []byte("<head")) || bytes.HasPrefix(low, []byte("<!--"))
}

// page judges an HTML page. Its text is a third party's: it is identified by
// length and hash, and only its title is given, for the live screen.
func (j *judge) page(body []byte) Verdict {
	sum := sha256.Sum256(body)
	what := fmt.Sprintf("HTML page, not JSON (%d bytes, sha256 %s)", len(body), hex.EncodeToString(sum[:8]))
	title := pageTitle(body)
	v, ok := j.plainRule(title)
	switch {
	case ok:
		v.Outcome.Message = what
	case j.httpOK():
		v = j.malformed(subHTML, what)
	default:
		v = j.byStatus("")
		v.Outcome.Message = fmt.Sprintf("HTTP %d with an %s", j.a.Status, what)
	}
	v.Detail = title
	return v
}

func pageTitle(body []byte) string {
	head := body[:min(len(body), 8192)]
	low := bytes.ToLower(head)
	i := bytes.Index(low, []byte("<title"))
	if i < 0 || len(low) != len(head) {
		return ""
	}
	open := bytes.IndexByte(head[i:], '>')
	if open < 0 {
		return ""
	}
	rest := head[i+open+1:]
	end := bytes.IndexByte(rest, '<')
	if end < 0 {
		return ""
	}
	return fleet.SanitizeMax(string(rest[:end]), 80)
}

// foreign judges a JSON object that is no JSON-RPC answer: a gateway's own form.
func (j *judge) foreign(env envelope) Verdict {
	text := foreignText(env)
	if v, ok := j.plainRule(text); ok {
		return v
	}
	if !j.httpOK() {
		return j.byStatus(text)
	}
	return j.malformed(subNoResult, "JSON, but no JSON-RPC answer: "+fleet.SanitizeMax(text, 120))
}

func foreignText(env envelope) string {
	for _, raw := range []json.RawMessage{env.err, env.text} {
		if s, ok := unquote(raw); ok {
			return s
		}
	}
	return ""
}

// plainRule judges text that stands where a JSON-RPC answer was due. With HTTP
// 2xx only a throttle is believed on its word: it charges nobody, and a
// sentence is otherwise no answer.
func (j *judge) plainRule(text string) (Verdict, bool) {
	if text == "" {
		return Verdict{}, false
	}
	f := facts{on: scopeOf(j.q.Method), at: atUnknown, status: j.a.Status, text: normalise(text)}
	r := firstRule(&f, func(r *rule) bool {
		return r.plain && (!j.httpOK() || r.class == fleet.ClassRateLimited)
	})
	if r == nil {
		return Verdict{}, false
	}
	v := j.ruled(r, text)
	v.Cooldown = j.cooldown(v.Outcome, nil, text)
	return v, true
}

// byStatus judges by the HTTP status alone.
func (j *judge) byStatus(text string) Verdict {
	var row statusRow
	for _, row = range statusTable {
		if j.a.Status >= row.from && j.a.Status <= row.to {
			break
		}
	}
	message := "HTTP " + itoa(j.a.Status)
	origin := fleet.OriginGateway
	switch {
	case row.sub == subRedirect:
		message += " redirects to another address"
		if strings.HasPrefix(strings.ToLower(header(j.a, "Location")), "https://") {
			message += " (https)"
		}
		origin = fleet.OriginTransport
	case text != "":
		message += ": " + fleet.SanitizeMax(text, 200)
	}
	if row.class == fleet.ClassTransportFailure {
		origin = fleet.OriginTransport
	}
	if row.sub == subBody && j.q.Method == MethodBatch {
		row.sub, row.lasting = subBatch, false
	}
	v := j.verdict(row.class, row.sub, origin, message)
	if row.lasting {
		v.RetrySame = false
	}
	v.Cooldown = j.cooldown(v.Outcome, nil, text)
	return v
}
