package jsonrpc

import (
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"strings"
)

// selector is the first four bytes of the keccak of a signature.
type selector [4]byte

// selectorOf gives the selector of revert bytes; zero if they are too short.
func selectorOf(data []byte) (s selector) {
	if len(data) >= 4 {
		copy(s[:], data)
	}
	return s
}

// role says what an argument means to a recovery.
type role uint8

const (
	roleNone role = iota
	roleToken
	roleSpender
	roleHas
	roleNeeds
)

// knownError is a row of the table of errors: signature and selector agree (a
// test computes the keccak), roles and recovery are for allowances alone.
type knownError struct {
	selector uint32
	name     string
	types    []string // address, uint256, uint8, bytes4, bytes32, bool, string
	roles    []role
	recovery Recovery
}

var errorList = []knownError{
	{0x7000ca77, "TooLowAllowance", []string{"address", "uint256", "uint256"}, []role{roleToken, roleHas, roleNeeds}, RecoveryStated},
	{0x40eb1605, "TooLowAllowance", []string{"address", "uint256"}, []role{roleToken, roleHas}, RecoveryNeedUnproven},
	{0x0aff60cd, "TooLowAllowance", []string{"uint256"}, []role{roleHas}, RecoveryTokenUnproven},
	{0xfb8f41b2, "ERC20InsufficientAllowance", []string{"address", "uint256", "uint256"}, []role{roleSpender, roleHas, roleNeeds}, RecoveryTokenUnproven},
	{0x7ccb6bac, "TooLowBalance", []string{"address", "uint256", "uint256"}, nil, RecoveryNever},
	{0x90b8ec18, "TransferFailed", nil, nil, RecoveryNever},
	{0xe450d38c, "ERC20InsufficientBalance", []string{"address", "uint256", "uint256"}, nil, RecoveryNever},
	{0x94280d62, "ERC20InvalidSpender", []string{"address"}, nil, RecoveryNever},
	{0xe602df05, "ERC20InvalidApprover", []string{"address"}, nil, RecoveryNever},
	{0x96c6fd1e, "ERC20InvalidSender", []string{"address"}, nil, RecoveryNever},
	{0xec442f05, "ERC20InvalidReceiver", []string{"address"}, nil, RecoveryNever},
	{0x5274afe7, "SafeERC20FailedOperation", []string{"address"}, nil, RecoveryNever},
	{0x13be252b, "InsufficientAllowance", nil, nil, RecoveryTokenUnproven},
	{0xf96fb071, "InsufficientAllowance", []string{"uint256"}, []role{roleHas}, RecoveryTokenUnproven},
	{0xf4d678b8, "InsufficientBalance", nil, nil, RecoveryNever},
	{0x7939f424, "TransferFromFailed", nil, nil, RecoveryNever},
	{0x118cdaa7, "OwnableUnauthorizedAccount", []string{"address"}, nil, RecoveryNever},
	{0xd93c0665, "EnforcedPause", nil, nil, RecoveryNever},
	{0x08c379a0, "Error", []string{"string"}, nil, RecoveryNever},
	{0x4e487b71, "Panic", []string{"uint256"}, nil, RecoveryNever},
}

// knownErrors is errorList by selector.
var knownErrors = func() map[selector]knownError {
	m := make(map[selector]knownError, len(errorList))
	for _, e := range errorList {
		var s selector
		binary.BigEndian.PutUint32(s[:], e.selector)
		m[s] = e
	}
	return m
}()

func (e *knownError) signature() string { return e.name + "(" + strings.Join(e.types, ",") + ")" }

// decode reads the arguments, and the reason of the two errors that Solidity
// itself raises. Bytes that are too short, too long or no value of their type
// give no arguments: nothing is filled in.
func (e *knownError) decode(b []byte) (args []string, reason string) {
	if len(e.types) == 1 && e.types[0] == "string" {
		s, ok := decodeString(b)
		if !ok {
			return nil, ""
		}
		return []string{s}, s
	}
	if len(b) != 32*len(e.types) {
		return nil, ""
	}
	args = make([]string, 0, len(e.types))
	for i, t := range e.types {
		v, ok := decodeWord(t, b[32*i:32*i+32])
		if !ok {
			return nil, ""
		}
		args = append(args, v)
	}
	if e.name == "Panic" {
		reason = panicMeaning(args[0])
	}
	return args, reason
}

func decodeWord(typ string, w []byte) (string, bool) {
	switch typ {
	case "address":
		return "0x" + hex.EncodeToString(w[12:]), allZero(w[:12])
	case "uint256":
		return new(big.Int).SetBytes(w).String(), true
	}
	return "0x" + hex.EncodeToString(w), true
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// decodeString reads the single dynamic argument of Error(string).
func decodeString(b []byte) (string, bool) {
	if len(b) < 64 || new(big.Int).SetBytes(b[:32]).Cmp(big.NewInt(32)) != 0 || !allZero(b[32:56]) {
		return "", false
	}
	n := binary.BigEndian.Uint64(b[56:64])
	if n > uint64(len(b)-64) {
		return "", false
	}
	return shortText(b[64 : 64+n]), true
}

func panicMeaning(code string) string {
	switch code {
	case "1":
		return "assertion failed"
	case "17":
		return "arithmetic overflow"
	case "18":
		return "division by zero"
	case "33":
		return "value of no such enum"
	case "34":
		return "storage byte array badly encoded"
	case "49":
		return "pop of an empty array"
	case "50":
		return "array index out of bounds"
	case "65":
		return "too much memory"
	case "81":
		return "call of an empty function pointer"
	}
	return "panic " + code
}
