package watch

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/exit"
)

// Event is what a watch says of a run, or of itself.
type Event string

// The events. Their names are those of older watches, so that what reads those
// reads these.
const (
	Running    Event = "RUN_RUNNING"
	Stale      Event = "RUN_STALE"
	Resumed    Event = "RUN_RESUMED"
	Stalemate  Event = "RUN_HALTED_STALEMATE"
	RestartCap Event = "RUN_HALTED_RESTART_CAP"
	NeedsYou   Event = "USER_ACTION_REQUIRED"
	Failed     Event = "RUN_FAILED"
	Complete   Event = "RUN_COMPLETE"
	AllDone    Event = "ALL_RUNS_COMPLETE"
	Broken     Event = "MONITOR_ERROR"
	Reenter    Event = "MONITOR_REENTER"
)

// EventRow is a row of the table of events.
type EventRow struct {
	Event Event
	Code  int // of a watch that ends with it
	Means string
}

// Events is the table of events, the worst code first in rank.
func Events() []EventRow {
	return []EventRow{
		{Broken, exit.Watch, "the watch itself failed"},
		{NeedsYou, exit.Held, "a person must act; reason says on what"},
		{Stalemate, exit.Held, "the run came to a standstill; it is not started again"},
		{RestartCap, exit.Held, "the run was started again as often as it may be"},
		{Failed, exit.Watched, "the run ended, and did not reach its goal"},
		{Resumed, exit.Window, "nobody drove the run; a driver was started"},
		{Stale, exit.Window, "nobody drives the run; the watch waits a little before it acts"},
		{Running, exit.Window, "the run is driven, waits or is parked; message says which"},
		{Reenter, exit.Window, "the window of the watch ended while runs went on"},
		{Complete, exit.OK, "the run reached its goal"},
		{AllDone, exit.OK, "every watched run reached its goal"},
	}
}

// Code is the exit code that belongs to an event.
func (e Event) Code() int {
	rows := Events()
	i := slices.IndexFunc(rows, func(r EventRow) bool { return r.Event == e })
	if i < 0 {
		return exit.Watch
	}
	return rows[i].Code
}

// rank orders events by the code that wins.
func (e Event) rank() int {
	rows := Events()
	if i := slices.IndexFunc(rows, func(r EventRow) bool { return r.Event == e }); i >= 0 {
		return i
	}
	return 0
}

// Worst is the decision whose code a watch exits with; ok is false for none.
func Worst(all []Decision) (worst Decision, ok bool) {
	for i, d := range all {
		if i == 0 || d.Event.rank() < worst.Event.rank() {
			worst = d
		}
	}
	return worst, len(all) > 0
}

// maxLeft is how many runs the last line of a watch names.
const maxLeft = 5

// Left says which runs a watch leaves alone, and why, in few words; "" for none.
func Left(all []Decision) string {
	var names []string
	for _, d := range all {
		if d.Rest && d.Code() != exit.OK {
			why, _, _ := strings.Cut(d.Reason, ":")
			why, _, _ = strings.Cut(why, ", ")
			names = append(names, fmt.Sprintf("%s (%s)", d.Run, why))
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	if more := len(names) - maxLeft; more > 0 {
		names = append(names[:maxLeft], fmt.Sprintf("%d more (belay inbox lists them)", more))
	}
	return "not resumed: " + strings.Join(names, ", ")
}

// Over tells whether a watch is done: no run is left that can go on without a person,
// and none that starts later is waited for.
func Over(all []Decision, later bool) bool {
	return !later && !slices.ContainsFunc(all, func(d Decision) bool { return !d.Rest })
}

// soonest bounds how fast looks follow each other.
const soonest = 100 * time.Millisecond

// Pause is how long a watch waits before it looks again: a poll, or less when the
// time of a run comes before.
func Pause(all []Decision, rules Rules, now time.Time) time.Duration {
	pause := rules.Poll
	for _, d := range all {
		if !d.Again.IsZero() {
			pause = min(pause, max(d.Again.Sub(now), soonest))
		}
	}
	return pause
}
