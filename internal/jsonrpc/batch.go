package jsonrpc

import (
	"bytes"
	"fmt"
	"slices"

	"example.com/rpctop/internal/fleet"
)

// batch judges the answer to a batch, member by member; lone says that an
// object came instead of an array.
func (j *judge) batch(envs []envelope, lone bool) Verdict {
	if len(j.q.Members) == 0 {
		return j.loose(envs, lone)
	}
	items := make([]Item, len(j.q.Members))
	found := make([]int, len(items)) // index into envs, -1 none, -2 two that differ
	for i := range items {
		items[i].ID = j.q.Members[i].ID
		found[i] = -1
	}
	byID := make(map[string]int, len(items))
	for i, it := range items {
		byID[string(it.ID)] = i
	}
	foreign := 0
	var whole *Verdict // an error that speaks for every member without an answer
	for n := range envs {
		i := memberOf(items, byID, envs[n].id)
		switch {
		case i < 0 && envs[n].isError() && unreadID(envs[n].id):
			v := j.whole(envs[n])
			whole = &v
		case i < 0:
			foreign++
		case found[i] == -1:
			found[i] = n
		case found[i] >= 0 && !sameAnswer(envs[found[i]], envs[n]):
			found[i] = -2
		}
		// One object for all, or one refusal of the batch under the first id.
		if i >= 0 && envs[n].isError() && whole == nil {
			if v := j.whole(envs[n]); lone || v.Outcome.Class == fleet.ClassNodeLimit && v.Outcome.Sub == subBatch {
				whole = &v
			}
		}
	}
	missing := 0
	for i := range items {
		switch n := found[i]; {
		case n >= 0 && !(lone && whole != nil):
			q := j.q.Members[i]
			if q.Now.IsZero() {
				q.Now = j.q.Now
			}
			sub := judge{q: &q, a: j.a}
			items[i].Verdict = sub.single(envs[n])
		case n == -2:
			items[i].Verdict = j.malformed(subBatch, "two answers to one id")
		case whole != nil:
			items[i].Verdict = *whole
		default:
			missing++
			items[i].Verdict = j.malformed(subBatch, "no answer in the batch")
		}
	}
	v := worst(items)
	v.Items = items
	switch {
	case lone:
		v.note("single object for a batch")
	case foreign > 0:
		v.note(fmt.Sprintf("%d answers nobody asked for", foreign))
	}
	if missing > 0 && v.Outcome.Class == fleet.ClassMalformed {
		v.Outcome.Message = fmt.Sprintf("%d of %d batch answers missing", missing, len(items))
	}
	return v
}

// memberOf gives the index of the member with that id, or -1. Only an id that is
// written in an unusual way is compared with every member.
func memberOf(items []Item, byID map[string]int, id []byte) int {
	if id == nil {
		return -1
	}
	if i, ok := byID[string(id)]; ok {
		return i
	}
	if !bytes.ContainsAny(id, `.\`) || len(items) > 1000 {
		return -1
	}
	return slices.IndexFunc(items, func(it Item) bool { return it.ID != nil && sameID(it.ID, id) })
}

// whole judges an error that is about the batch as such.
func (j *judge) whole(env envelope) Verdict {
	q := Question{Method: MethodBatch, Client: j.q.Client, Now: j.q.Now}
	sub := judge{q: &q, a: j.a}
	return sub.rpcError(env)
}

// loose judges an answer to a batch whose members are not known.
func (j *judge) loose(envs []envelope, lone bool) Verdict {
	if len(envs) == 0 {
		return j.malformed(subBatch, "empty batch answer")
	}
	items := make([]Item, len(envs))
	for i, env := range envs {
		items[i].ID = env.id
		q := Question{Client: j.q.Client, Now: j.q.Now}
		if lone {
			q.Method = MethodBatch
		}
		sub := judge{q: &q, a: j.a}
		if !env.answers() {
			items[i].Verdict = j.malformed(subNoResult, "neither result nor error")
		} else {
			items[i].Verdict = sub.single(env)
		}
	}
	v := worst(items)
	if v.Items = items; lone {
		if v.Outcome.OK() {
			v = j.malformed(subBatch, "single object for a batch")
		}
		v.note("single object for a batch")
	}
	return v
}

// sameAnswer reports whether two answers to one id say the same.
func sameAnswer(a, b envelope) bool {
	return bytes.Equal(a.result, b.result) && bytes.Equal(a.err, b.err)
}

// gravity orders classes: that of the gravest member is the batch's.
var gravity = []fleet.Class{
	fleet.ClassWrongChain, fleet.ClassRemoteDenial, fleet.ClassRateLimited, fleet.ClassMalformed,
	fleet.ClassServerError, fleet.ClassStale, fleet.ClassNodeLimit, fleet.ClassStateUnavailable,
	fleet.ClassUnsupported, fleet.ClassNotYetVisible, fleet.ClassTxRejected, fleet.ClassBadRequest,
	fleet.ClassDeterministicRevert, fleet.ClassTxKnown, fleet.ClassOK,
}

// worst makes the verdict on the whole from those on its members: the class and
// what may be tried from the gravest, faults and rests from all.
func worst(items []Item) Verdict {
	rank := func(c fleet.Class) int {
		if i := slices.Index(gravity, c); i >= 0 {
			return i
		}
		return len(gravity)
	}
	v := items[0].Verdict
	failover, charge, rest, note := false, false, v.Cooldown, ""
	for _, it := range items {
		if rank(it.Verdict.Outcome.Class) < rank(v.Outcome.Class) {
			v = it.Verdict
		}
		failover = failover || it.Verdict.Failover
		charge = charge || it.Verdict.Charge
		rest = max(rest, it.Verdict.Cooldown)
		if note == "" {
			note = it.Verdict.Nonconforming
		}
	}
	v.Result, v.Revert = nil, nil
	v.Failover, v.Charge, v.Cooldown, v.Nonconforming = failover, charge, rest, note
	return v
}
