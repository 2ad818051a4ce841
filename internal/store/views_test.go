package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/rpctop/internal/fleet"
)

func TestTheViewsSpeakInNamesAndTimes(t *testing.T) {
	h := openHistory(t, t.TempDir(), Options{})
	e := fleet.EndpointID{Chain: "base", Name: "own"}
	h.Enqueue(fleet.Row{Seq: 1, At: day + 123, Input: fleet.Sample{
		Endpoint: e, Start: day + 23, Outcome: fleet.Outcome{Class: fleet.ClassOK, Origin: fleet.OriginNode, Status: 200},
		Timing: fleet.Timing{FirstByte: 99, Total: 100, Cold: true}, ChainID: "8453", ChainIDClass: fleet.ClassOK,
		Head: &fleet.Head{Number: 1<<64 - 1, Hash: fleet.Hash{0xab}, Time: 7},
	}}, nil, false)
	h.Enqueue(fleet.Row{Seq: 2, At: day + 123, Input: fleet.Sample{
		Endpoint: e, Start: day + 123, Outcome: fleet.Outcome{Class: fleet.ClassTransportFailure, Sub: "timeout", Origin: fleet.OriginTransport, Message: "no answer"},
	}}, nil, false)
	h.Enqueue(fleet.Row{Seq: 3, At: day + 1000, Input: fleet.Traffic{Endpoint: e}}, []fleet.Event{
		{Seq: 1, Row: 3, At: day + 1000, Kind: fleet.EventSwitch, Chain: "base", From: "own", To: "b", Class: fleet.ClassTransportFailure, Sub: "timeout", Reason: "down"},
	}, false)
	h.Enqueue(fleet.Row{Seq: 4, At: day + 1000, Input: fleet.Clock{Jump: -5}}, nil, false)
	flush(t, h)
	db := raw(t, h.Path())
	for _, c := range []struct{ query, want string }{
		{"SELECT chain || '/' || endpoint FROM endpoints_v", "base/own"},
		{"SELECT at || ' ' || start || ' ' || class || ' ' || origin FROM samples_v WHERE seq = 1", "2025-12-01T00:00:00.123Z 2025-12-01T00:00:00.023Z ok node"},
		{"SELECT number || ' ' || hash || ' ' || chain_id || cold || suspicion FROM samples_v WHERE seq = 1",
			"18446744073709551615 0xab00000000000000000000000000000000000000000000000000000000000000 845310"},
		{"SELECT class || '(' || sub || ') ' || message || coalesce(number, ' no head') FROM samples_v WHERE seq = 2", "transport-failure(timeout) no answer no head"},
		{"SELECT at || ' ' || kind || ' ' || from_name || ' ' || to_name || ' ' || class || ' ' || reason FROM events_v", "2025-12-01T00:00:01.000Z switch own b transport-failure down"},
		{"SELECT group_concat(kind || ' ' || body, '; ') FROM rows_v", `traffic (packed, 6 bytes); clock {"jump_ms":-5}`},
	} {
		var got string
		if err := db.QueryRow(c.query).Scan(&got); err != nil {
			t.Errorf("%s: %v", c.query, err)
		} else if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", c.query, diff)
		}
	}
}
