package jsonrpc

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
)

func TestSelectorsAreTheKeccakOfTheirSignatures(t *testing.T) {
	for _, e := range errorList {
		if got := binary.BigEndian.Uint32(crypto.Keccak256([]byte(e.signature()))); got != e.selector {
			t.Errorf("%s has selector %08x, the table says %08x", e.signature(), got, e.selector)
		}
		if len(e.roles) > len(e.types) {
			t.Errorf("%s has more roles than arguments", e.signature())
		}
	}
}

func revertOf(t *testing.T, errorMembers string) Verdict {
	t.Helper()
	return Classify(ask("eth_call", ""), Answer{Status: 200, Body: []byte(`{"jsonrpc":"2.0","id":1,"error":{` + errorMembers + `}}`)})
}

func TestRevertBytesAreFoundWhereverClientsPutThem(t *testing.T) {
	for name, members := range map[string]string{
		"geth":                      `"code":3,"message":"execution reverted","data":"` + hexTLA + `"`,
		"upper case":                `"code":3,"message":"execution reverted","data":"0x` + strings.ToUpper(hexTLA[2:]) + `"`,
		"Nethermind":                `"code":-32015,"message":"VM execution error.","data":"Reverted ` + hexTLA + `"`,
		"Reverted without 0x":       `"code":-32015,"message":"VM execution error.","data":"Reverted ` + hexTLA[2:] + `"`,
		"hardhat":                   `"code":-32603,"message":"Error: VM Exception while processing transaction: reverted","data":{"message":"x","txHash":"0x` + strings.Repeat("cc", 32) + `","data":"` + hexTLA + `"}`,
		"data.result":               `"code":-32000,"message":"VM Exception while processing transaction: revert","data":{"hash":"0x` + strings.Repeat("cc", 32) + `","result":"` + hexTLA + `"}`,
		"ganache 7":                 `"code":-32000,"message":"VM Exception while processing transaction: revert","data":{"hash":null,"programCounter":1,"result":"` + hexTLA + `","reason":"x","message":"revert"}`,
		"keyed by transaction hash": `"code":-32000,"message":"revert","data":{"0x` + strings.Repeat("cc", 32) + `":{"error":"revert","return":"` + hexTLA + `"}}`,
		"originalError in data":     `"code":-32603,"message":"Internal JSON-RPC error.","data":{"originalError":{"code":3,"data":"` + hexTLA + `","message":"execution reverted"}}`,
		"originalError in error":    `"code":-32603,"message":"Internal JSON-RPC error.","originalError":{"code":3,"data":"` + hexTLA + `"}`,
		"an inner error":            `"code":-32603,"message":"Internal error","data":{"error":{"data":{"data":"` + hexTLA + `"}}}`,
		"JSON in a string":          `"code":-32603,"message":"Internal error","data":"{\"error\":{\"data\":\"` + hexTLA + `\"}}"`,
		"in the message":            `"code":-32000,"message":"execution reverted: ` + hexTLA + `"`,
		"hardhat's return data":     `"code":-32603,"message":"reverted with an unrecognized custom error (return data: ` + hexTLA + `)"`,
		"anvil's custom error":      `"code":3,"message":"execution reverted: custom error 0x7000ca77: ` + hexTLA[10:] + `"`,
	} {
		t.Run(name, func(t *testing.T) {
			v := revertOf(t, members)
			r := v.Revert
			if v.Outcome.Class.String() != "deterministic-revert" || r == nil {
				t.Fatalf("%s, revert %v", v.Outcome.Evidence(), r)
			}
			want := []string{"0x1111111111111111111111111111111111111111", "0", "1"}
			if r.Name != "TooLowAllowance" || !slices.Equal(r.Args, want) || r.Recovery != RecoveryStated {
				t.Errorf("%s %q %s", r.Name, r.Args, r.Recovery)
			}
			if a, ok := r.Allowance(); !ok || a != (Allowance{Token: want[0], Has: "0", Needs: "1"}) {
				t.Errorf("allowance %+v %v", a, ok)
			}
		})
	}
}

