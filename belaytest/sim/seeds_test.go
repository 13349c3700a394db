package sim

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/fault"
)

// number reads a number from the environment.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q is not a number", name, text)
	}
	return n
}

// sweepSeeds makes the runs of many seeds on all cores, until one is wanted no
// more, and adds up what was seen. Each run by itself has one goroutine.
func sweepSeeds(first, n uint64, o Options, each func(Result) bool) Stats {
	var next atomic.Uint64
	var over atomic.Bool
	var mu sync.Mutex
	var all Stats
	var work sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		work.Go(func() {
			for !over.Load() {
				i := next.Add(1) - 1
				if i >= n {
					return
				}
				r := Run(first+i, o)
				mu.Lock()
				all.Add(r.Stats)
				if !each(r) {
					over.Store(true)
				}
				mu.Unlock()
			}
		})
	}
	work.Wait()
	return all
}

// report prints what a person needs to look into a violation.
func report(t *testing.T, seed uint64, o Options) {
	t.Helper()
	o.Trace = true
	r := Run(seed, o)
	for i, src := range r.Recipes {
		t.Logf("recipe %d:\n%s", i, src)
	}
	const last = 30
	for _, l := range r.Trace[max(0, len(r.Trace)-last):] {
		t.Log(l)
	}
	t.Errorf("seed %d: %v\nreplay: make sim SEED=%d", seed, r.Violation, seed)
}

// TestSeeds simulates many runs with all kinds of faults.
//
// promise: K2, K4
func TestSeeds(t *testing.T) {
	t.Parallel()
	if os.Getenv("BELAY_SIM_SEED") != "" {
		replay(t, number(t, "BELAY_SIM_SEED", 0))
		return
	}
	n := number(t, "BELAY_SIM_SEEDS", 120)
	began := time.Now()
	var bad []uint64
	all := sweepSeeds(1, n, Options{}, func(r Result) bool {
		if r.Violation != nil {
			bad = append(bad, r.Seed)
		}
		return len(bad) < 5
	})
	took := time.Since(began)
	for i, seed := range bad {
		if i == 0 {
			report(t, seed, Options{})
			continue
		}
		t.Errorf("seed %d: %v", seed, Run(seed, Options{}).Violation)
	}
	t.Logf("%d seeds in %s: %.0f seeds/s, %s of virtual time", all.Runs, took.Round(time.Millisecond),
		float64(all.Runs)/took.Seconds(), all.Virtual.Round(time.Hour))
	t.Logf("%d turns, %d events, %d processes", all.Turns, all.Events, all.Births)
	for _, c := range counts(all) {
		t.Logf("%-16s %d", c.name, c.n)
		if c.n == 0 && all.Runs >= 600 {
			t.Errorf("%s was never seen in %d seeds", c.name, all.Runs)
		}
	}
}

// TestSeedsFromRecords makes every turn again: by the tree that lived through all
// of them, by one that was built from the records alone, and by one that was
// restored from a snapshot and followed the records after it.
//
// promise: K1
func TestSeedsFromRecords(t *testing.T) {
	t.Parallel()
	if os.Getenv("BELAY_SIM_SEED") != "" {
		t.Skip("one seed is replayed by TestSeeds")
	}
	var bad []uint64
	all := sweepSeeds(1, number(t, "BELAY_SIM_SEEDS", 20), Options{Twins: true}, func(r Result) bool {
		if r.Violation != nil {
			bad = append(bad, r.Seed)
		}
		return len(bad) == 0
	})
	for _, seed := range bad {
		report(t, seed, Options{Twins: true})
	}
	t.Logf("%d seeds, %d turns made again from the records, %d of them cut, %d trees restored from snapshots", all.Runs, all.Twins, all.Cut, all.Restored)
	if all.Twins != all.Turns || all.Cut == 0 || all.Restored < all.Turns/4 {
		t.Errorf("only %d of %d turns were made again, %d cut, %d from snapshots", all.Twins, all.Turns, all.Cut, all.Restored)
	}
}

type count struct {
	name string
	n    int64
}

