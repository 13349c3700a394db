package watch

import (
	"fmt"
	"slices"
	"time"
)

// Occasion is what a person is told of.
type Occasion string

// The occasions.
const (
	OnHeld    Occasion = "held"    // a run waits for a person
	OnEnded   Occasion = "ended"   // a run has ended, well or not
	OnStalled Occasion = "stalled" // a run does not move, or is not started again
)

// Occasions is the closed list.
func Occasions() []Occasion { return []Occasion{OnHeld, OnEnded, OnStalled} }

// Item is one thing about a run that a person should know.
type Item struct {
	Key   string // the same thing has the same key
	On    Occasion
	Since time.Time
}

// Calls tells whether an event is one that a person should hear of.
func (e Event) Calls() bool {
	switch e {
	case NeedsYou, Stalemate, RestartCap, Failed, Complete:
		return true
	case Running, Stale, Resumed, AllDone, Broken, Reenter:
	}
	return false
}

// Item is what a decision about a run that neither waits nor has ended has to
// say: the same thing while the same is to be done and nothing was finished.
func (d Decision) Item(r Run) Item {
	return Item{Key: fmt.Sprintf("%s %s@%d", d.Event, d.Next, r.Done), On: OnStalled}
}

// Told is what was said of an item.
type Told struct {
	At     time.Time `json:"at"` // the last time
	Nudges int       `json:"nudges,omitempty"`
}

// Nudges are the settings of reminders.
type Nudges struct {
	Every time.Duration // until the first; each further one takes four times as long, a day at most. 0 is never
	Most  int           // of one item
}

// The defaults of reminders.
const (
	DefaultNudge  = time.Hour
	DefaultNudges = 5
)

const (
	nudgeFactor = 4
	nudgeSlow   = 24 * time.Hour // no two reminders are further apart
	tooLate     = 24 * time.Hour // an end that nobody told of by then is no news
)

// Due decides which items of a run are to be told now. Each is told once, and
// those that wait for a person again after a while, less and less often. told is
// what was said before, and next what has to be kept before anybody is told; nth
// is the number of the reminder, 0 when something is new.
func Due(items []Item, told map[string]Told, n Nudges, now time.Time) (due []Item, nth int, next map[string]Told) {
	next = map[string]Told{}
	for key, t := range told {
		open := slices.ContainsFunc(items, func(i Item) bool { return i.Key == key })
		if open || now.Sub(t.At) < max(n.Every, DefaultNudge) { // one that comes and goes is not told each time
			next[key] = t
		}
	}
	first := -1
	for _, i := range items {
		t, known := next[i.Key]
		switch {
		case !known && i.On == OnEnded && now.Sub(i.Since) > tooLate:
			continue
		case known && (i.On == OnEnded || n.Every <= 0 || t.Nudges >= n.Most || now.Sub(t.At) < n.gap(t.Nudges)):
			continue
		case known:
			t.Nudges++
		}
		t.At = now
		next[i.Key] = t
		due = append(due, i)
		if first < 0 || t.Nudges < first {
			first = t.Nudges
		}
	}
	return due, max(first, 0), next
}

// gap is the time between what was said last and the next reminder.
func (n Nudges) gap(nudges int) time.Duration {
	gap := n.Every
	for range min(nudges, 10) {
		gap *= nudgeFactor
		if gap >= nudgeSlow {
			return max(nudgeSlow, n.Every)
		}
	}
	return gap
}

// Patience is how often, and how long after each other, a notice is tried that
// could not be delivered.
type Patience struct {
	First time.Duration // until the second try; each further one takes five times as long, half a day at most
	Most  int           // tries in all
}

// The defaults of deliveries.
const (
	DefaultRetry = time.Second
	DefaultTries = 9
)

const (
	retryFactor = 5
	retrySlow   = 12 * time.Hour
)

// Again is how long to wait after so many tries; ok is false when there is no
// further one.
func (p Patience) Again(tries int) (wait time.Duration, ok bool) {
	if tries >= p.Most {
		return 0, false
	}
	wait = p.First
	for range min(tries-1, 20) {
		if wait *= retryFactor; wait >= retrySlow {
			return max(retrySlow, p.First), true
		}
	}
	return wait, true
}
