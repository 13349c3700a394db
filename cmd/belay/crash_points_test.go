//go:build linux && failpoints

package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/internal/failpoint"
)

// point is the n-th time that a process comes to a place.
type point struct {
	name string
	n    int
}

func (p point) String() string { return fmt.Sprintf("%s=%d", p.name, p.n) }

// hits runs the recipe once with nobody killing it and lists how often each
// failpoint is reached.
func (b *bench) hits() (map[string]int, error) {
	r, err := b.newRig(b.armed)
	if err != nil {
		return nil, err
	}
	defer r.wipe()
	trace := r.inWork("trace")
	e, err := r.belay([]string{"BELAY_FP_TRACE=" + trace}, "run", "crash.yaml")
	if err != nil || e.code != 0 {
		return nil, errors.Join(err, fmt.Errorf("%v", e))
	}
	if _, err := b.check(r, true); err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for line := range strings.Lines(text(trace)) {
		f := strings.Fields(line)
		if len(f) != 3 {
			return nil, fmt.Errorf("trace: bad line %q", line)
		}
		n, err := strconv.Atoi(f[2])
		if err != nil {
			return nil, err
		}
		counts[f[1]] = max(counts[f[1]], n)
	}
	for _, name := range failpoint.Names() {
		reachedBy := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		if counts[name] == 0 && !slices.ContainsFunc([]string{gitPoint, mergePoint, treePoint, attendPoint, removePoint, retirePoint}, reachedBy) {
			return nil, fmt.Errorf("the failpoint %s is never reached", name)
		}
	}
	return counts, nil
}

// gitPoint begins the names of failpoints that only isolated steps reach: tests of
// the room worktree kill at each of them.
const gitPoint = "worktree."

// mergePoint begins those of the process of a merge, and treePoint is where an
// agent's step got its working tree: TestCrashMerges kills at each of them.
const (
	mergePoint = "mergeback."
	treePoint  = "engine.tree_taken"
)

// attendPoint begins the names of those in the attendant of an agent.
const attendPoint = "attend."

// removePoint begins the names of those that only a removal reaches: see
// TestCrashBeginning.
const removePoint = "remove."

// retirePoint begins the names of those that only a prune reaches: see crashPrune.
const retirePoint = "retire."

// pointsOf lists every hit of the named failpoints.
func (b *bench) pointsOf(t *testing.T, names ...string) []point {
	t.Helper()
	counts, err := b.hits()
	if err != nil {
		t.Fatal(err)
	}
	var list []point
	for _, name := range names {
		if counts[name] < 20 {
			t.Fatalf("%s is reached %d times: the recipe shows too little", name, counts[name])
		}
		for n := range counts[name] {
			list = append(list, point{name, n + 1})
		}
	}
	return list
}

// sweep takes every point in turn and adds up what was seen.
func (b *bench) sweep(t *testing.T, points []point, at func(point) (tally, error)) tally {
	t.Helper()
	var mu sync.Mutex
	var all tally
	b.each(len(points), func(i int) {
		seen, err := at(points[i])
		if err != nil {
			t.Errorf("%s: %v", points[i], err)
		}
		mu.Lock()
		defer mu.Unlock()
		all.add(seen)
	})
	if all.missed*5 > len(points) { // how often a place is passed depends on the moment
		t.Errorf("%d of %d points were not reached", all.missed, len(points))
	}
	return all
}

// crashPoints kills the driver at every append and every start, before and
// after, and resumes: the keeper lives, so nothing may be lost and nothing may
// begin twice.
//
// promise: K1, K2, K5
func crashPoints(t *testing.T, b *bench) {
	t.Helper()
	points := b.pointsOf(t, "journal.before_append", "journal.after_append", "engine.before_spawn", "engine.after_spawn")
	all := b.sweep(t, points, b.killDriverAt)
	if all.harvested == 0 || all.unborn == 0 || all.lost > 0 { // adopted ones need a quick resume: see crashFence
		t.Errorf("the sweep must show harvested and unborn attempts, and none lost: %s", &all)
	}
	b.say("points: %d points; %s", len(points), &all)
}

// killed runs the recipe until the point ends it; false: it was not reached.
func (r *rig) killed(p point) (bool, error) {
	e, err := r.belay([]string{fmt.Sprintf("BELAY_FP=%s:kill", p)}, "run", "crash.yaml")
	switch {
	case err != nil:
		return false, err
	case e.signal == syscall.SIGKILL:
		return true, nil
	case e.code == exit.OK:
		return false, nil
	}
	return false, fmt.Errorf("it was to be killed: %v", e)
}

func (b *bench) killDriverAt(p point) (tally, error) {
	r, err := b.newRig(b.armed)
	if err != nil {
		return tally{}, err
	}
	defer r.wipe()
	died, err := r.killed(p)
	switch {
	case err != nil:
		return tally{}, err
	case !died:
		seen, err := b.check(r, true)
		seen.missed++
		return seen, err
	case !r.began():
		return tally{points: 1}, r.nothingBegan()
	}
	if held, err := r.finish(); err != nil || held > 0 {
		return tally{}, errors.Join(err, fmt.Errorf("held %d times", held))
	}
	seen, err := b.check(r, true)
	seen.points++
	return seen, err
}

// crashBoth kills the keeper as well, right after the driver: what was in
// flight is lost and runs again where that is allowed.
//
// promise: K4, K5
func crashBoth(t *testing.T, b *bench) {
	t.Helper()
	points := b.pointsOf(t, "journal.after_append", "engine.after_spawn")
	all := b.sweep(t, points, b.killBothAt)
	if all.lost == 0 || all.held == 0 {
		t.Errorf("the sweep must show lost attempts and held runs: %s", &all)
	}
	b.say("both: %d points; %s", len(points), &all)
}

func (b *bench) killBothAt(p point) (tally, error) {
	r, err := b.newRig(b.armed)
	if err != nil {
		return tally{}, err
	}
	defer r.wipe()
	died, err := r.killed(p)
	if err != nil {
		return tally{}, err
	}
	if !died {
		return tally{missed: 1}, nil
	}
	if err := r.killKeeper(); err != nil {
		return tally{}, err
	}
	held, err := r.finish()
	if err != nil {
		return tally{}, err
	}
	seen, err := b.check(r, false)
	seen.points, seen.held = 1, held
	return seen, errors.Join(err, b.onlyInFlight(r))
}

// onlyInFlight says which steps were started more often than lost, failed and
// given back attempts explain.
func (b *bench) onlyInFlight(r *rig) error {
	recs, err := r.records()
	if err != nil {
		return err
	}
	starts, reasons := map[string]int{}, map[string]int{}
	for _, rec := range recs {
		switch e := rec.Event.(type) {
		case event.AttemptFound:
			if e.How == fault.Lost {
				reasons[stepOf(e.Key)]++
			}
		case event.AttemptJudged:
			if e.Verdict.Failure != nil || e.Verdict.GivenBack {
				reasons[stepOf(e.Key)]++
			}
		case event.AttemptStarted:
			if e.Role == belay.RoleMain {
				starts[stepOf(e.Key)] = max(starts[stepOf(e.Key)], e.Attempt)
			}
		}
	}
	for step, n := range starts {
		if n > 1+reasons[step] {
			return fmt.Errorf("%s was started %d times, with reason for %d", step, n, 1+reasons[step])
		}
	}
	return nil
}
