package config

import "time"

// known is what is known of a chain by its id alone.
type known struct {
	name      string
	blockTime time.Duration
}

var knownChains = map[uint64]known{
	1:        {"ethereum", 12 * time.Second},
	10:       {"optimism", 2 * time.Second},
	56:       {"bsc", 450 * time.Millisecond}, // since Fermi, January 2026
	100:      {"gnosis", 5 * time.Second},
	137:      {"polygon", 2 * time.Second},
	1337:     {"dev", time.Second},
	8453:     {"base", 2 * time.Second},
	10200:    {"chiado", 5 * time.Second},
	31337:    {"dev-31337", time.Second},
	42161:    {"arbitrum", 250 * time.Millisecond},
	84532:    {"base-sepolia", 2 * time.Second},
	11155111: {"sepolia", 12 * time.Second},
}

// KnownChain gives the usual name and block time of a chain id.
func KnownChain(id uint64) (name string, blockTime time.Duration, ok bool) {
	k, ok := knownChains[id]
	return k.name, k.blockTime, ok
}
