package proxy

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"example.com/rpctop/internal/devnet"
	"example.com/rpctop/internal/engine"
	"example.com/rpctop/internal/failover"
	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/jsonrpc"
	"example.com/rpctop/internal/probe"
	"example.com/rpctop/internal/upstream"
)

// liveNet is a proxy over real nodes, with the engine and the probing of the
// program and no store: "a" serves, "b" is two blocks behind, "c" is level.
func liveNet(t *testing.T) (*devnet.Net, string, *http.Client) {
	t.Helper()
	n, err := devnet.Start(t.Context(), devnet.Options{Seed: 3, Manual: true, Fronts: []devnet.FrontSpec{
		{Name: "a", Operator: "op-a"}, {Name: "b", Operator: "op-b", Lag: 2}, {Name: "c", Operator: "op-c"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	spec := fleet.ChainSpec{Name: "main", ChainID: n.ChainID(), BlockTime: 1_000}
	var targets []upstream.Target
	for i, f := range n.Fronts() {
		spec.Endpoints = append(spec.Endpoints, fleet.EndpointSpec{Name: f.Name(), Operator: f.Operator(), Tier: i, Every: 100, Timeout: 4_000, Local: true})
		targets = append(targets, upstream.Target{ID: fleet.EndpointID{Chain: "main", Name: f.Name()}, URL: f.URL(), ChainID: n.ChainID()})
	}
	door, err := upstream.New(upstream.Options{Targets: targets})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(door.Close)
	e := engine.New(engine.Options{Lead: fleet.Lead{PID: 1, Role: "test"}, Config: fleet.Config{Policy: fleet.DefaultPolicy(), Seed: 1, Chains: []fleet.ChainSpec{spec}}})
	ctx, cancel := context.WithCancel(context.Background())
	p := probe.Start(ctx, probe.Options{Asker: door, Chains: []fleet.ChainSpec{spec}, Seed: 1, Sink: func(in fleet.Input) { e.Offer(in) }})
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		p.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	c := &failover.Caller{State: e.State, Asker: asker{door}, Now: time.Now, Note: engine.NewMeter(e.Offer)}
	s, err := New(Options{Chains: []Chain{{"main", n.ChainID()}}, Caller: c, State: e.State, Snapshot: e.Snapshot, Suspect: p.Suspect, Saw: c.Saw})
	if err != nil {
		t.Fatal(err)
	}
	_, url := serve(t, s)
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	await(t, "the chain is known", func() bool {
		ch := e.State().Chain("main")
		return ch.Ref != nil && ch.Incumbent == "a" && ch.Endpoint("b").Head != nil && ch.Endpoint("c").Head != nil
	})
	return n, url, &http.Client{Transport: tr, Timeout: 30 * time.Second}
}

// TestReadYourWrites runs a client against real nodes, one of them two blocks
// behind, while the first endpoint fails now and then: after its receipt, a
// client's nonce is never behind. The same client, asking the endpoints by
// turns itself, is told old nonces.
func TestReadYourWrites(t *testing.T) {
	rounds := 15
	if os.Getenv("RPCTOP_LONG") == "1" {
		rounds = 1_000
	}
	n, url, client := liveNet(t)
	if err := n.Front("a").Set(devnet.Fault{Kind: devnet.Status, Code: 503, Every: 5}); err != nil {
		t.Fatal(err)
	}
	sender := crypto.PubkeyToAddress(n.Faucet().PublicKey).Hex()
	ask := func(url, method, params string) (res, fail json.RawMessage) {
		t.Helper()
		g, err := post(t.Context(), client, url, question(method, params))
		if err != nil {
			t.Fatal(err)
		}
		return jsonrpc.Outer([]byte(g.body))
	}
	nonceAt := func(url string) (uint64, bool) {
		res, _ := ask(url, "eth_getTransactionCount", `["`+sender+`","latest"]`)
		n, err := jsonrpc.ParseUint64(res)
		return n, err == nil
	}
	stale, naive, failed, turn := 0, 0, 0, 0
	for i := range uint64(rounds) {
		params, hash := sign(t, n.Faucet(), n.ChainID(), i)
		if res, fail := ask(url, sendMethod, params); string(res) != `"`+hash+`"` {
			t.Fatalf("round %d: the send gave %s %s", i, res, fail)
		}
		if err := n.Mine(1); err != nil {
			t.Fatal(err)
		}
		await(t, "the receipt", func() bool {
			res, _ := ask(url, "eth_getTransactionReceipt", `["`+hash+`"]`)
			return len(res) > 4
		})
		for range 4 {
			switch got, ok := nonceAt(url); {
			case !ok:
				failed++
			case got <= i:
				stale++
			}
			turn++
			if got, ok := nonceAt(n.Fronts()[turn%len(n.Fronts())].URL()); ok && got <= i {
				naive++
			}
		}
	}
	t.Logf("%d rounds, %d reads: through the proxy %d stale and %d failed, by turns %d stale", rounds, 4*rounds, stale, failed, naive)
	if stale > 0 {
		t.Errorf("%d stale reads", stale)
	}
	if naive == 0 {
		t.Error("asking by turns was never stale: the test shows nothing")
	}
	if failed > rounds/5 {
		t.Errorf("%d of %d reads failed", failed, 4*rounds)
	}
}

// TestACutSendIsFoundOnRealNodes: the first endpoint passes the transaction on
// and cuts the connection.
func TestACutSendIsFoundOnRealNodes(t *testing.T) {
	n, url, client := liveNet(t)
	if err := n.Front("a").Set(devnet.Fault{Kind: devnet.SendCut}); err != nil {
		t.Fatal(err)
	}
	params, hash := sign(t, n.Faucet(), n.ChainID(), 0)
	g, err := post(t.Context(), client, url, question(sendMethod, params))
	if err != nil || g.result(t) != `"`+hash+`"` {
		t.Fatalf("%v %s", err, g.body)
	}
	if err := n.Mine(1); err != nil {
		t.Fatal(err)
	}
	await(t, "the receipt", func() bool {
		g, err := post(t.Context(), client, url, question("eth_getTransactionReceipt", `["`+hash+`"]`))
		return err == nil && g.status == 200 && len(g.result(t)) > 4
	})
}
