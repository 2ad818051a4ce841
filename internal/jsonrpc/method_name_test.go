package jsonrpc

import (
	"fmt"
	"testing"

	"example.com/rpctop/internal/fleet"
)

func TestTheWordsOfAMethodsNameAreNoReason(t *testing.T) {
	for _, method := range []string{"eth_getProof", "eth_getLogs", "eth_getStorageAt", "eth_simulateV1", "debug_getRawHeader", "eth_getBlockReceipts", "eth_feeHistory", "trace_block", "eth_getHistoricalState"} {
		for _, text := range []string{"the method %s does not exist/is not available", "Method %s not found", "%s is not available", "%s not supported"} {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":%q}}`, fmt.Sprintf(text, method))
			v := Classify(Question{Method: method}, Answer{Status: 200, Body: []byte(body)})
			if v.Outcome.Class != fleet.ClassUnsupported || v.Outcome.Sub != fleet.SubMethod {
				t.Errorf("%s: %s(%s) by rule %q", body, v.Outcome.Class, v.Outcome.Sub, v.Rule)
			}
		}
	}
}
