package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	yaml "github.com/goccy/go-yaml"
)

func TestNoWayOfPrintingAConfigurationShowsASecret(t *testing.T) {
	c := load(t, "testdata/full.yaml")
	var logged strings.Builder
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("config", "c", c, "url", c.Chains[0].Endpoints[1].URL)
	slog.New(slog.NewTextHandler(&logged, nil)).Info("config", "c", c, "url", c.Chains[0].Endpoints[1].URL)
	asJSON, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	asYAML, err := yaml.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	specs, err := json.Marshal(c.Specs(nil))
	if err != nil {
		t.Fatal(err)
	}
	outputs := map[string]string{
		"json": string(asJSON), "yaml": string(asYAML), "log": logged.String(), "specs": string(specs),
		"warnings": fmt.Sprint(c.Warnings),
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		outputs[verb] = fmt.Sprintf(verb, *c)
		e := c.Chains[0].Endpoints[1]
		outputs[verb+" of an endpoint"] = fmt.Sprintf(verb, e)
		outputs[verb+" of a URL"] = fmt.Sprintf(verb, e.URL)
		outputs[verb+" of headers"] = fmt.Sprintf(verb, e.Headers)
	}
	inHex := fmt.Sprintf("%x", canary)
	for how, out := range outputs {
		if out == "" || strings.Contains(out, canary) || strings.Contains(strings.ToLower(out), inHex) {
			t.Errorf("%s shows a secret, or nothing:\n%s", how, out)
		}
	}
	if got := fmt.Sprint(c.Chains[0].Endpoints[1].URL); got != Hidden {
		t.Errorf("a secret prints as %q", got)
	}
	if got := c.Chains[0].Endpoints[1].RevealHeaders()["X-Token"]; got != "t"+canary {
		t.Errorf("the door gets %q", got)
	}
}

func TestWhatAVariableStandsForIsInNoErrorEvenWhenItIsWrong(t *testing.T) {
	for _, value := range []string{
		canary, "ftp://h/" + canary, "https://h:x" + canary + "/", "https://%zz" + canary, "https://h/ " + canary,
		"https://h/" + canary + "#x", "a\n" + canary, "wss://" + canary, "/" + canary + ".ipc",
	} {
		src := strings.Replace(oneChain, "http://127.0.0.1:8545\"", "${V}\", headers: {A: \"x\\n${V}\"}", 1) +
			"proxy: {token: \"${V}\\n\"}\nrecoveries: {r: {signer: {external: \"${V}\"}}}\n"
		_, err := Parse("c.yaml", []byte(src), func(string) (string, bool) { return value, true })
		if err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("value %q: %v", value, err)
		}
	}
}
