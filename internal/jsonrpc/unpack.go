package jsonrpc

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"example.com/rpctop/internal/fleet"
)

// unpackedMax bounds what a small packed body may become.
const unpackedMax = 64 << 20

var errTooLarge = errors.New("unpacked answer exceeds our own limit")

// unpack gives the plain body. The transport unpacks only what it asked for
// itself; a server may pack all the same, with the header or without it.
func unpack(a *Answer) ([]byte, error) {
	packed := len(a.Body) > 2 && a.Body[0] == 0x1f && a.Body[1] == 0x8b
	switch encoding := strings.ToLower(header(a, "Content-Encoding")); encoding {
	case "", "identity", "gzip", "x-gzip":
		if !packed {
			return a.Body, nil // unpacked by the transport, or never packed
		}
	default:
		if looksPlain(a.Body) {
			return a.Body, nil
		}
		return nil, fmt.Errorf("answer is packed as %s", fleet.SanitizeMax(encoding, 20))
	}
	r, err := gzip.NewReader(bytes.NewReader(a.Body))
	if err != nil {
		return nil, fmt.Errorf("unpack gzip: %w", err)
	}
	body, err := io.ReadAll(io.LimitReader(r, unpackedMax+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("unpack gzip: %w", err)
	case len(body) > unpackedMax:
		return nil, errTooLarge
	}
	return body, nil
}

func looksPlain(b []byte) bool {
	i := skipSpace(b, 0)
	return i == len(b) || b[i] == '{' || b[i] == '[' || b[i] == '<'
}

// header gives the first value of a header by its canonical name.
func header(a *Answer, name string) string {
	if v := a.Header[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}