func TestOnlyBytesProveAName(t *testing.T) {
	word := strings.Repeat("0", 63)
	for _, tt := range []struct {
		name, members string
		proven, looks string
		args          int
		recovery      Recovery
		reason        string
	}{
		{name: "a name in the text alone", members: `"code":-32603,"message":"reverted with custom error 'TooLowAllowance(\"0x11\", 0, 1)'"`, looks: "TooLowAllowance"},
		{name: "a token's words in the text alone", members: `"code":-32000,"message":"execution reverted: ERC20: insufficient allowance"`, looks: "erc20 insufficient allowance"},
		{name: "two arguments", members: `"code":3,"message":"execution reverted","data":"0x40eb1605` + word + `1` + word + `5"`, proven: "TooLowAllowance", args: 2, recovery: RecoveryNeedUnproven},
		{name: "one argument", members: `"code":3,"message":"execution reverted","data":"0x0aff60cd` + word + `5"`, proven: "TooLowAllowance", args: 1, recovery: RecoveryTokenUnproven},
		{name: "an address with dirty upper bytes", members: `"code":3,"message":"execution reverted","data":"0x7000ca77` + strings.Repeat("f", 64) + word + `0` + word + `1"`, proven: "TooLowAllowance"},
		{name: "too many bytes", members: `"code":3,"message":"execution reverted","data":"` + hexTLA + word + `0"`, proven: "TooLowAllowance"},
		{name: "a low balance is never recovered", members: `"code":3,"message":"execution reverted","data":"0x7ccb6bac` + word + `1` + word + `0` + word + `1"`, proven: "TooLowBalance", args: 3},
		{name: "a selector nobody knows", members: `"code":3,"message":"execution reverted","data":"0xdeadbeef"`},
		{name: "a panic", members: `"code":3,"message":"execution reverted","data":"0x4e487b71` + strings.Repeat("0", 62) + `11"`, proven: "Panic", args: 1, reason: "arithmetic overflow"},
		{name: "a string", members: `"code":3,"message":"execution reverted","data":"0x08c379a0` + strings.Repeat("0", 62) + `20` + strings.Repeat("0", 63) + `46e6f7065` + strings.Repeat("0", 56) + `"`, proven: "Error", args: 1, reason: "nope"},
		{name: "a string longer than its bytes", members: `"code":3,"message":"execution reverted","data":"0x08c379a0` + strings.Repeat("0", 62) + `20` + strings.Repeat("f", 64) + `6e6f7065"`, proven: "Error"},
		{name: "gas is no allowance", members: `"code":-32000,"message":"execution reverted: gas required exceeds allowance"`, looks: "exceeds allowance"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := revertOf(t, tt.members)
			var r Revert
			if v.Revert != nil {
				r = *v.Revert
			}
			if r.Name != tt.proven || r.LooksLike != tt.looks || len(r.Args) != tt.args || r.Recovery != tt.recovery || r.Reason != tt.reason {
				t.Errorf("%s: %+v", v.Outcome.Evidence(), r)
			}
			if _, ok := r.Allowance(); ok != (tt.recovery != RecoveryNever) {
				t.Errorf("allowance figures: %v", ok)
			}
		})
	}
}

func TestTheGasAllowanceIsNoTokenAllowance(t *testing.T) {
	v := Classify(ask("eth_estimateGas", ""), Answer{Status: 200, Body: []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"gas required exceeds allowance (0)"}}`)})
	if v.Revert != nil || v.Outcome.Class.String() != "node-limit" {
		t.Errorf("%s, %+v", v.Outcome.Evidence(), v.Revert)
	}
}

func TestDeepDataEndsSomewhere(t *testing.T) {
	deep := strings.Repeat(`{"data":`, 9000) + `"` + hexTLA + `"` + strings.Repeat(`}`, 9000)
	v := revertOf(t, `"code":3,"message":"execution reverted","data":`+deep)
	if v.Outcome.Class.String() != "deterministic-revert" || v.Revert != nil {
		t.Errorf("%s, %+v", v.Outcome.Evidence(), v.Revert)
	}
}
