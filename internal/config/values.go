package config

import (
	"encoding/hex"
	"math/big"
	"strconv"
	"strings"
	"unicode"

	"github.com/ethereum/go-ethereum/common"

	"example.com/rpctop/internal/fleet"
)

// amount reads an amount in the smallest unit, exactly: digits, at most one
// point, at most one exponent, and no fraction left. nil if n is nil or wrong.
func (p *reader) amount(n *node, what string) *big.Int {
	s, ok := p.text(n, what)
	if !ok {
		return nil
	}
	v, problem := parseAmount(s)
	if problem != "" {
		p.failf(n.pos, `write a whole number of the smallest unit, such as "100e18"`, "%s `%s` %s", what, tame(s), problem)
	}
	return v
}

// fee reads a price in wei, with the unit gwei or wei, or an amount.
func (p *reader) fee(n *node, what string) *big.Int {
	s, ok := p.text(n, what)
	if !ok {
		return nil
	}
	number := s
	if g, isGwei := strings.CutSuffix(s, "gwei"); isGwei {
		number = strings.TrimRight(g, " ") + "e9"
		if strings.ContainsAny(g, "eE") {
			number = "?"
		}
	} else if w, isWei := strings.CutSuffix(s, "wei"); isWei {
		number = strings.TrimRight(w, " ")
	}
	v, problem := parseAmount(number)
	if problem != "" {
		p.failf(n.pos, "write 5gwei, or a whole number of wei, such as \"0.02e18\"", "%s `%s` %s", what, tame(s), problem)
	}
	return v
}

// maxExponent is that of 2^256-1; beyond it only zero would fit.
const maxExponent = 77

// parseAmount gives the exact value, or what is wrong with the text.
func parseAmount(s string) (v *big.Int, problem string) {
	if strings.HasPrefix(s, "-") {
		return nil, "is negative"
	}
	const no = "is not an amount"
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(s), "e")
	exp := 0
	if hasExponent {
		e, err := strconv.ParseUint(exponent, 10, 16)
		if err != nil {
			return nil, no
		}
		if e > maxExponent {
			return nil, "is above 2^256-1"
		}
		exp = int(e)
	}
	whole, fraction, hasPoint := strings.Cut(mantissa, ".")
	digits := whole + fraction
	notDigit := func(r rune) bool { return r < '0' || r > '9' }
	if whole == "" || hasPoint && fraction == "" || strings.ContainsFunc(digits, notDigit) {
		return nil, no
	}
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > exp {
		return nil, "is not a whole number"
	}
	digits = strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return new(big.Int), ""
	}
	if len(digits)+exp-len(fraction) > maxExponent+1 {
		return nil, "is above 2^256-1"
	}
	v, _ = new(big.Int).SetString(digits+strings.Repeat("0", exp-len(fraction)), 10)
	if v.BitLen() > 256 {
		return nil, "is above 2^256-1"
	}
	return v, ""
}

// address reads an address; one in mixed case must carry a right checksum. The
// zero address is refused: nobody's token, owner or spender has it.
func (p *reader) address(n *node, what string) common.Address {
	s, ok := p.text(n, what)
	if !ok {
		return common.Address{}
	}
	digits, prefixed := strings.CutPrefix(s, "0x")
	b, err := hex.DecodeString(digits)
	if !prefixed || err != nil || len(b) != common.AddressLength {
		p.failf(n.pos, "write 0x and 40 hex digits", "%s is not an address", what)
		return common.Address{}
	}
	a := common.BytesToAddress(b)
	mixed := digits != strings.ToLower(digits) && digits != strings.ToUpper(digits)
	switch {
	case a == common.Address{}:
		p.failf(n.pos, "", "%s is the zero address", what)
	case mixed && a.Hex() != s:
		p.failf(n.pos, "a digit may be wrong; if none is, it is written "+a.Hex(), "%s has a wrong checksum", what)
		return common.Address{}
	}
	return a
}

// hash reads a block hash.
func (p *reader) hash(n *node, what string) fleet.Hash {
	s, ok := p.text(n, what)
	if !ok {
		return fleet.Hash{}
	}
	h, err := fleet.ParseHash(s)
	if err != nil {
		p.failf(n.pos, "write 0x and 64 hex digits", "%s is not a hash", what)
	} else if h.IsZero() {
		p.failf(n.pos, "leave it out if it is not known", "%s is the zero hash", what)
	}
	return h
}

// bytes reads call data.
func (p *reader) bytes(n *node, what string) []byte {
	s, ok := p.text(n, what)
	if !ok {
		return nil
	}
	digits, prefixed := strings.CutPrefix(s, "0x")
	b, err := hex.DecodeString(digits)
	if !prefixed || err != nil || len(b) < 4 {
		p.failf(n.pos, "write 0x, the selector, and the arguments in hex", "%s is not call data", what)
		return nil
	}
	return b
}

// printable reports whether s is free of control and formatting characters.
func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar })
}
