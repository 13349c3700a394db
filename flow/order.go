package flow

import (
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
		h.list = slices.Delete(h.list, at, at+1)
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

// timer is a moment at which a step must be looked at: to start it, or, when
// key is set, to end that attempt.
type timer struct {
	at   time.Time
	step int
	key  belay.Key
}

// timetable keeps timers in the order of their time.
type timetable struct{ list []timer }

func (h *timetable) push(t timer) {
	at, _ := slices.BinarySearchFunc(h.list, t, func(a, b timer) int {
		if c := a.at.Compare(b.at); c != 0 {
			return c
		}
		if c := a.step - b.step; c != 0 {
			return c
		}
		return compareKeys(a.key, b.key)
	})
	h.list = slices.Insert(h.list, at, t)
}

func compareKeys(a, b belay.Key) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// later moves a timer, if there is one.
func (h *timetable) later(step int, key belay.Key, by time.Duration) bool {
	for _, t := range h.list {
		if t.step == step && t.key == key {
			h.remove(step, key)
			t.at = t.at.Add(by)
			h.push(t)
			return true
		}
	}
	return false
}

func (h *timetable) remove(step int, key belay.Key) {
	h.list = slices.DeleteFunc(h.list, func(t timer) bool { return t.step == step && t.key == key })
}
