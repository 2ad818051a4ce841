package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"example.com/rpctop/internal/admission"
	"example.com/rpctop/internal/fleet"
)

// Specs gives what decisions need to know of the chains; no URL and no header
// is in it. fingerprint makes the endpoint's fingerprint from both; nil leaves
// it empty.
func (c *Config) Specs(fingerprint func(url string, headers map[string]string) string) []fleet.ChainSpec {
	specs := make([]fleet.ChainSpec, 0, len(c.Chains))
	for _, ch := range c.Chains {
		spec := fleet.ChainSpec{
			Name: ch.Name, ChainID: ch.ChainID, Genesis: ch.Genesis,
			BlockTime: millis(ch.BlockTime), LagSoft: millis(ch.Lag.Soft), LagHard: millis(ch.Lag.Hard),
			Endpoints: make([]fleet.EndpointSpec, 0, len(ch.Endpoints)),
		}
		for _, e := range ch.Endpoints {
			every, _ := e.ProbePlan(ch.BlockTime)
			es := fleet.EndpointSpec{
				Name: e.Name, Operator: e.Operator, Tier: e.Tier, Offset: fleet.MicrosOf(e.Offset),
				Local: e.Local, Every: millis(every), PerDay: e.Probe.PerDay, Timeout: millis(e.Timeout),
			}
			if fingerprint != nil {
				es.Fingerprint = fingerprint(e.URL.Reveal(), e.RevealHeaders())
			}
			spec.Endpoints = append(spec.Endpoints, es)
		}
		for _, w := range ch.Watches {
			spec.Watches = append(spec.Watches, w.spec())
		}
		specs = append(specs, spec)
	}
	return specs
}

func (w Watch) spec() fleet.WatchSpec {
	out := fleet.WatchSpec{Name: w.Name, Token: w.Token.Hex(), Owner: w.Owner.Hex(), Spender: w.Spender.Hex()}
	if w.Required != nil {
		out.Required = w.Required.String()
	}
	return out
}

// millis keeps a duration as whole milliseconds.
func millis(d time.Duration) fleet.Millis { return fleet.Millis(d.Milliseconds()) }

// Fingerprint tells two configurations apart by what decides: policy, limits,
// chains, endpoints by name and host, watches. No secret goes into it, so two
// files that differ in a key alone have the same one.
func (c *Config) Fingerprint() string {
	type extra struct {
		Hosts   []string
		Limits  []admission.Limits
		Watches []Watch
	}
	extras := make([]extra, len(c.Chains))
	for i, ch := range c.Chains {
		extras[i].Watches = ch.Watches
		for _, e := range ch.Endpoints {
			extras[i].Hosts = append(extras[i].Hosts, e.Host)
			extras[i].Limits = append(extras[i].Limits, e.Limits)
		}
	}
	// Only plain values are encoded (JSON sorts the keys of maps), so encoding
	// cannot fail.
	b, _ := json.Marshal(struct {
		Policy fleet.Policy
		Limits admission.Limits
		Specs  []fleet.ChainSpec
		Extras []extra
	}{c.Policy, c.Limits, c.Specs(nil), extras})
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}
