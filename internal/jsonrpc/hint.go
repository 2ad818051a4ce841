package jsonrpc

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"example.com/rpctop/internal/fleet"
)

// infuraDayUsed is Infura's code for a day's credits used up; they come back at
// 00:00 UTC.
const infuraDayUsed = -33000

// cooldown says how long the endpoint should rest: what it asked for, up to
// CooldownMax, else the default. Failures rest only where the answer says for
// how long; how often they are tried is the breaker's business.
func (j *judge) cooldown(o fleet.Outcome, data json.RawMessage, message string) time.Duration {
	switch o.Class {
	case fleet.ClassRateLimited:
		if o.Sub == subSender {
			return 0
		}
	case fleet.ClassTransportFailure, fleet.ClassServerError:
		return min(j.retryAfter(), CooldownMax)
	default:
		return 0
	}
	rest := j.retryAfter()
	if rest <= 0 {
		rest = dataHint(data, 0)
	}
	if rest <= 0 {
		rest = textHint(message)
	}
	if rest <= 0 {
		rest = j.resetHeader()
	}
	if o.Sub == fleet.SubQuota {
		if o.Code != nil && *o.Code == infuraDayUsed && !j.q.Now.IsZero() {
			now := j.q.Now.UTC()
			return now.Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now)
		}
		// A short hint beside a used-up allowance is the front's habit.
		return min(max(rest, CooldownQuota), quotaMax)
	}
	if rest <= 0 {
		return CooldownDefault
	}
	return min(rest, CooldownMax)
}

// retryAfter reads the Retry-After header, seconds or a date. A date counts
// from the answer's own Date, so that a wrong clock here does not matter.
func (j *judge) retryAfter() time.Duration {
	s := strings.TrimSpace(header(j.a, "Retry-After"))
	if s == "" {
		return 0
	}
	if d, ok := seconds(s, time.Second); ok {
		return d
	}
	at, ok := httpDate(s)
	if !ok {
		return 0
	}
	now, ok := httpDate(header(j.a, "Date"))
	if !ok {
		now = j.q.Now
	}
	if now.IsZero() {
		return 0
	}
	return max(at.Sub(now), 0)
}

// resetHeader reads the rate-limit headers, where nothing is left: seconds, or
// a Unix time if the number is too large for seconds.
func (j *judge) resetHeader() time.Duration {
	for _, name := range []string{"Ratelimit-Reset", "X-Ratelimit-Reset", "X-Rate-Limit-Reset"} {
		d, ok := seconds(header(j.a, name), time.Second)
		if !ok {
			continue
		}
		if d < 30*24*time.Hour {
			return d
		}
		if !j.q.Now.IsZero() {
			return max(time.Unix(int64(d/time.Second), 0).Sub(j.q.Now), 0)
		}
	}
	return 0
}

// httpDate reads the three forms of RFC 9110.
func httpDate(s string) (time.Time, bool) {
	for _, layout := range []string{"Mon, 02 Jan 2006 15:04:05 GMT", time.RFC1123Z, time.RFC850, time.ANSIC} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// seconds reads a number of units; a negative or absurd one is none.
func seconds(s string, unit time.Duration) (time.Duration, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || !(f >= 0 && f < 1e10) {
		return 0, false
	}
	if limit := 250 * 365 * 24 * time.Hour; f*float64(unit) > float64(limit) {
		return limit, true
	}
	return time.Duration(f * float64(unit)), true
}

// dataHint looks for a wait among the members of an error's data.
func dataHint(raw json.RawMessage, depth int) time.Duration {
	if len(raw) == 0 || raw[0] != '{' || depth > 3 {
		return 0
	}
	it := iter{b: raw}
	for it.next() {
		name := strings.Trim(normalise(string(it.name())), " ")
		switch name {
		case "backoff seconds", "retry after", "retry after seconds", "retry after s", "retry in", "try again in", "wait seconds", "backoff", "retry delay", "wait":
			if d := hintValue(it.val, time.Second); d > 0 {
				return d
			}
		case "retry after ms", "retry after millis", "backoff ms", "try again in ms", "retry after milliseconds", "retry in ms", "wait ms":
			if d := hintValue(it.val, time.Millisecond); d > 0 {
				return d
			}
		default:
			if d := dataHint(it.val, depth+1); d > 0 {
				return d
			}
		}
	}
	return 0
}

func hintValue(raw json.RawMessage, unit time.Duration) time.Duration {
	s, ok := unquote(raw)
	if !ok {
		s = string(raw)
	}
	if d, ok := seconds(s, unit); ok {
		return d
	}
	if d, err := time.ParseDuration(strings.TrimSpace(s)); err == nil && d > 0 {
		return d
	}
	return textDuration(strings.ToLower(s))
}

// textHint looks for "retry in 10s" and its kin in a message.
func textHint(message string) time.Duration {
	s := strings.ToLower(message[:min(len(message), matchMax)])
	for _, lead := range []string{"retry in", "retry after", "again in", "again after", "wait", "back off for", "backoff", "reset in", "resets in"} {
		if _, rest, ok := strings.Cut(s, lead); ok {
			if d := textDuration(rest); d > 0 {
				return d
			}
		}
	}
	return 0
}

// textDuration reads a number and its unit at the start of a text.
func textDuration(s string) time.Duration {
	s = strings.TrimLeft(s, " :=\"'")
	s = strings.TrimPrefix(s, "for ")
	n := 0
	for n < len(s) && n < 12 && (s[n] >= '0' && s[n] <= '9' || s[n] == '.') {
		n++
	}
	if n == 0 {
		return 0
	}
	unit := time.Second
	rest := strings.TrimLeft(s[n:], " ")
	switch {
	case strings.HasPrefix(rest, "ms"), strings.HasPrefix(rest, "milli"):
		unit = time.Millisecond
	case strings.HasPrefix(rest, "block"):
		return 0
	case strings.HasPrefix(rest, "m"):
		unit = time.Minute
	case strings.HasPrefix(rest, "h"):
		unit = time.Hour
	}
	d, _ := seconds(strings.TrimRight(s[:n], "."), unit)
	return d
}
