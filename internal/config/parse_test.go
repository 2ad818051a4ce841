package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestErrorsAreLocated(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"windows line ends and a byte order mark shift nothing", "\ufeff" + strings.ReplaceAll(oneChain+"\nstore: {keep_rw: 5h}\n", "\n", "\r\n"),
			"c.yaml:3:9: unknown key `keep_rw` in `store`\n   3 | store: {keep_rw: 5h}\n     |         ^\n     = did you mean `keep_raw`?"},
		{"columns count characters and not bytes", oneChain + `on_alarm: ["ü", {}]`,
			"c.yaml:2:17: an argument of `on_alarm` must be a single value, not a mapping\n   2 | on_alarm: [\"•••\", {}]\n     |                   ^"},
		{"bytes that are no text", "chains: 5\nx: \xff\xfe", "c.yaml:2:4: this is not UTF-8 text\n   2 | •••: •••\n     |      ^\n     = save it as UTF-8 text"},
		{"a second document", oneChain + "---\n" + oneChain,
			"c.yaml:3:1: a second document in the file\n   3 | chains: {gnosis: {chain_id: •••, endpoints: [{name: •••, url: \"http://127.0.0.1:8545\"}]}}\n     | ^\n     = keep one, and remove the line ---"},
		{"brackets without end", oneChain + "x: " + strings.Repeat("[", 5000),
			"c.yaml:2:68: nested too deep\n   2 | •••: " + strings.Repeat("[", 105) + "…\n     | " + strings.Repeat(" ", 69) + "^"},
		{"an alias of itself", oneChain + "limits: &l {rps: *l}",
			"c.yaml:2:18: an alias of something that is not defined before\n   2 | limits: •••{rps: •••}\n     |                  ^\n     = define it further up: &name"},
		{"the same wrong value through an alias is told once", strings.Replace(oneChain, "}]}}", ", limits: &l {rps: -1}}]}}", 1) + "limits: *l",
			"c.yaml:1:103: `rps` is out of range: -1\n   1 | chains: {gnosis: {chain_id: 100, endpoints: [{name: a, url: \"http://127.0.0.1:8545\", limits: •••{rps: -1}}]}}\n     |                                                                                                       ^\n     = write a number from 0.01 to 100000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := problems(t, tt.src); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestAFileOfAnotherKindIsNotToldToItsLastLine(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "x%d: 1\n", i)
	}
	got := problems(t, b.String())
	if n := strings.Count(got, "unknown key"); n < maxProblems-1 || n > maxProblems {
		t.Errorf("%d are told, want %d", n, maxProblems)
	}
	if !strings.HasSuffix(got, "and 701 more behind it") { // with that no chain is named
		t.Errorf("the rest is not counted: %s", got[len(got)-100:])
	}
	if got := problems(t, strings.Repeat("\n", maxLines+1)); !strings.Contains(got, "the file is too large") {
		t.Errorf("too many lines: %s", got)
	}
}

func TestAProxyThatOthersCanReachNeedsAToken(t *testing.T) {
	const token = `, token: "0123456789abcdef"`
	tests := []struct {
		listen   string
		loopback bool
	}{
		{"127.0.0.1:8745", true}, {"127.1.2.3:8745", true}, {"[::1]:8745", true}, {"localhost:8745", true}, {"127.0.0.1:0", true},
		{"0.0.0.0:8745", false}, {":8745", false}, {"[::]:8745", false}, {"10.0.0.1:8745", false}, {"myhost:8745", false},
	}
	for _, tt := range tests {
		t.Run(tt.listen, func(t *testing.T) {
			src := oneChain + `proxy: {listen: "` + tt.listen + `"`
			_, err := Parse("c.yaml", []byte(src+"}"), nil)
			if (err == nil) != tt.loopback {
				t.Errorf("without a token: %v", err)
			}
			if _, err := Parse("c.yaml", []byte(src+token+"}"), nil); err != nil {
				t.Errorf("with a token: %v", err)
			}
		})
	}
	for _, listen := range []string{"8745", "127.0.0.1", "127.0.0.1:99999", "127.0.0.1:x", "::1:8745", "[::1:8745", "a b:1"} {
		if got := problems(t, oneChain+`proxy: {listen: "`+listen+`"}`); !strings.Contains(got, "`listen` must be host:port") {
			t.Errorf("%s: %s", listen, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("")
	f.Add(oneChain)
	f.Add(Example())
	f.Add("limits: {rps: *x, <<: [1]}\n- - - ? : !!x &y |\n  z")
	f.Add("x: ${V}${file:}${\n\ty: \"\\z")
	const head = "# " + canary + "\nchains:\n  gnosis:\n    chain_id: 100\n    endpoints:\n      - name: a\n        url: https://h.example.org/" + canary +
		"?k=" + canary + "\n        headers: {K: '" + canary + "', L: 'hunter'}\n"
	f.Fuzz(func(t *testing.T, tail string) {
		if strings.Contains(tail, "file:") {
			t.Skip("would read files of the machine that fuzzes")
		}
		src := head + tail
		c, err := Parse("c.yaml", []byte(src), func(string) (string, bool) { return "v" + canary, true })
		if err == nil {
			if len(c.Chains) == 0 {
				t.Fatal("valid without a chain")
			}
			for _, w := range c.Warnings {
				if strings.Contains(w.String(), canary) {
					t.Fatalf("a secret in %s", w)
				}
			}
			return
		}
		var list *Errors
		if !errors.As(err, &list) || len(list.List) == 0 {
			t.Fatalf("want *Errors, got %v", err)
		}
		if strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), "'hunter'") {
			t.Fatalf("a secret in %s", err)
		}
		lines := strings.Split(src, "\n")
		last := Position{Line: 1, Column: 1}
		for _, p := range list.List {
			if p.Line < 1 || p.Line > len(lines) || p.Column < 1 || p.Column > len([]rune(lines[p.Line-1]))+1 {
				t.Fatalf("%s is outside of the file", p.Position)
			}
			if byPosition(last, p.Position) > 0 {
				t.Fatalf("%s comes after %s", p.Position, last)
			}
			if p.Caret < 1 || p.Caret > maxQuote+3 || strings.ContainsAny(p.Message+p.Hint+p.Quote, "\n\r\x1b") {
				t.Fatalf("cannot be shown: %+v", p)
			}
			last = p.Position
		}
	})
}
