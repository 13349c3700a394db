package sim

import (
	"slices"
	"time"
)

// happening is something that will happen.
type happening struct {
	at       time.Time
	n        int
	lane     string // what has the same lane keeps its order
	what     string // for the trace
	from     any    // the driver or keeper that sent it, if one did
	after    any    // not before everything that this one sent
	outlives bool   // a power cut does not undo it
	do       func()
}

// agenda is what will happen, in no order of its own.
type agenda struct {
	list []*happening
	n    int
	last map[string]time.Time
}

func (a *agenda) add(h *happening) *happening {
	a.n++
	h.n = a.n
	if h.lane != "" {
		if last := a.last[h.lane]; h.at.Before(last) {
			h.at = last
		}
		a.last[h.lane] = h.at
	}
	if h.after != nil {
		for _, o := range a.list {
			if o.from == h.after && h.at.Before(o.at) {
				h.at = o.at
			}
		}
	}
	a.list = append(a.list, h)
	return h
}

func (a *agenda) remove(h *happening) {
	if h == nil {
		return
	}
	if i := slices.Index(a.list, h); i >= 0 {
		a.list = slices.Delete(a.list, i, i+1)
	}
}

// first is what happens next when every clock is right.
func (a *agenda) first() *happening {
	var best *happening
	for _, h := range a.list {
		if best == nil || h.at.Before(best.at) || h.at.Equal(best.at) && h.n < best.n {
			best = h
		}
	}
	return best
}

// ready is everything that could happen next if nothing were known about
// speed: of each lane the oldest.
func (a *agenda) ready() []*happening {
	var list []*happening
	for _, h := range a.list {
		if !slices.ContainsFunc(a.list, func(o *happening) bool { return o.before(h) }) {
			list = append(list, h)
		}
	}
	slices.SortFunc(list, func(x, y *happening) int { return x.n - y.n })
	return list
}

// before tells whether o must happen before h.
func (o *happening) before(h *happening) bool {
	return o.n < h.n && (o.lane != "" && o.lane == h.lane || h.after != nil && o.from == h.after)
}

// wipe takes out what a power cut undoes.
func (a *agenda) wipe() {
	a.list = slices.DeleteFunc(a.list, func(h *happening) bool { return !h.outlives })
}

// trace is the story of a run, for people and for comparing two runs.
type trace struct{ lines []string }
