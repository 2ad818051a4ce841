package store

import "time"

// run is the writer: it waits for a group, commits it, and repeats what
// failed. It ends when the history closes.
func (h *History) run() {
	defer close(h.done)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var deadline time.Time // of the oldest row; zero: none waits
	retry := firstRetry
	for {
		batch, urgent, closing := h.peek()
		if len(batch) == 0 {
			if closing {
				return
			}
			deadline = time.Time{}
			<-h.wake
			continue
		}
		if deadline.IsZero() {
			deadline = time.Now().Add(groupAfter)
		}
		if wait := time.Until(deadline); !urgent && !closing && len(batch) < groupRows && wait > 0 {
			h.wait(timer, wait)
			continue
		}
		deadline = time.Time{}
		err := h.commit(batch)
		switch {
		case err == nil:
			retry = firstRetry
		case hopeless(err), closing:
			h.giveUp(len(batch), err)
		case h.Pending() > h.o.QueueLimit:
			h.giveUp(h.Pending(), err)
		default:
			h.pause(timer, retry)
			retry = min(2*retry, lastRetry)
		}
	}
}

// peek gives the next items without taking them out.
func (h *History) peek() (batch []item, urgent, closing bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := min(len(h.queue), groupMax)
	return h.queue[:n:n], h.urgent > h.settled, h.closing
}

// wait ends after d, or earlier when something changed.
func (h *History) wait(timer *time.Timer, d time.Duration) {
	timer.Reset(d)
	select {
	case <-timer.C:
	case <-h.wake:
	}
}

// pause waits before a repetition. New rows do not shorten it; closing and a
// queue over its bound do.
func (h *History) pause(timer *time.Timer, d time.Duration) {
	for until := time.Now().Add(d); ; {
		left := time.Until(until)
		if left <= 0 {
			return
		}
		h.wait(timer, left)
		h.mu.Lock()
		stop := h.closing || len(h.queue) > h.o.QueueLimit
		h.mu.Unlock()
		if stop {
			return
		}
	}
}

func (h *History) commit(batch []item) error {
	err := h.tryCommit(batch)
	if err != nil {
		h.mu.Lock()
		if h.failure == nil {
			h.since = h.o.Now()
		}
		h.failure = err
		h.mu.Unlock()
		return err
	}
	seq, event := h.committedSeq.Load(), h.committedEvent.Load()
	for _, it := range batch {
		seq = max(seq, it.row.Seq)
		if n := len(it.events); n > 0 {
			event = max(event, it.events[n-1].Seq)
		}
	}
	h.committedSeq.Store(seq)
	h.committedEvent.Store(event)
	h.settle(len(batch), nil)
	if h.o.OnCommit != nil {
		h.o.OnCommit(seq, event)
	}
	return nil
}

func (h *History) tryCommit(batch []item) error {
	if err := h.sameFile(); err != nil {
		return err
	}
	if h.o.beforeCommit != nil {
		if err := h.o.beforeCommit(h.rec.conn); err != nil {
			return err
		}
	}
	return h.rec.write(batch)
}

// settle takes n items out of the queue: they are on the disk or, with a
// cause, lost.
func (h *History) settle(n int, cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.queue[:n]) // the array lives on; what the items point to need not
	h.queue = h.queue[n:]
	if len(h.queue) == 0 {
		h.queue = nil
	}
	h.settled += uint64(n)
	h.failure = cause
	if cause != nil {
		h.losses++
	}
	close(h.progress)
	h.progress = make(chan struct{})
}

// giveUp drops the first n items and tells which rows are lost.
func (h *History) giveUp(n int, cause error) {
	h.mu.Lock()
	var from, to uint64
	for _, it := range h.queue[:n] {
		if it.checkpoint != nil {
			continue
		}
		if from == 0 {
			from = it.row.Seq
		}
		to = it.row.Seq
	}
	h.mu.Unlock()
	h.settle(n, cause)
	if h.o.OnGap != nil && to != 0 {
		h.o.OnGap(from, to, reasonOf(cause))
	}
}
