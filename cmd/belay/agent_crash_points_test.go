//go:build linux && failpoints

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/internal/failpoint"
)

// TestCrashAgents kills a run with two agents at every place where a build with
// failpoints can die, and resumes. The budget has no start to spare where the
// keeper lives: a permit that counts twice holds the run.
//
// promise: K1, K2, K4, K5, G4
func TestCrashAgents(t *testing.T) {
	t.Parallel()
	b := newBench(t, true)
	driver, keeper := agentPlaces()
	alone := b.sweep(t, driver, 1, func(arms []point) (point, tally, error) { return b.agentsDieAt(arms, false) })
	if alone.harvested == 0 || alone.unborn == 0 || alone.lost > 0 {
		t.Errorf("the sweep must show harvested and unborn attempts, and none lost: %s", &alone)
	}
	both := b.sweep(t, driver, 1, func(arms []point) (point, tally, error) { return b.agentsDieAt(arms, true) })
	kept := b.sweep(t, keeper, 3, b.agentsKeeperAt)
	if kept.lost == 0 || kept.unborn == 0 {
		t.Errorf("the sweep must show lost and unborn attempts: %s", &kept)
	}
	t.Logf("driver: %s", &alone)
	t.Logf("driver and keeper: %s", &both)
	t.Logf("keeper: %s", &kept)
}

// agentPlaces are all places of the driver and of the keeper but those that other
// tests have: the moments of one agent, isolated steps and merges, removals.
func agentPlaces() (driver, keeper []string) {
	for _, name := range failpoint.Names() {
		in := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		switch {
		case in("keeper."):
			keeper = append(keeper, name)
		case name != lastPlace && !slices.ContainsFunc([]string{attendPoint, gitPoint, mergePoint, removePoint, retirePoint}, in):
			driver = append(driver, name)
		}
	}
	return driver, keeper
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

// attendPoint begins the names of those in the attendant of an agent: see
// TestCrashMoments.
const attendPoint = "attend."

// removePoint begins the names of those that only a removal reaches: see
// TestCrashBeginning.
const removePoint = "remove."

// retirePoint begins the names of those that only a prune reaches: see crashPrune.
const retirePoint = "retire."

// agentsDieAt kills the driver at a point, and the keeper too if asked. What a
// driver finds of an agent at work is in TestAgentKilled.
func (b *bench) agentsDieAt(arms []point, keeper bool) (point, tally, error) {
	r, err := b.agents(b.armed, "sleep 0.03")
	if err != nil {
		return point{}, tally{}, err
	}
	defer r.wipe()
	starts := 2
	if keeper {
		starts = 4 // a lost attempt is a start that was made
	}
	p, err := r.killed(arms, agentArgs(starts)...)
	switch {
	case err != nil:
		return p, tally{}, err
	case !r.began():
		return p, tally{points: 1}, r.noAgentBegan()
	case keeper:
		err = r.killKeeper()
	case p.name == "engine.after_spawn": // and nobody comes while it works
		err = r.keeperLeft()
	}
	if err != nil {
		return p, tally{}, err
	}
	if held, err := r.finish(); err != nil || held > 0 {
		return p, tally{}, errors.Join(err, fmt.Errorf("held %d times", held))
	}
	seen, err := r.agentsSound(1)
	return p, seen, err
}

// agentsKeeperAt kills the keeper at one of its own points, under its driver.
func (b *bench) agentsKeeperAt(arms []point) (point, tally, error) {
	r, err := b.agents(b.armed, "sleep 0.03")
	if err != nil {
		return point{}, tally{}, err
	}
	defer r.wipe()
	p, held, err := r.keeperDies(arms, agentArgs(4)...)
	if err != nil || held > 0 {
		return p, tally{}, errors.Join(err, fmt.Errorf("held %d times", held))
	}
	seen, err := r.agentsSound(1)
	return p, seen, err
}

// agentsSound looks at the end of a run: what is on record of its agents must
// be what they themselves wrote down.
func (r *rig) agentsSound(points int) (tally, error) {
	seen, recs, err := r.agentsEnded()
	seen.points = points
	if err != nil {
		return seen, err
	}
	ledger, err := r.ledger()
	if err != nil {
		return seen, err
	}
	starts, lost := agentStarts(recs), seen.lost
	if len(starts) > 2+lost {
		return seen, fmt.Errorf("%d starts of agents, with reason for %d", len(starts), 2+lost)
	}
	for _, rec := range recs {
		e, ended := rec.Event.(event.AttemptEnded)
		if !ended || starts[e.Key].Key == "" {
			continue
		}
		if ledger[string(e.Key)] != (entry{1, 1}) || e.Observation.Agent == nil {
			return seen, fmt.Errorf("%s ended, and began and ended %v by its own account", e.Key, ledger[string(e.Key)])
		}
	}
	return seen, nil
}

// noAgentBegan says of a run without a record that nothing of it was done.
func (r *rig) noAgentBegan() error {
	ledger, err := r.ledger()
	if err == nil && len(ledger) > 0 {
		err = fmt.Errorf("no record, and yet something began: %v", ledger)
	}
	return err
}
