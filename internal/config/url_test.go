package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestURLsOfTheCommandLineBecomeEndpoints(t *testing.T) {
	got, warnings, err := FromURLs([]string{
		"https://rpc.gnosischain.com",
		"https://gnosis.drpc.org/" + canary,
		"https://gnosis.drpc.org/?key=other",
		"http://127.0.0.1:8545",
		"http://[::1]:8545/",
		"http://user@GETH:8545",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []Endpoint{
		{Name: "rpc.gnosischain.com", Host: "rpc.gnosischain.com", Operator: "gnosischain.com", URL: "https://rpc.gnosischain.com", Probe: Probe{PerDay: DefaultPerDay}},
		{Name: "gnosis.drpc.org", Host: "gnosis.drpc.org", Operator: "drpc.org", URL: "https://gnosis.drpc.org/" + canary, Probe: Probe{PerDay: DefaultPerDay}},
		{Name: "gnosis.drpc.org-2", Host: "gnosis.drpc.org", Operator: "drpc.org", URL: "https://gnosis.drpc.org/?key=other", Probe: Probe{PerDay: DefaultPerDay}},
		{Name: "127.0.0.1-8545", Host: "127.0.0.1", Operator: "127.0.0.1", Local: true, URL: "http://127.0.0.1:8545"},
		{Name: "1--8545", Host: "::1", Operator: "::1", Local: true, URL: "http://[::1]:8545/"},
		{Name: "geth-8545", Host: "geth", Operator: "geth", Local: true, URL: "http://user@GETH:8545"},
	}
	for i := range want {
		want[i].Timeout = DefaultTimeout
		if !validName(got[i].Name) {
			t.Errorf("%q is not a name", got[i].Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
	var lines []string
	for _, w := range warnings {
		lines = append(lines, w.String())
	}
	const what = ": warning: what looks like a key can be seen by other users of this machine; hand URLs over on standard input: rpctop -"
	if diff := cmp.Diff([]string{
		"argument 2 (https://gnosis.drpc.org/•••)" + what,
		"argument 3 (https://gnosis.drpc.org/•••)" + what,
	}, lines); diff != "" {
		t.Errorf("warnings differ (-want +got):\n%s", diff)
	}
}

func TestWrongArgumentsAreToldAllAtOnceWithoutTheirSecrets(t *testing.T) {
	_, _, err := FromURLs([]string{
		"wss://h/" + canary, canary, "https://h/" + canary, "https://h/" + canary, "https://u:" + canary + "@h:0", "./geth.ipc", "", "https://h/a b",
	})
	if err == nil {
		t.Fatal("want an error")
	}
	want := strings.Join([]string{
		"argument 1 (wss://h/•••): wss:// is not supported by this version\n     = use the provider's http:// or https:// endpoint",
		"argument 2 (•••): it has no scheme\n     = write \"http://host:port/path\" or \"https://host/path\"",
		"argument 4 (https://h/•••): the same URL as argument 3\n     = give it once",
		"argument 5 (https://•••): its port is not between 1 and 65535\n     = write \"http://host:port/path\" or \"https://host/path\"",
		"argument 6 (•••): IPC paths are not supported by this version\n     = use the node's HTTP endpoint: http://127.0.0.1:8545",
		"argument 7 (•••): it is empty\n     = write \"http://host:port/path\" or \"https://host/path\"",
		"argument 8 (https://h/•••): it has blanks or control characters in it\n     = write \"http://host:port/path\" or \"https://host/path\"",
	}, "\n\n")
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

func TestHostsOfOnesOwnAreTold(t *testing.T) {
	tests := []struct {
		host  string
		local bool
	}{
		{"127.0.0.1", true}, {"127.8.8.8", true}, {"10.1.2.3", true}, {"172.16.0.1", true}, {"192.168.1.1", true},
		{"169.254.1.1", true}, {"::1", true}, {"fd00::1", true}, {"fe80::1", true}, {"::ffff:10.0.0.1", true},
		{"localhost", true}, {"node.localhost", true}, {"geth", true}, {"node.internal", true}, {"nas.local", true}, {"x.home.arpa", true},
		{"172.32.0.1", false}, {"8.8.8.8", false}, {"2001:db8::1", false}, {"rpc.example.org", false}, {"local.example.org", false},
	}
	for _, tt := range tests {
		if got := localHost(tt.host); got != tt.local {
			t.Errorf("%s: local %v, want %v", tt.host, got, tt.local)
		}
	}
}

func TestTheOperatorIsTheRegistrableDomain(t *testing.T) {
	tests := []struct{ host, want string }{
		{"rpc.gnosischain.com", "gnosischain.com"},
		{"a.b.c.drpc.org.", "drpc.org"},
		{"rpc.example.co.uk", "example.co.uk"},
		{"example.co", "example.co"},
		{"org.uk", "org.uk"},
		{"localhost", "localhost"},
		{"10.0.0.7", "10.0.0.7"},
		{"2001:db8::1", "2001:db8::1"},
	}
	for _, tt := range tests {
		if got := operatorOf(tt.host); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.host, got, tt.want)
		}
	}
}

func TestURLsAreShownAsHostsOnly(t *testing.T) {
	tests := []struct{ url, want string }{
		{"https://h.example.org", "https://h.example.org"},
		{"https://h.example.org/", "https://h.example.org/"},
		{"https://h.example.org:8545/v1", "https://h.example.org:8545/•••"},
		{"https://h?k=v", "https://h/•••"},
		{"https://h/${KEY}/x", "https://h/${KEY}•••"},
		{"https://h/v1/${KEY}", "https://h/•••${KEY}"},
		{"https://user:pw@h/", "https://•••"},
		{"https://user:p/w@h/", "https://•••"},
		{"https://h/https://inner/x", "https://h/•••"},
		{"Bearer https://h", "•••"},
		{"https://0a1b2c3d4e5f6a7b8c9d.h/", "https://•••"},
		{"https://${HOST}/x", "https://•••"},
	}
	for _, tt := range tests {
		if got := showURL(tt.url); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.url, got, tt.want)
		}
	}
}
