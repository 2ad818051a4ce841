package config

import (
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"example.com/rpctop/internal/admission"
	"example.com/rpctop/internal/fleet"
)

// What holds where the file is silent.
const (
	DefaultTimeout   = 4 * time.Second    // of one attempt
	DefaultPerDay    = 10_000             // probe calls per endpoint that is not local
	DefaultBlockTime = 12 * time.Second   // of a chain that is not in the table
	DefaultListen    = "127.0.0.1:8745"   // the proxy's address
	DefaultKeepRaw   = 7 * 24 * time.Hour // raw rows of the history
	maxProbePause    = time.Hour          // longest pace that can be set by hand
	maxSource        = 256 << 10          // bytes of a configuration file
	maxSecretFile    = 64 << 10           // bytes of a ${file:PATH}
	maxLines         = 10_000             // of a configuration file: the YAML parser\'s time grows with their square
)

// Config is a validated configuration. It is not changed after it was parsed.
type Config struct {
	File       string     // as it was named; "" if there is no file
	Chains     []Chain    // in the file's order, at least one from a file
	Recoveries []Recovery // in the file's order
	Limits     admission.Limits
	Policy     fleet.Policy
	Proxy      Proxy
	OnAlarm    []string // argv; nil: nobody is called
	Store      Store
	Warnings   []Warning // sorted by position
}

// Default is a configuration without chains: what holds when URLs are given on
// the command line.
func Default() *Config {
	return &Config{
		Policy: fleet.DefaultPolicy(),
		Proxy:  Proxy{Listen: DefaultListen, ForwardHeaders: defaultForward()},
		Store:  Store{KeepRaw: DefaultKeepRaw},
	}
}

// Chain is one chain and who serves it.
type Chain struct {
	Name      string // unique
	ChainID   uint64 // unique, never 0
	BlockTime time.Duration
	Genesis   fleet.Hash // zero: not configured
	Lag       Lag
	Endpoints []Endpoint // in the file's order; names unique within the chain
	Watches   []Watch
}

// Lag replaces the derived bounds. Zero: derived; else Soft < Hard.
type Lag struct{ Soft, Hard time.Duration }

// Endpoint is one URL and how it may be used.
type Endpoint struct {
	Name     string
	URL      Secret
	Host     string // of the URL, without the port; may be shown
	Local    bool   // a loopback or private address, or a name that can only mean one
	Operator string // who runs it; by default the host's registrable domain
	Tier     int    // 0 serves first
	Offset   time.Duration
	Headers  map[string]Secret // by name as written; nil: none
	Timeout  time.Duration
	Limits   admission.Limits
	Probe    Probe
	Expanded []Secret // what ${…} stood for in URL and headers: secret even alone
}

// RevealHeaders gives the headers themselves, for the door.
func (e Endpoint) RevealHeaders() map[string]string {
	h := make(map[string]string, len(e.Headers))
	for k, v := range e.Headers {
		h[k] = v.Reveal()
	}
	return h
}

// Probe is the pace of probing: at most one of the two is set. Both zero: an
// endpoint of one's own, probed at its chain's pace.
type Probe struct {
	PerDay int64         // budget of calls
	Every  time.Duration // pause between rounds, set by hand
}

// Watch is an allowance that is looked after.
type Watch struct {
	Name                  string // unique within the chain
	Token, Owner, Spender common.Address
	Required              *big.Int // in the token's smallest unit; nil: not given
}

// Proxy is the programs' face.
type Proxy struct {
	Listen         string // host:port
	Token          Secret // "": none; always set when Listen is not loopback
	Allow          []string
	Origins        []string
	ForwardHeaders []string // lower case
}

// Store is the history's housekeeping.
type Store struct {
	KeepRaw time.Duration // raw rows older than this are pruned
	Group   string        // group of the files of a system unit; "": none
}

// Recovery is a configured approve and retry.
type Recovery struct {
	Name   string
	Chain  string         // a configured chain's name
	Preset string         // "": the target is given by To with Data, or with ABI, Method and Args
	To     common.Address // of the target call; zero: the preset's
	ABI    string
	Method string
	Args   []any  // strings as written, and lists of them; the ABI knows the types
	Data   []byte // call data
	Value  *big.Int

	From    common.Address
	Token   common.Address // zero: the preset's
	Spender common.Address // zero: the target's To

	Required Required
	Signer   Signer
	Approve  Approve
	Fees     Fees
}

// Required says where the required amount comes from.
type Required struct {
	From   string // "revert", "call" or "amount"
	Call   string // a view such as deposit(), asked at To
	To     common.Address
	Amount *big.Int
}

// Signer says who signs: exactly one way.
type Signer struct {
	Kind     string // "keystore", "external", "offline", "env"
	Keystore string // path of the key file
	External Secret // URL or socket
	Env      string // name of the variable that holds a raw key
}

// Approve bounds what is approved. Amounts are in the token's smallest unit.
type Approve struct {
	Policy      string   // "exact", "target", "unlimited"
	Amount      *big.Int // of the policy target
	Max         *big.Int // nil: the operator is asked
	ZeroFirst   string   // "ask", "auto", "never"
	MaxApproves int      // 1 or 2
}

// Fees bounds what is paid, in wei. Nil and 0: not given, and `--yes` refused.
type Fees struct {
	MaxFeePerGas *big.Int
	MaxCost      *big.Int
	TargetGas    uint64
}
