package main

import (
	"bytes"
	"context"
	"net/http"
	"testing"

	"go.uber.org/goleak"
)

func TestALeaderThatStopsLeavesNothingBehind(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent()) // other tests run chains whose last goroutines have no end
	a, dir := appOnFolder(t)
	cfg, err := a.loadConfig()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Proxy.Listen = anyPort
	ctx, cancel := context.WithCancel(t.Context())
	l, err := a.lead(ctx, cfg, dir, "serve")
	if err != nil || l == nil {
		t.Fatal(l, err)
	}
	if err := l.openGateway(ctx, cfg, "serve"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- l.run(ctx) }()
	// A program is answered: nobody can be reached, and it is told so.
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, l.url(), bytes.NewReader([]byte(`{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}`)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Close = true
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	if resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("HTTP %d with no endpoint that can be reached, want 503", resp.StatusCode)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	// The lead is free again.
	again, err := a.lead(t.Context(), cfg, dir, "serve")
	if err != nil || again == nil {
		t.Fatalf("the lead is not free: %v", err)
	}
	if err := again.close(); err != nil {
		t.Error(err)
	}
}
