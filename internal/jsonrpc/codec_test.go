package jsonrpc

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRequestsAreWrittenToTheLetter(t *testing.T) {
	b, err := AppendRequest([]byte("x"), 7, "eth_getBlockByNumber", "latest", false)
	if want := `x{"jsonrpc":"2.0","id":7,"method":"eth_getBlockByNumber","params":["latest",false]}`; err != nil || string(b) != want {
		t.Errorf("%s %v", b, err)
	}
	if b, err = AppendRequest(nil, 1, "eth_chainId"); err != nil || !strings.HasSuffix(string(b), `"params":[]}`) {
		t.Errorf("%s %v", b, err)
	}
	if _, err = AppendRequest(nil, 1, "eth_call", make(chan int)); err == nil {
		t.Error("a channel was encoded")
	}
	b, err = AppendBatch(nil, []Call{{ID: 1, Method: "a"}, {ID: 2, Method: "b", Params: json.RawMessage(`[1]`)}})
	if err != nil || !json.Valid(b) || strings.Count(string(b), `"id"`) != 2 {
		t.Errorf("%s %v", b, err)
	}
	for _, bad := range []json.RawMessage{json.RawMessage(`"x"`), json.RawMessage(`[1`), json.RawMessage(`[1],"method":"b"`)} {
		if b, err = AppendBatch([]byte("kept"), []Call{{Params: bad}}); err == nil || string(b) != "kept" {
			t.Errorf("params %s: %s %v", bad, b, err)
		}
	}
	if _, err = AppendBatch(nil, nil); err == nil {
		t.Error("an empty batch was written")
	}
}

func TestQuantitiesAreReadExactlyOrNotAtAll(t *testing.T) {
	for _, tt := range []struct {
		raw, want string
		note      bool
	}{
		{`"0x0"`, "0", false}, {`"0x12d687"`, "1234567", false}, {`"0x12D687"`, "1234567", true}, {`"0X1"`, "1", true},
		{`"0x0000000000006050"`, "24656", true}, {`524323`, "524323", true}, {`0`, "0", true},
		{`9007199254740993`, "9007199254740993", true}, // 2^53 + 1: a float would lose it
		{`"0xffffffffffffffffff"`, "4722366482869645213695", false},
		{`"0x"`, "", false}, {`"10"`, "", false}, {`""`, "", false}, {`null`, "", false}, {`true`, "", false}, {`-1`, "", false},
		{`1.0`, "", false}, {`1e2`, "", false}, {`"0xg"`, "", false}, {`" 0x1"`, "", false}, {`"0x1 "`, "", false}, {`"-0x1"`, "", false},
		{`"0x-1"`, "", false}, {`"0x_1"`, "", false}, {`{}`, "", false}, {`[]`, "", false}, {``, "", false},
	} {
		v, note, err := ParseQuantity(json.RawMessage(tt.raw))
		got := ""
		if err == nil {
			got = v.String()
		}
		if got != tt.want || (note != "") != tt.note {
			t.Errorf("%s: %q, nonconforming %q, %v", tt.raw, got, note, err)
		}
	}
	if _, err := ParseUint64(json.RawMessage(`"0x10000000000000000"`)); err == nil {
		t.Error("2^64 fits 64 bits")
	}
	if n, err := ParseUint64(json.RawMessage(`"0xffffffffffffffff"`)); err != nil || n != 1<<64-1 {
		t.Errorf("2^64-1: %d %v", n, err)
	}
}

func TestABlockIsReadWholeOrNotAtAll(t *testing.T) {
	h, err := ParseBlock(json.RawMessage(block64))
	if err != nil || h.Number != 100 || h.Time != 0x692c2220 || h.Hash.IsZero() || h.Parent.IsZero() {
		t.Errorf("%+v %v", h, err)
	}
	for _, missing := range []string{"number", "hash", "parentHash", "timestamp"} {
		raw := strings.Replace(block64, `"`+missing+`"`, `"x"`, 1)
		if h, err := ParseBlock(json.RawMessage(raw)); err == nil || h.Number != 0 {
			t.Errorf("without %s: %+v %v", missing, h, err)
		}
	}
	for _, raw := range []string{"null", `"0x1"`, "[]", "", "{"} {
		if _, err := ParseBlock(json.RawMessage(raw)); err == nil {
			t.Errorf("%q is a block", raw)
		}
	}
}
