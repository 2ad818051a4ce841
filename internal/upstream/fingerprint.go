package upstream

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"slices"
	"strconv"
)

// Fingerprint tells whether an endpoint's URL or headers have changed, without
// telling what they are: the first 16 bytes of an HMAC-SHA256, as 32 hex
// digits. Without the key nobody can try URLs against it.
func Fingerprint(key []byte, url string, header map[string]string) string {
	h := hmac.New(sha256.New, key)
	part := func(s string) { // with its length, so that no two lists read alike
		_, _ = io.WriteString(h, strconv.Itoa(len(s))+":"+s)
	}
	part(url)
	for _, k := range slices.Sorted(maps.Keys(header)) {
		part(k)
		part(header[k])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
