package flow

import (
	"cmp"
	"slices"
	"time"

	"github.com/belay-run/belay"
)

// indexes are sorted, the smallest first, and none twice.
type indexes struct{ list []int }

func (h *indexes) push(i int) {
	at, found := slices.BinarySearch(h.list, i)
	if !found {
		h.list = slices.Insert(h.list, at, i)
	}
}

func (h *indexes) remove(i int) {
	if at, found := slices.BinarySearch(h.list, i); found {
		h.list = without(h.list, at)
	}
}

// without takes one out of a list. Most are taken from its front, which costs
// nothing.
func without[T any](list []T, at int) []T {
	if at == 0 {
		return list[1:]
	}
	return slices.Delete(list, at, at+1)
}

// keep has i in it, or not.
func (h *indexes) keep(i int, in bool) {
	if in {
		h.push(i)
	} else {
		h.remove(i)
	}
}

// from is the smallest that is not below i.
func (h *indexes) from(i int) (int, bool) {
	at, _ := slices.BinarySearch(h.list, i)
	if at == len(h.list) {
		return 0, false
	}
	return h.list[at], true
}

// among are those of h that are in o, too; o is short.
func (h *indexes) among(o indexes) []int {
	var both []int
	for _, i := range o.list {
		if _, found := slices.BinarySearch(h.list, i); found {
			both = append(both, i)
		}
	}
	return both
}

// timer is a moment at which a step must be looked at: to start it, or, when
// key is set, to end that attempt.
type timer struct {
	at   time.Time
	step int
	key  belay.Key
}

// timetable keeps timers in the order of their time; a step and its attempt have
// one.
type timetable struct {
	list []timer
	at   map[timed]time.Time
}

// timed is what a timer is for.
type timed struct {
	step int
	key  belay.Key
}

func (h *timetable) push(t timer) {
	if h.at == nil {
		h.at = map[timed]time.Time{}
	}
	h.remove(t.step, t.key)
	h.at[timed{t.step, t.key}] = t.at
	at, _ := h.find(t)
	h.list = slices.Insert(h.list, at, t)
}

// find is the place of a timer.
func (h *timetable) find(t timer) (int, bool) {
	return slices.BinarySearchFunc(h.list, t, func(a, b timer) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.step, b.step), cmp.Compare(a.key, b.key))
	})
}

// later moves a timer, if there is one.
func (h *timetable) later(step int, key belay.Key, by time.Duration) bool {
	at, ok := h.at[timed{step, key}]
	if ok {
		h.push(timer{at.Add(by), step, key})
	}
	return ok
}

func (h *timetable) remove(step int, key belay.Key) {
	at, ok := h.at[timed{step, key}]
	if !ok {
		return
	}
	delete(h.at, timed{step, key})
	if n, found := h.find(timer{at, step, key}); found {
		h.list = without(h.list, n)
	}
}
