package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/rpctop/internal/fleet"
	"example.com/rpctop/internal/jsonrpc"
	"example.com/rpctop/internal/report"
)

// classifyMost is the largest body that classify reads, in bytes.
const classifyMost = 32 << 20

type classifyFlags struct {
	method, request string
	headers         []string
	status          int
	chainID         uint64
	json            bool
}

func (a *app) classifyCommand() *cobra.Command {
	var f classifyFlags
	cmd := &cobra.Command{
		Use:   "classify --method M --status N < BODY",
		Short: "Say what rpctop makes of an endpoint's answer",
		Long: `classify judges one answer, read from standard input, as the door would. With
--request FILE, which holds the request that was asked, ids are checked too; for
a batch the method is "batch".`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.classify(f) },
	}
	cmd.Flags().StringVar(&f.method, "method", "", "the method that was asked, or batch")
	cmd.Flags().IntVar(&f.status, "status", 200, "HTTP status")
	cmd.Flags().StringArrayVar(&f.headers, "header", nil, "a header of the answer, `'K: V'`; may be repeated")
	cmd.Flags().StringVar(&f.request, "request", "", "`file` with the request that was asked")
	cmd.Flags().Uint64Var(&f.chainID, "chain-id", 0, "expected chain id; 0: not checked")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

func (a *app) classify(f classifyFlags) error {
	q, err := f.question()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	ans := jsonrpc.Answer{Status: f.status, Header: map[string][]string{}}
	for _, h := range f.headers {
		k, v, ok := strings.Cut(h, ":")
		if !ok {
			return exit(exitUsage, "--header %q is not of the form 'Name: value'", fleet.SanitizeMax(k, 64))
		}
		k = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(k))
		ans.Header[k] = append(ans.Header[k], strings.TrimSpace(v))
	}
	if ans.Body, err = io.ReadAll(io.LimitReader(a.stdin, classifyMost+1)); err != nil {
		return fmt.Errorf("read the answer from standard input: %w", err)
	}
	if len(ans.Body) > classifyMost {
		ans.Body, ans.Fault = nil, jsonrpc.FaultResponseCap
	}
	v := verdictOf(jsonrpc.Classify(q, ans))
	if f.json {
		return printJSON(a.stdout, struct {
			Version int `json:"version"`
			verdict
		}{report.FormatVersion, v})
	}
	_, err = fmt.Fprint(a.stdout, v.text())
	return err
}

// question is what was asked, from the flags and the request's file.
func (f classifyFlags) question() (jsonrpc.Question, error) {
	q := jsonrpc.Question{Method: f.method, ChainID: f.chainID, Now: time.Now()}
	if f.request == "" {
		if f.method == "" {
			return q, errors.New("classify needs --method, or --request with the request that was asked")
		}
		return q, nil
	}
	b, err := os.ReadFile(f.request)
	if err != nil {
		return q, fmt.Errorf("read the request: %w", err)
	}
	type member struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '[' {
		var members []member
		if err := json.Unmarshal(b, &members); err != nil {
			return q, fmt.Errorf("the request in %s is no JSON-RPC batch: %w", f.request, err)
		}
		q.Method = jsonrpc.MethodBatch
		for _, m := range members {
			q.Members = append(q.Members, jsonrpc.Question{Method: m.Method, ID: m.ID, Params: m.Params, ChainID: f.chainID, Now: q.Now})
		}
		return q, nil
	}
	var m member
	if err := json.Unmarshal(b, &m); err != nil {
		return q, fmt.Errorf("the request in %s is no JSON-RPC request: %w", f.request, err)
	}
	if f.method != "" && f.method != m.Method {
		return q, fmt.Errorf("--method %s is not the method of the request in %s, %s", f.method, f.request, fleet.SanitizeMax(m.Method, 64))
	}
	q.Method, q.ID, q.Params = m.Method, m.ID, m.Params
	return q, nil
}

// verdict is the JSON of `classify --json`.
type verdict struct {
	Class         fleet.Class     `json:"class"`
	Sub           string          `json:"sub"`
	Origin        fleet.Origin    `json:"origin"`
	Code          *int64          `json:"code"`
	Message       string          `json:"message"`
	Failover      bool            `json:"failover"`
	Charge        bool            `json:"charge_endpoint"`
	RetrySame     bool            `json:"retry_same_endpoint"`
	CooldownMS    int64           `json:"cooldown_ms"`
	Nonconforming string          `json:"nonconforming"`
	Rule          string          `json:"rule"`
	Revert        *verdictRevert  `json:"revert"`
	Items         []verdictOfItem `json:"items"`
}

type verdictRevert struct {
	Selector  string   `json:"selector"`
	Name      string   `json:"name"`
	Args      []string `json:"args"`
	Data      string   `json:"data"`
	Reason    string   `json:"reason"`
	LooksLike string   `json:"looks_like"`
}

type verdictOfItem struct {
	ID json.RawMessage `json:"id"`
	verdict
}

func verdictOf(v jsonrpc.Verdict) verdict {
	out := verdict{Class: v.Outcome.Class, Sub: v.Outcome.Sub, Origin: v.Outcome.Origin, Code: v.Outcome.Code, Message: v.Outcome.Message,
		Failover: v.Failover, Charge: v.Charge, RetrySame: v.RetrySame, CooldownMS: v.Cooldown.Milliseconds(),
		Nonconforming: v.Nonconforming, Rule: v.Rule}
	if r := v.Revert; r != nil {
		out.Revert = &verdictRevert{Selector: r.Selector, Name: r.Name, Args: r.Args, Reason: r.Reason, LooksLike: r.LooksLike}
		if len(r.Data) > 0 {
			out.Revert.Data = fmt.Sprintf("0x%x", r.Data)
		}
	}
	for _, it := range v.Items {
		out.Items = append(out.Items, verdictOfItem{it.ID, verdictOf(it.Verdict)})
	}
	return out
}

// text is the verdict for people.
func (v verdict) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "class     %s", v.Class)
	if v.Sub != "" {
		fmt.Fprintf(&b, " (%s)", v.Sub)
	}
	fmt.Fprintf(&b, ", origin %s\n", orDash(v.Origin.String()))
	if v.Code != nil {
		fmt.Fprintf(&b, "code      %d\n", *v.Code)
	}
	if v.Message != "" {
		fmt.Fprintf(&b, "message   %s\n", v.Message)
	}
	yes := map[bool]string{true: "yes", false: "no"}
	fmt.Fprintf(&b, "failover  %s, charged to the endpoint: %s, the same endpoint again: %s", yes[v.Failover], yes[v.Charge], yes[v.RetrySame])
	if v.CooldownMS > 0 {
		fmt.Fprintf(&b, ", after %s", time.Duration(v.CooldownMS)*time.Millisecond)
	}
	b.WriteByte('\n')
	if v.Nonconforming != "" {
		fmt.Fprintf(&b, "accepted although %s\n", v.Nonconforming)
	}
	if r := v.Revert; r != nil {
		fmt.Fprintf(&b, "revert    %s %s(%s) %s\n", r.Selector, r.Name, strings.Join(r.Args, ", "), r.Reason)
	}
	for _, it := range v.Items {
		fmt.Fprintf(&b, "item %s\n  %s\n", it.ID, strings.ReplaceAll(strings.TrimSpace(it.text()), "\n", "\n  "))
	}
	return b.String()
}
