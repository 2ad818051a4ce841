package jsonrpc

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestRequestsAreTakenApartVerbatim(t *testing.T) {
	in, batch, err := ReadIncoming([]byte(" {\"id\" : 1.50 ,\"params\":[ 1 , {\"a\":2} ],\n\"m\\u0065thod\":\"eth_call\",\"jsonrpc\":\"2.0\",\"x\":[[]]} \n"), 64, 10)
	if err != nil || batch || len(in) != 1 {
		t.Fatalf("%v %v %v", in, batch, err)
	}
	if r := in[0]; string(r.ID) != "1.50" || r.Method != "eth_call" || string(r.Params) != `[ 1 , {"a":2} ]` || r.Problem != "" {
		t.Errorf("%+v", r)
	}
	in, batch, err = ReadIncoming([]byte(`[{"method":"a"},{"id":null,"method":"b","params":null},[],{"id":{},"method":"c"},{"id":5}]`), 64, 10)
	if err != nil || !batch || len(in) != 5 {
		t.Fatalf("%v %v %v", in, batch, err)
	}
	if in[0].ID != nil || in[0].Problem != "" || string(in[1].ID) != "null" || in[1].Params != nil || in[1].Problem != "" {
		t.Errorf("a notification and a null id: %+v", in[:2])
	}
	for i, id := range map[int]string{2: "null", 3: "null", 4: "5"} {
		if in[i].Problem == "" || string(in[i].ID) != id {
			t.Errorf("member %d: %+v", i, in[i])
		}
	}
}

func TestBodiesOverTheLimitsAreTold(t *testing.T) {
	nest := func(n int) string {
		return `{"id":1,"method":"a","params":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}`
	}
	for _, c := range []struct {
		name, body string
		want       error
	}{
		{"as deep as allowed", nest(8), nil},
		{"one deeper", nest(9), ErrTooDeep},
		{"a batch adds a level", "[" + nest(7) + "]", nil},
		{"and no more", "[" + nest(8) + "]", ErrTooDeep},
		{"as many as allowed", "[1,2,3]", nil},
		{"one more", "[1,2,3,4]", ErrTooMany},
		{"cut off", `{"id":1,"method":"a"`, ErrNotJSON},
		{"two bodies", `{} {}`, ErrNotJSON},
		{"deep and cut off", strings.Repeat("[", 9), ErrNotJSON},
		{"a deep array alone", strings.Repeat("[", 9) + strings.Repeat("]", 9), ErrTooDeep},
		{"nothing", " ", ErrNotJSON},
	} {
		if _, _, err := ReadIncoming([]byte(c.body), 8, 3); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestAnswersAreOpened(t *testing.T) {
	for _, c := range [][3]string{
		{`{"jsonrpc":"2.0","id":1,"result": [1, 2] }`, `[1, 2]`, ""},
		{`{"id":1,"error":null,"result":null}`, "null", ""},
		{`{"id":1,"error":{"code":3},"result":null}`, "", `{"code":3}`},
		{`<html>`, "", ""},
	} {
		if res, fail := Outer([]byte(c[0])); string(res) != c[1] || string(fail) != c[2] {
			t.Errorf("%s: %s %s", c[0], res, fail)
		}
	}
}

func FuzzReadIncoming(f *testing.F) {
	for _, s := range []string{`{"jsonrpc":"2.0","id":1,"method":"a","params":[]}`, `[{"id":"\u00e9"},1,[]]`, `[[[[[[`, `{"id":1e9}`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		in, _, err := ReadIncoming(b, 16, 50)
		if valid := json.Valid(b); errors.Is(err, ErrNotJSON) == valid && !errors.Is(err, ErrTooMany) {
			t.Fatalf("%q: %v, valid JSON %v", b, err, valid)
		}
		for _, r := range in {
			if r.ID != nil && !json.Valid(r.ID) || r.Params != nil && !json.Valid(r.Params) {
				t.Fatalf("%q: %+v", b, r)
			}
		}
	})
}