func counts(s Stats) []count {
	return []count{
		{"driver crashes", s.DriverCrashes}, {"keeper crashes", s.KeeperCrashes}, {"power cuts", s.PowerCuts},
		{"disk full", s.DiskFull}, {"fenced starts", s.Fenced}, {"stops", s.Stops}, {"cancels", s.Cancels},
		{"pauses", s.Pauses}, {"resets", s.Resets},
		{"answers", s.Answers}, {"reopens", s.Reopens}, {"deadlines", s.Deadlines},
		{"cut turns", s.Cut}, {"restored", s.Restored}, {"hooks", s.Hooks}, {"items of lists", s.Items}, {"rounds", s.Rounds}, {"finally", s.Finally},
		{"adopted", s.Found[foundIndex(fault.Adopted)]}, {"harvested", s.Found[foundIndex(fault.Harvested)]},
		{"unborn", s.Found[foundIndex(fault.Unborn)]}, {"lost", s.Found[foundIndex(fault.Lost)]},
		{"ACHIEVED", s.Ends[endIndex(belay.Achieved)]}, {"FAILED", s.Ends[endIndex(belay.Failed)]},
		{"PARTIAL", s.Ends[endIndex(belay.Partial)]}, {"ABORTED", s.Ends[endIndex(belay.Aborted)]},
		{"HELD", s.Ends[endIndex(belay.Held)]},
	}
}

// replay makes one run and prints all of it.
func replay(t *testing.T, seed uint64) {
	t.Helper()
	r := Run(seed, Options{Trace: true, Twins: true})
	for i, src := range r.Recipes {
		t.Logf("recipe %d:\n%s", i, src)
	}
	t.Log(strings.Join(r.Trace, "\n"))
	t.Logf("seed %d: %s, code %d, %d records", seed, r.Status, r.Code, len(r.Records))
	if r.Violation != nil {
		t.Errorf("seed %d: %v", seed, r.Violation)
	}
}

// TestSameSeedSameTrace makes the same runs twice and compares every line.
func TestSameSeedSameTrace(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= min(number(t, "BELAY_SIM_SEEDS", 10), 1000); seed++ {
		a, b := Run(seed, Options{Trace: true}), Run(seed, Options{Trace: true})
		for i := range a.Trace {
			if i >= len(b.Trace) || a.Trace[i] != b.Trace[i] {
				t.Fatalf("seed %d: line %d differs:\n%s\n%s", seed, i, a.Trace[i], b.Trace[min(i, len(b.Trace)-1)])
			}
		}
		if len(a.Trace) != len(b.Trace) {
			t.Fatalf("seed %d: %d lines, then %d", seed, len(a.Trace), len(b.Trace))
		}
	}
}

// TestCrashesChangeNothing compares runs in which drivers die with the same
// runs without a fault: status, values, phases and attempts are the same.
//
// promise: K1
func TestCrashesChangeNothing(t *testing.T) {
	t.Parallel()
	n := number(t, "BELAY_SIM_SEEDS", 100) / 2
	var bad []uint64
	all := sweepSeeds(1, n, Options{Steady: true}, func(r Result) bool {
		calm := Run(r.Seed, Options{Steady: true, Calm: true})
		if r.Violation != nil || calm.Violation != nil || differ(r, calm) != "" {
			bad = append(bad, r.Seed)
		}
		return len(bad) < 5
	})
	for _, seed := range bad {
		r, calm := Run(seed, Options{Steady: true}), Run(seed, Options{Steady: true, Calm: true})
		t.Errorf("seed %d: %s (violations: %v, %v)", seed, differ(r, calm), r.Violation, calm.Violation)
	}
	t.Logf("%d runs with %d crashes of their drivers ended as without", all.Runs, all.DriverCrashes)
	if n >= 100 && all.DriverCrashes == 0 {
		t.Error("no driver ever died: nothing was shown")
	}
}

// differ says in what two runs differ.
func differ(a, b Result) string {
	switch {
	case a.Status != b.Status || a.Code != b.Code:
		return "status: " + string(a.Status) + " and " + string(b.Status)
	case len(a.Steps) != len(b.Steps):
		return "steps: " + strconv.Itoa(len(a.Steps)) + " and " + strconv.Itoa(len(b.Steps))
	}
	for n, v := range a.Vars {
		if b.Vars[n] != v {
			return "variable " + n + ": " + v + " and " + b.Vars[n]
		}
	}
	for n, v := range a.Steps {
		if b.Steps[n] != v {
			return "step " + n + ": " + v + " and " + b.Steps[n]
		}
	}
	return ""
}
