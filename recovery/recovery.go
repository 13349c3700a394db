// Package recovery chooses the recovery from a failure: policy, failure and
// history in, plan out. It is pure: no clock, no chance, no effects; the same
// input always gives the same plan, and every path has a cap.
//
// It stands alone: a program of your own that starts agents, or anything else that
// fails, can ask it what to do next. [Choose] takes a [Situation] (what failed, what
// is allowed, what was tried) and gives a plan: wait and try again, try in another
// way, let another agent take over, ask a person, give up. The plan says why, and
// why not otherwise. The caller carries it out, and keeps the history.
package recovery

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/belay-run/belay"
)

// MaxBackoff is the longest pause between two attempts, unless the recipe
// asks for a longer first one.
const MaxBackoff = 60 * time.Second

// Policy is what a step allows.
type Policy struct {
	MaxAttempts int           // all attempts, the first included
	Backoff     time.Duration // before the second one
	MaxLost     int           // attempts that may get lost before the step counts as failed
	Escalate    bool          // ask a person instead of giving up
	NoRepair    bool          // no agent mends it
}

// History is what has been used up so far, the present failure included.
type History struct {
	Key    belay.Key // of the attempt that failed
	Failed int
	Lost   int
}

// AfterLost chooses what follows a lost attempt of a step that may run again.
func AfterLost(p Policy, h History, now time.Time) belay.Plan {
	if h.Lost > p.MaxLost {
		return belay.Plan{
			Act: belay.ActGiveUp, Rule: "lost_spent",
			Reason: fmt.Sprintf("lost %d times; %d allowed", h.Lost, p.MaxLost),
		}
	}
	return belay.Plan{
		Act: belay.ActRetry, Rule: "lost",
		Reason: fmt.Sprintf("its keeper died with it; lost %d of %d allowed", h.Lost, p.MaxLost),
		Due:    now,
	}
}

// Backoff is the pause after the n-th failure: base, doubled each time, up to
// the cap, and up to a tenth more so that many runs do not wake together. The
// extra is drawn from the key, so it is the same after a crash.
func Backoff(base time.Duration, n int, key belay.Key) time.Duration {
	if base <= 0 {
		return 0
	}
	limit := max(base, MaxBackoff)
	pause := base
	for i := 1; i < n && pause < limit; i++ {
		pause *= 2
	}
	pause = min(pause, limit)
	h := fnv.New32a()
	h.Write([]byte(key))
	return pause + pause/10*time.Duration(h.Sum32()%1000)/1000
}
