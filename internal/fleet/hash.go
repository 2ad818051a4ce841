package fleet

import (
	"encoding/hex"
	"fmt"
)

// Hash is a 32-byte block or transaction hash. The zero value means unknown.
type Hash [32]byte

// IsZero reports whether the hash is unknown.
func (h Hash) IsZero() bool { return h == Hash{} }

// String gives 0x and 64 hex digits.
func (h Hash) String() string { return "0x" + hex.EncodeToString(h[:]) }

// Short gives the first four bytes, for screens.
func (h Hash) Short() string { return "0x" + hex.EncodeToString(h[:4]) + "…" }

// MarshalText writes 0x and 64 hex digits, or nothing for the zero hash.
func (h Hash) MarshalText() ([]byte, error) {
	if h.IsZero() {
		return nil, nil
	}
	return []byte(h.String()), nil
}

// UnmarshalText reads what MarshalText writes.
func (h *Hash) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*h = Hash{}
		return nil
	}
	v, err := ParseHash(string(b))
	if err == nil {
		*h = v
	}
	return err
}

// ParseHash reads 0x and exactly 64 hex digits.
func ParseHash(s string) (Hash, error) {
	var h Hash
	if len(s) != 66 || s[0] != '0' || s[1]|0x20 != 'x' {
		return h, fmt.Errorf("hash %q: want 0x and 64 hex digits", SanitizeMax(s, 80))
	}
	if _, err := hex.Decode(h[:], []byte(s[2:])); err != nil {
		return h, fmt.Errorf("hash %q: %w", SanitizeMax(s, 80), err)
	}
	return h, nil
}
