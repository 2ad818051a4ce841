package devnet

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"
)

// callEvery is the pace of the program that KeepCalling plays.
const callEvery = 150 * time.Millisecond

// What a program asks for in turn.
var calls = [][]byte{
	[]byte(`{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}`),
	[]byte(`{"jsonrpc":"2.0","id":2,"method":"eth_getBlockByNumber","params":["latest",false]}`),
	[]byte(`{"jsonrpc":"2.0","id":3,"method":"eth_getBalance","params":["0x0000000000000000000000000000000000000001","latest"]}`),
	[]byte(`{"jsonrpc":"2.0","id":4,"method":"eth_call","params":[{"to":"0x0000000000000000000000000000000000000004","data":"0x2a"},"latest"]}`),
}

// KeepCalling plays a program that relies on the endpoint at url, one request
// after the other, until ctx ends. What it is answered does not matter to it;
// an empty url is nobody to call.
func KeepCalling(ctx context.Context, url string) {
	if url == "" {
		return
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
	pace := time.NewTicker(callEvery)
	defer pace.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-pace.C:
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(calls[n%len(calls)]))
		if err != nil {
			return
		}
		r.Header.Set("Content-Type", "application/json")
		if resp, err := client.Do(r); err == nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20)) // it only wants to be served
			_ = resp.Body.Close()
		}
	}
}
