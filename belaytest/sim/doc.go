// Package sim is the second driver: the brain that the product uses, in a
// world that is not there. Clock, disk, keeper, processes and people are fakes
// in one goroutine, and one number decides everything that happens to them, so
// that a run with crashes in it can be had again exactly as it was.
//
// It reads no clock, starts no process, touches no file and keeps nothing
// between two runs. It judges by rules of its own, from what really happened
// in its world, and never asks the brain whether the brain was right.
package sim

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/flow"
)

// Bug is a mistake that is planted on purpose, to see that it is found.
type Bug int

const (
	NoBug       Bug = iota
	DoneLost        // a driver that loads the records loses the last step that was done
	TimerLost       // a driver that attaches to a run that began before sleeps through its timers
	NoFence         // the keeper starts what a dead driver asked for
	EarlyEffect     // effects are released before their records are on disk
	OnceIgnored     // the brain does not know which steps must not run twice
	Unwritten       // the brain remembers answers that are on no record
)

// Options say what kind of run to make from a seed.
type Options struct {
	Bug    Bug
	Calm   bool // no faults at all
	Steady bool // only crashes of the driver, and a recipe whose outcome no delay can change
	Trace  bool // keep the whole trace
	Twins  bool // make each turn again, with trees built from the records and from a snapshot, and compare
}

// Violation is a broken rule.
type Violation struct {
	Rule string
	What string
}

func (v *Violation) Error() string { return v.Rule + ": " + v.What }

// Result is what came of one run.
type Result struct {
	Seed      uint64
	Violation *Violation
	Status    belay.Status
	Code      int
	Steps     map[string]string // "run:step" to phase and number of attempts
	Vars      map[string]string // the root's context at the end, as JSON
	Records   []event.Record
	Stats     Stats
	Trace     []string
	Recipes   []string // the sources, the root's first
}

// Stats counts what was seen.
type Stats struct {
	Runs, Turns, Events, Births int64
	Twins                       int64 // turns that a tree built from the records made as well
	Restored                    int64 // trees that were made from a snapshot
	Cut                         int64 // turns that would have become too big
	Virtual                     time.Duration
	DriverCrashes               int64
	KeeperCrashes               int64
	PowerCuts                   int64
	DiskFull                    int64
	Resets                      int64
	Pauses                      int64
	Fenced                      int64 // starts of dead drivers that were refused
	Stops, Cancels, Answers     int64
	Reopens, Deadlines          int64
	Hooks, Items, Rounds        int64
	Finally                     int64
	Found                       [4]int64 // adopted, harvested, unborn, lost
	Ends                        [5]int64 // achieved, failed, partial, aborted, held
}

// Add adds o to s.
func (s *Stats) Add(o Stats) {
	s.Runs += o.Runs
	s.Turns += o.Turns
	s.Twins += o.Twins
	s.Restored += o.Restored
	s.Cut += o.Cut
	s.Events += o.Events
	s.Births += o.Births
	s.Virtual += o.Virtual
	s.DriverCrashes += o.DriverCrashes
	s.KeeperCrashes += o.KeeperCrashes
	s.PowerCuts += o.PowerCuts
	s.DiskFull += o.DiskFull
	s.Resets += o.Resets
	s.Pauses += o.Pauses
	s.Fenced += o.Fenced
	s.Stops += o.Stops
	s.Cancels += o.Cancels
	s.Answers += o.Answers
	s.Reopens += o.Reopens
	s.Deadlines += o.Deadlines
	s.Hooks += o.Hooks
	s.Items += o.Items
	s.Rounds += o.Rounds
	s.Finally += o.Finally
	for i := range s.Found {
		s.Found[i] += o.Found[i]
	}
	for i := range s.Ends {
		s.Ends[i] += o.Ends[i]
	}
}

func foundIndex(f fault.Found) int {
	switch f {
	case fault.Adopted:
		return 0
	case fault.Harvested:
		return 1
	case fault.Unborn:
		return 2
	case fault.Lost:
		return 3
	}
	return 3
}

func endIndex(s belay.Status) int {
	switch s {
	case belay.Achieved:
		return 0
	case belay.Failed, belay.Hollow, belay.NotAchieved, belay.Stalemate: // no agents here
		return 1
	case belay.Partial:
		return 2
	case belay.Aborted:
		return 3
	case belay.Held, belay.Stopped, belay.Paused, belay.Parked, belay.Running:
		return 4
	}
	return 4
}

// Run makes one run from a seed and drives it to its rest.
func Run(seed uint64, o Options) Result {
	s := newStorm(seed, o)
	b := generate(seed, o.Steady)
	if err := b.parse(); err != nil {
		return Result{Seed: seed, Violation: &Violation{Rule: "recipe", What: err.Error()}, Recipes: b.sources}
	}
	s.linear = b.linear
	w := newWorld(s, b, o.Bug)
	w.limits.MaxParallel = s.parallel
	w.limits.MaxLost = s.maxLost
	if o.Trace {
		w.trace = &trace{}
	}
	w.codec = s.codec
	w.twins, w.bound, w.snaps = o.Twins, s.bound, s.snapshots()
	w.run()
	return w.result(seed)
}

func (w *world) result(seed uint64) Result {
	r := Result{
		Seed: seed, Violation: w.broken, Stats: w.stats, Records: w.disk, Recipes: w.sources,
		Steps: map[string]string{}, Vars: map[string]string{},
	}
	if w.trace != nil {
		r.Trace = w.trace.lines
	}
	r.Stats.Runs = 1
	r.Stats.Virtual = w.now.Sub(beginning)
	tree, err := fold(w.root, w.lib, w.disk, w.classes)
	if err != nil {
		return r
	}
	r.Status = tree.Status()
	r.Stats.Ends[endIndex(r.Status)]++
	if root := tree.Run(w.root); root != nil && root.Result() != nil {
		r.Code = root.Result().Code
	}
	w.outcome(&r, tree)
	return r
}

func (w *world) outcome(r *Result, tree *flow.Tree) {
	for _, id := range tree.Runs() {
		for _, v := range tree.Run(id).Steps() {
			r.Steps[stepName(id, v.Path)] = fmt.Sprintf("%s %d", v.Phase, v.Attempt)
		}
	}
	if root := tree.Run(w.root); root != nil {
		for n, v := range root.Vars() {
			r.Vars[n] = string(v.JSON) + v.Sha
		}
	}
}

func stepName(run belay.RunID, p belay.Path) string { return string(run) + ":" + string(p) }
