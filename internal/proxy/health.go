package proxy

import (
	"encoding/json"
	"net/http"
)

// health is what /healthz tells.
type health struct {
	Program string        `json:"program"`
	PID     int           `json:"pid"`
	Role    string        `json:"role"`
	Status  string        `json:"status"` // ok or unavailable
	Chains  []chainHealth `json:"chains,omitempty"`
}

// chainHealth is one chain of it.
type chainHealth struct {
	Name      string `json:"name"`
	ChainID   uint64 `json:"chain_id"`
	State     string `json:"state"` // ok, degraded, none, stalled, unknown
	Incumbent string `json:"incumbent"`
}

// healthz answers 200 while every chain has somebody who serves, else 503. Who
// has no token learns no more than that.
func (s *Server) healthz(w http.ResponseWriter, r *http.Request) {
	h := health{Program: program, PID: s.o.PID, Role: s.o.Role, Status: "ok"}
	for _, c := range s.o.Chains {
		one := chainHealth{Name: c.Name, ChainID: c.ID, State: "unknown"}
		for _, v := range s.o.Snapshot().Chains {
			if v.Name == c.Name {
				one.State, one.Incumbent = v.State, v.Incumbent
			}
		}
		if one.Incumbent == "" {
			h.Status = "unavailable"
		}
		h.Chains = append(h.Chains, one)
	}
	status := http.StatusOK
	if h.Status != "ok" {
		status = http.StatusServiceUnavailable
	}
	if !s.trusted(r) {
		h.Chains = nil
	}
	w.Header()["Content-Type"] = jsonType
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(h) // the client may have left
}
