package jsonrpc

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"example.com/rpctop/internal/fleet"
)

// ParseQuantity reads a quantity exactly. Padded or upper-case hex and plain
// JSON integers leave the value in no doubt: they are read, and nonconforming
// names the departure. A string without 0x could be decimal or hex, "0x" could
// be a forgotten value, null is no value: these are errors, never a number.
func ParseQuantity(raw json.RawMessage) (v *big.Int, nonconforming string, err error) {
	s, isString := unquote(raw)
	if !isString {
		return parseNumber(raw)
	}
	if len(s) < 2 || s[0] != '0' || s[1]|0x20 != 'x' {
		return nil, "", fmt.Errorf("quantity without 0x (%q)", fleet.SanitizeMax(s, 40))
	}
	digits := s[2:]
	switch {
	case digits == "":
		return nil, "", errors.New("empty quantity (0x)")
	case len(digits) > 1024:
		return nil, "", fmt.Errorf("quantity of %d digits", len(digits))
	case !isHex([]byte(digits)):
		return nil, "", fmt.Errorf("quantity with digits that are not hex (%q)", fleet.SanitizeMax(s, 40))
	case digits[0] == '0' && len(digits) > 1:
		nonconforming = "quantity with leading zeros"
	case s[1] == 'X' || digits != strings.ToLower(digits):
		nonconforming = "quantity in upper case"
	}
	v, ok := new(big.Int).SetString(digits, 16)
	if !ok {
		return nil, "", errors.New("quantity unreadable")
	}
	return v, nonconforming, nil
}

// parseNumber reads a JSON number as an integer, never through a float.
func parseNumber(raw json.RawMessage) (*big.Int, string, error) {
	if len(raw) == 0 || len(raw) > 400 || raw[0] < '0' || raw[0] > '9' {
		return nil, "", fmt.Errorf("quantity is %s", describe(raw))
	}
	v, ok := new(big.Int).SetString(string(raw), 10)
	if !ok {
		return nil, "", fmt.Errorf("quantity is no whole number (%q)", fleet.SanitizeMax(string(raw[:min(len(raw), 40)]), 40))
	}
	return v, "quantity as a JSON number", nil
}

// describe names the kind of a JSON value without repeating it.
func describe(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "missing"
	}
	switch raw[0] {
	case 'n':
		return "null"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case '-':
		return "a negative number"
	}
	return "a number"
}

// ParseUint64 reads a quantity that must fit 64 bits; it never wraps.
func ParseUint64(raw json.RawMessage) (uint64, error) {
	v, _, err := parseBits(raw, 64)
	if err != nil {
		return 0, err
	}
	return v.Uint64(), nil
}

func parseBits(raw json.RawMessage, bits int) (*big.Int, string, error) {
	v, note, err := ParseQuantity(raw)
	if err != nil {
		return nil, "", err
	}
	if v.BitLen() > bits {
		return nil, "", fmt.Errorf("quantity of %d bits does not fit %d", v.BitLen(), bits)
	}
	return v, note, nil
}

// ParseData reads a byte string: 0x and an even number of hex digits, "0x" for
// no bytes.
func ParseData(raw json.RawMessage) ([]byte, error) {
	s, ok := unquote(raw)
	if !ok {
		return nil, fmt.Errorf("data is %s", describe(raw))
	}
	if len(s) < 2 || s[0] != '0' || s[1]|0x20 != 'x' {
		return nil, fmt.Errorf("data without 0x (%q)", fleet.SanitizeMax(s, 40))
	}
	b, err := hex.DecodeString(s[2:])
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	return b, nil
}

// ParseHash reads a 32-byte hash.
func ParseHash(raw json.RawMessage) (fleet.Hash, error) {
	s, ok := unquote(raw)
	if !ok {
		return fleet.Hash{}, fmt.Errorf("hash is %s", describe(raw))
	}
	return fleet.ParseHash(s)
}

// ParseBlock reads number, hash, parent hash and timestamp from a block. null,
// a missing member or one that cannot be read is an error: a head is read whole
// or not at all.
func ParseBlock(raw json.RawMessage) (fleet.Head, error) {
	h, _, err := readBlock(raw, blockPlain)
	return h, err
}

type blockShape uint8

const (
	blockPlain   blockShape = iota
	blockPending            // number and hash may be null
)

// readBlock scans the members of a block that it needs and passes over the rest.
func readBlock(raw json.RawMessage, shape blockShape) (h fleet.Head, nonconforming string, err error) {
	if len(raw) == 0 || raw[0] != '{' {
		return h, "", fmt.Errorf("block is %s", describe(raw))
	}
	var number, hash, parent, stamp json.RawMessage
	it := iter{b: raw}
	for it.next() {
		switch string(it.key) {
		case "number":
			number = it.val
		case "hash":
			hash = it.val
		case "parentHash":
			parent = it.val
		case "timestamp":
			stamp = it.val
		}
	}
	if it.end < 0 {
		return h, "", errors.New("block is no JSON object")
	}
	pending := shape == blockPending
	fail := func(what string, err error) (fleet.Head, string, error) {
		return fleet.Head{}, "", fmt.Errorf("block %s: %w", what, err)
	}
	if !pending || number != nil && !isNull(number) {
		v, note, err := parseBits(number, 64)
		if err != nil {
			return fail("number", err)
		}
		h.Number, nonconforming = v.Uint64(), note
	}
	if !pending || hash != nil && !isNull(hash) {
		if h.Hash, err = ParseHash(hash); err != nil {
			return fail("hash", err)
		}
	}
	if h.Parent, err = ParseHash(parent); err != nil {
		return fail("parentHash", err)
	}
	v, note, err := parseBits(stamp, 64)
	if err != nil {
		return fail("timestamp", err)
	}
	h.Time = v.Uint64()
	if nonconforming == "" {
		nonconforming = note
	}
	return h, nonconforming, nil
}
