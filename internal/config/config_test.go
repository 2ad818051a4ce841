package config

import (
	"errors"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/go-cmp/cmp"

	"example.com/rpctop/internal/admission"
	"example.com/rpctop/internal/fleet"
)

// equalBig compares amounts; a nil one equals nil alone.
var equalBig = cmp.Comparer(func(a, b *big.Int) bool {
	return a == b || a != nil && b != nil && a.Cmp(b) == 0
})

func ether(n int64) *big.Int {
	return new(big.Int).Mul(big.NewInt(n), new(big.Int).Exp(big.NewInt(10), big.NewInt(18), nil))
}

func load(t *testing.T, path string) *Config {
	t.Helper()
	c, err := Load(path, testEnv)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func parse(t *testing.T, src string) *Config {
	t.Helper()
	c, err := Parse("c.yaml", []byte(src), testEnv)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// problems gives what is wrong with a source, in one text.
func problems(t *testing.T, src string) string {
	t.Helper()
	_, err := Parse("c.yaml", []byte(src), testEnv)
	var list *Errors
	if !errors.As(err, &list) {
		t.Fatalf("want *Errors, got %v", err)
	}
	return err.Error()
}

const oneChain = "chains: {gnosis: {chain_id: 100, endpoints: [{name: a, url: \"http://127.0.0.1:8545\"}]}}\n"

func TestAFullConfigurationIsReadAsWritten(t *testing.T) {
	c := load(t, "testdata/full.yaml")
	var (
		token   = common.HexToAddress("0xEddd81E0792E764501AaE206EB432399a0268DB5")
		spender = common.HexToAddress("0xFbcfBa2D11a431554eF523b085D7f13F13A00B00")
		file    = Secret("f1leT0ken" + canary)
		limits  = admission.Limits{
			RPS: 10, Burst: 20, InFlight: 8, PerDay: 200_000, PerMonth: 5_000_000,
			Units: map[string]int64{"eth_call": 26, "*": 20},
		}
		slower = limits
	)
	slower.RPS = 5
	genesis, err := fleet.ParseHash("0x4f1dd23188aab3a76b463e4af801b52b1248ef073c648cbdc4c9333d3da79756")
	if err != nil {
		t.Fatal(err)
	}
	policy := fleet.DefaultPolicy()
	policy.ServeDegraded, policy.StickyRatio, policy.BreakerRun = "never", 1.1, 4
	want := &Config{
		File: "testdata/full.yaml",
		Chains: []Chain{{
			Name: "gnosis", ChainID: 100, BlockTime: 5 * time.Second, Genesis: genesis,
			Lag: Lag{5 * time.Second, 30 * time.Second},
			Endpoints: []Endpoint{
				{
					Name: "official", URL: "https://rpc.gnosischain.com", Host: "rpc.gnosischain.com", Operator: "gnosis",
					Timeout: DefaultTimeout, Probe: Probe{PerDay: DefaultPerDay},
				},
				{
					Name: "drpc", URL: "https://gnosis.drpc.org/d" + canary, Host: "gnosis.drpc.org", Operator: "drpc",
					Tier: 1, Offset: 50 * time.Millisecond, Timeout: 2500 * time.Millisecond, Limits: limits,
					Headers:  map[string]Secret{"X-Token": "t" + canary, "X-Dollar": "a${b}", "X-File": file},
					Probe:    Probe{PerDay: 20_000},
					Expanded: []Secret{"d" + canary, "t" + canary, file},
				},
				{
					Name: "own", URL: "http://10.0.0.7:8545", Host: "10.0.0.7", Local: true, Operator: "10.0.0.7",
					Timeout: DefaultTimeout, Limits: limits,
				},
				{
					Name: "by-hand", URL: "https://rpc.example.co.uk", Host: "rpc.example.co.uk", Operator: "example.co.uk",
					Timeout: DefaultTimeout, Limits: slower, Probe: Probe{Every: 2 * time.Second},
				},
			},
			Watches: []Watch{{Name: "registration", Token: token, Owner: token, Spender: spender, Required: ether(100)}},
		}, {
			Name: "dev", ChainID: 1337, BlockTime: time.Second,
			Endpoints: []Endpoint{{
				Name: "node", URL: "http://localhost:8545", Host: "localhost", Local: true, Operator: "localhost", Timeout: DefaultTimeout,
			}},
		}},
		Recoveries: []Recovery{{
			Name: "register-cg", Chain: "gnosis", Preset: presetContextGraph, From: token, Token: token,
			Args:     []any{[]any{token.Hex()}, "1", "2"},
			Required: Required{From: "revert"},
			Signer:   Signer{Kind: "keystore", Keystore: filepath.Join("testdata", "keys/UTC--1")},
			Approve:  Approve{Policy: "exact", Max: ether(200), ZeroFirst: "ask", MaxApproves: 1},
			Fees:     Fees{MaxFeePerGas: big.NewInt(5e9), MaxCost: big.NewInt(2e16), TargetGas: 900_000},
		}, {
			Name: "other", Chain: "dev", From: token, Token: token, To: spender,
			Data: []byte{0x73, 0xe9, 0xea, 0x27}, Value: big.NewInt(1e15),
			Required: Required{From: "call", Call: "deposit()", To: spender},
			Signer:   Signer{Kind: "external", External: "http://127.0.0.1:8550"},
			Approve:  Approve{Policy: "target", Amount: ether(100), ZeroFirst: "auto", MaxApproves: 2},
		}},
		Limits: admission.Limits{RPS: 50, InFlight: 64},
		Policy: policy,
		Proxy: Proxy{
			Listen: "0.0.0.0:8745", Token: file, Allow: []string{"debug_traceCall"},
			Origins: []string{"https://app.example.org"}, ForwardHeaders: []string{"traceparent", "x-request-id"},
		},
		OnAlarm: []string{"page-me", "rpctop"},
		Store:   Store{KeepRaw: 168 * time.Hour, Group: "rpctop"},
	}
	c.Warnings = nil
	if diff := cmp.Diff(want, c, equalBig); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

func TestWhatTheFileIsSilentAboutHasTheDocumentedDefault(t *testing.T) {
	c := parse(t, oneChain)
	want := Default()
	want.File, want.Chains = "c.yaml", c.Chains
	if diff := cmp.Diff(want, c, equalBig); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
	if c.Policy != fleet.DefaultPolicy() || c.Chains[0].BlockTime != 5*time.Second {
		t.Errorf("policy %+v, block time %s", c.Policy, c.Chains[0].BlockTime)
	}
}

func TestTheExampleIsValidAndWarnsOfNothing(t *testing.T) {
	c := parse(t, Example())
	if len(c.Chains) != 1 || len(c.Chains[0].Endpoints) != 3 || len(c.Warnings) != 0 {
		t.Errorf("chains %+v, warnings %v", c.Chains, c.Warnings)
	}
}

func TestTheExamplesRemarksAreValidOnceFilledIn(t *testing.T) {
	// A commented line of the example is "# key: value"; prose is not.
	src := Example()
	for _, key := range []string{"block_time", "lag", "timeout", "probe", "offset", "limits", "headers", "allow", "origins", "forward_headers", "on_alarm"} {
		src = strings.ReplaceAll(src, "# "+key+":", key+":")
	}
	src = strings.ReplaceAll(src, "${file:drpc.token}", "${TOKEN}")
	c := parse(t, src)
	if e := c.Chains[0].Endpoints[2]; e.Limits.Units["*"] != 20 || e.Offset != 50*time.Millisecond || len(c.OnAlarm) != 2 {
		t.Errorf("not all was taken: %+v", c)
	}
}

func TestWarningsNameWhatIsProbablyNotMeant(t *testing.T) {
	const two = `chains: {x: {chain_id: 100, endpoints: [{name: a, url: "https://a.drpc.org"}, {name: b, url: "%s"}]}}`
	tests := []struct {
		name, src, want string
	}{
		{"an unknown block time is assumed", `chains: {x: {chain_id: 99, endpoints: [{name: a, url: "http://h"}]}}`,
			"c.yaml:1:24: warning: the block time of chain id 99 is not known, 12s is assumed; set block_time"},
		{"a key that stands in the file", strings.Replace(two, "%s", "https://b.example.org/v2/0a1b2c3d4e5f6a7b8c9d", 1),
			"c.yaml:1:94: warning: what looks like a key stands in the file; keep it outside: ${NAME} or ${file:PATH}"},
		{"one operator for all endpoints", strings.Replace(two, "%s", "https://b.drpc.org", 1),
			"c.yaml:1:40: warning: all endpoints of chain `x` have the operator `drpc.org`: none can confirm another; set operator, or add an endpoint of somebody else"},
		{"a key from the environment is where it belongs", strings.Replace(two, "%s", "https://b.example.org/${DRPC_KEY}", 1), ""},
		{"a single endpoint needs no second operator", oneChain, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, w := range parse(t, tt.src).Warnings {
				got = append(got, w.String())
			}
			if s := strings.Join(got, "\n"); s != tt.want {
				t.Errorf("got  %s\nwant %s", s, tt.want)
			}
		})
	}
}

func TestAFileThatOthersCanReadIsWarnedOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, []byte(oneChain), 0o600); err != nil {
		t.Fatal(err)
	}
	if c := load(t, path); len(c.Warnings) != 0 {
		t.Errorf("0600 warns: %v", c.Warnings)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	c := load(t, path)
	if len(c.Warnings) != 1 || c.Warnings[0].String() != path+": warning: every user of this machine can read it; chmod o-r" {
		t.Errorf("0644: %v", c.Warnings)
	}
}

func TestAFileThatIsNotThereIsToldApartFromAWrongOne(t *testing.T) {
	_, err := Load(filepath.Join(t.TempDir(), "none.yaml"), testEnv)
	var list *Errors
	if !errors.Is(err, fs.ErrNotExist) || errors.As(err, &list) {
		t.Errorf("got %v", err)
	}
	if _, err := Load(t.TempDir(), testEnv); !errors.Is(err, errNotRegular) {
		t.Errorf("a folder: %v", err)
	}
}

func TestSpecsCarryThePaceAndNoURL(t *testing.T) {
	c := load(t, "testdata/full.yaml")
	specs := c.Specs(func(url string, headers map[string]string) string {
		if headers["X-Token"] != "" && (headers["X-Token"] != "t"+canary || !strings.Contains(url, canary)) {
			t.Errorf("the fingerprint is made of %q, %v", url, headers)
		}
		return "f"
	})
	got := specs[0].Endpoints
	want := []fleet.EndpointSpec{
		{Name: "official", Operator: "gnosis", Every: 14_400, PerDay: 10_000, Timeout: 4_000, Fingerprint: "f"},
		{Name: "drpc", Operator: "drpc", Tier: 1, Offset: 50_000, Every: 7_200, PerDay: 20_000, Timeout: 2_500, Fingerprint: "f"},
		{Name: "own", Operator: "10.0.0.7", Local: true, Every: 2_500, Timeout: 4_000, Fingerprint: "f"},
		{Name: "by-hand", Operator: "example.co.uk", Every: 2_000, Timeout: 4_000, Fingerprint: "f"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
	if s := specs[0]; s.LagSoft != 5_000 || s.LagHard != 30_000 || s.BlockTime != 5_000 || s.Genesis.IsZero() {
		t.Errorf("chain: %+v", s)
	}
}

func TestTheFingerprintFollowsWhatDecidesAndNoSecret(t *testing.T) {
	base := parse(t, oneChain).Fingerprint()
	tests := []struct {
		name, old, new string
		same           bool
	}{
		{"the same file again", "", "", true},
		{"another path of the URL", ":8545", ":8545/other", true},
		{"another host", "127.0.0.1", "127.0.0.2", false},
		{"another name", "name: a", "name: b", false},
		{"another chain id", "100", "10", false},
		{"another policy", "}}\n", "}}\npolicy: {attempts: 4}\n", false},
		{"another limit", "}]}}", ", limits: {rps: 5}}]}}", false},
		{"another place to listen", "}}\n", "}}\nproxy: {listen: \"127.0.0.1:1\"}\n", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := parse(t, strings.Replace(oneChain, tt.old, tt.new, 1)).Fingerprint()
			if (got == base) != tt.same {
				t.Errorf("%s and %s: same %v, want %v", base, got, got == base, tt.same)
			}
		})
	}
}
