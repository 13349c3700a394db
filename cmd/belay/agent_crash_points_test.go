//go:build linux && failpoints

package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
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
	points, err := b.agentPoints()
	if err != nil {
		t.Fatal(err)
	}
	driver, keeper := split(points)
	alone := b.sweep(t, driver, func(p point) (tally, error) { return b.agentsDieAt(p, false, shortWork) })
	b.untilMet(t, &alone, func() bool { return alone.adopted > 0 }, driver, false)
	if alone.adopted == 0 || alone.harvested == 0 || alone.unborn == 0 || alone.lost > 0 {
		t.Errorf("the sweep must show adopted, harvested and unborn attempts, and none lost: %s", &alone)
	}
	both := b.sweep(t, driver, func(p point) (tally, error) { return b.agentsDieAt(p, true, shortWork) })
	b.untilMet(t, &both, func() bool { return both.lost > 0 }, driver, true)
	if both.lost == 0 {
		t.Errorf("the sweep must show lost attempts: %s", &both)
	}
	kept := b.sweep(t, keeper, b.agentsKeeperAt)
	if kept.lost == 0 || kept.unborn == 0 {
		t.Errorf("the sweep must show lost and unborn attempts: %s", &kept)
	}
	t.Logf("driver: %d points; %s", len(driver), &alone)
	t.Logf("driver and keeper: %d points; %s", len(driver), &both)
	t.Logf("keeper: %d points; %s", len(keeper), &kept)
}

// shortWork is how long the first agent works in a sweep.
const shortWork = 30 * time.Millisecond

// untilMet lets the agent work longer and longer at the points where it has just
// been started, until a driver, or a death, comes in time to meet it at work.
func (b *bench) untilMet(t *testing.T, all *tally, met func() bool, points []point, keeper bool) {
	t.Helper()
	var started []point
	for _, p := range points {
		if p.name == "engine.after_spawn" {
			started = append(started, p)
		}
	}
	for work := time.Second; !met() && !t.Failed() && work < patience; work *= 4 {
		all.add(b.sweep(t, started, func(p point) (tally, error) { return b.agentsDieAt(p, keeper, work) }))
	}
}

// agentPoints lists every hit of every failpoint in an undisturbed run.
func (b *bench) agentPoints() ([]point, error) {
	r, err := b.agents(b.armed, "sleep 0.03")
	if err != nil {
		return nil, err
	}
	defer r.wipe()
	trace := r.inWork("trace")
	e, err := r.belay([]string{"BELAY_FP_TRACE=" + trace}, agentArgs(2)...)
	if err != nil || e.code != exit.OK {
		return nil, errors.Join(err, fmt.Errorf("%v", e))
	}
	most := map[string]int{}
	for line := range strings.Lines(text(trace)) {
		f := strings.Fields(line)
		n, err := strconv.Atoi(f[len(f)-1])
		if err != nil || len(f) != 3 {
			return nil, fmt.Errorf("trace: bad line %q", line)
		}
		most[f[1]] = max(most[f[1]], n)
	}
	var points []point
	for _, name := range failpoint.Names() {
		reachedBy := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		if most[name] == 0 && !slices.ContainsFunc([]string{gitPoint, mergePoint, removePoint, retirePoint}, reachedBy) {
			return nil, fmt.Errorf("the failpoint %s is never reached", name)
		}
		for n := range most[name] {
			points = append(points, point{name, n + 1})
		}
	}
	return points, nil
}

func split(points []point) (driver, keeper []point) {
	for _, p := range points {
		switch {
		case strings.HasPrefix(p.name, "keeper."):
			keeper = append(keeper, p)
		case !strings.HasPrefix(p.name, attendPoint): // the moments of one agent are swept elsewhere
			driver = append(driver, p)
		}
	}
	return driver, keeper
}

// agentsDieAt kills the driver at a point, and the keeper too if asked.
func (b *bench) agentsDieAt(p point, keeper bool, work time.Duration) (tally, error) {
	r, err := b.agents(b.armed, fmt.Sprintf("sleep %.2f", work.Seconds()))
	if err != nil {
		return tally{}, err
	}
	defer r.wipe()
	starts := 2
	if keeper {
		starts = 4 // a lost attempt is a start that was made
	}
	e, err := r.belay([]string{fmt.Sprintf("BELAY_FP=%s:kill", p)}, agentArgs(starts)...)
	switch {
	case err != nil:
		return tally{}, err
	case e.signal != syscall.SIGKILL:
		return tally{missed: 1}, nil
	case !r.began():
		return tally{points: 1}, r.noAgentBegan()
	}
	if keeper {
		if err := r.killKeeper(); err != nil {
			return tally{}, err
		}
	}
	if held, err := r.finish(); err != nil || held > 0 {
		return tally{}, errors.Join(err, fmt.Errorf("held %d times", held))
	}
	return r.agentsSound(1)
}

// agentsKeeperAt kills the keeper at one of its own points, under its driver.
func (b *bench) agentsKeeperAt(p point) (tally, error) {
	r, err := b.agents(b.armed, "sleep 0.03")
	if err != nil {
		return tally{}, err
	}
	defer r.wipe()
	c, err := r.start([]string{fmt.Sprintf("BELAY_FP=%s:stop", p)}, agentArgs(4)...)
	if err != nil {
		return tally{}, err
	}
	died, err := r.killFirstStopped(c)
	if err != nil {
		return tally{}, err
	}
	e, err := c.wait()
	if err != nil || e.code != exit.OK {
		return tally{}, errors.Join(err, fmt.Errorf("%v", e))
	}
	seen, err := r.agentsSound(died)
	seen.missed = 1 - died
	return seen, err
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
