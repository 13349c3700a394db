//go:build linux && failpoints

package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
)

// point is the n-th time that a process comes to a place.
type point struct {
	name string
	n    int
}

func (p point) String() string { return fmt.Sprintf("%s=%d", p.name, p.n) }

// lastPlace is where every driver comes by once, at the end of a run.
const lastPlace = "drive.rested"

// armed is the environment of a run that is killed, or stopped, at the first of the
// points that it comes to, in whichever of its processes; a run that comes to none
// is killed at its last place. It writes down itself where that was: see met.
func (r *rig) armed(action string, points ...point) []string {
	var arms []string
	for _, p := range points {
		arms = append(arms, p.String()+":"+action)
	}
	arms = append(arms, lastPlace+"=1:kill")
	return []string{"BELAY_FP=" + strings.Join(arms, ","), "BELAY_FP_ONCE=" + r.metFile()}
}

func (r *rig) metFile() string { return r.dir + "/met" }

// met is the point that the run came to, and which process did; ok is false as
// long as it came to none.
func (r *rig) met() (p point, pid int, ok bool) {
	b, err := os.ReadFile(r.metFile())
	if err != nil {
		return p, 0, false
	}
	n, err := fmt.Sscan(string(b), &pid, &p.name, &p.n)
	return p, pid, err == nil && n == 3
}

// killed runs belay until it is killed, and says where.
func (r *rig) killed(points []point, args ...string) (point, error) {
	e, err := r.belay(r.armed("kill", points...), args...)
	p, _, ok := r.met()
	if err == nil && (e.signal != syscall.SIGKILL || !ok) {
		err = fmt.Errorf("it was to be killed: %v", e)
	}
	return p, err
}

// stands waits until a run that was armed with stop stands at one of its points, or
// died at its last place, and says where, and which process that is.
func (r *rig) stands(c *command) (p point, pid int, err error) {
	err = until("the run comes to a point", func() bool {
		var ok bool
		p, pid, ok = r.met()
		return ok && (c.ended() || stopped(pid))
	})
	if err != nil {
		err = fmt.Errorf("%w: %s", err, text(c.err))
	}
	return p, pid, err
}

// mostPassings caps how often a place is passed in a run of the suite.
const mostPassings = 100

// lane is a part of the passings of one place.
type lane struct {
	next   point
	stride int
}

// sweep kills runs at every passing of the named places: the first, the second, and
// so on, until a run came to its end instead. Only the run that is killed says how
// often it came by: that depends on the moment. Every run is armed at several
// places, and dies at the one that comes first; the next one is armed behind it.
// Each place must have been met at least so often. The last run of every hand comes
// to its end, so a short sweep has few hands.
func (b *bench) sweep(t *testing.T, names []string, least int, die func([]point) (point, tally, error)) tally {
	t.Helper()
	hands := make([][]lane, min(width, 1+least*len(names)/4))
	stride := (len(hands) + len(names) - 1) / len(names)
	for i := range stride * len(names) {
		first := point{names[i%len(names)], 1 + i/len(names)}
		hands[i%len(hands)] = append(hands[i%len(hands)], lane{first, stride})
	}
	var mu sync.Mutex
	var all tally
	times := map[string]int{}
	b.each(len(hands), func(i int) {
		for more := true; more; {
			var arms []point
			for _, l := range hands[i] {
				arms = append(arms, l.next)
			}
			p, seen, err := die(arms)
			if err != nil {
				t.Errorf("killed at %v, armed at %v: %v", p, arms, err)
			}
			mu.Lock()
			all.add(seen)
			times[p.name]++
			mu.Unlock()
			more = false
			for k := range hands[i] {
				if l := &hands[i][k]; l.next == p && p.n < mostPassings {
					l.next.n += l.stride
					more = true
				}
			}
		}
	})
	for _, name := range names {
		if times[name] < least {
			t.Errorf("%s was met %d times, want %d at least", name, times[name], least)
		}
	}
	return all
}

// fewest is how often the recipe of the suite passes a place at least, whatever
// comes together in one turn of the driver: so many steps wait for one another.
const fewest = 20

// crashPoints kills the driver at every append and every start, before and
// after, and resumes: the keeper lives, so nothing may be lost and nothing may
// begin twice.
//
// promise: K1, K2, K5
func crashPoints(t *testing.T, b *bench) {
	t.Helper()
	all := b.sweep(t, []string{"journal.before_append", "journal.after_append", "engine.before_spawn", "engine.after_spawn"}, fewest, b.killDriverAt)
	if all.harvested == 0 || all.unborn == 0 || all.lost > 0 {
		t.Errorf("the sweep must show harvested and unborn attempts, and none lost: %s", &all)
	}
	seen, err := b.killedAtWork(false)
	if err != nil || seen.adopted == 0 || seen.lost > 0 {
		t.Errorf("a step at work, and the driver killed: %s: %v", &seen, err)
	}
	b.say("points: %s", &all)
}

func (b *bench) killDriverAt(arms []point) (point, tally, error) {
	r, err := b.newRig(b.armed)
	if err != nil {
		return point{}, tally{}, err
	}
	defer r.wipe()
	p, err := r.killed(arms, "run", "crash.yaml")
	if err != nil {
		return p, tally{}, err
	}
	if !r.began() {
		return p, tally{points: 1}, r.nothingBegan()
	}
	if p.name == "engine.after_spawn" && p.n%4 == 0 { // and nobody comes while the step runs
		if err := r.keeperLeft(); err != nil {
			return p, tally{}, err
		}
	}
	if held, err := r.finish(); err != nil || held > 0 {
		return p, tally{}, errors.Join(err, fmt.Errorf("held %d times", held))
	}
	seen, err := b.check(r, true)
	seen.points++
	return p, seen, err
}

// keeperLeft waits until the keeper of a run without a driver has nothing to hold.
func (r *rig) keeperLeft() error { return until("the keeper leaves", r.unkept) }

// killedAtWork kills the driver, and the keeper too if asked, while a step that must
// not run twice is at work, and brings the run to its end. With the keeper alive
// the step goes on, and may end once a driver has found it.
func (b *bench) killedAtWork(keeper bool) (tally, error) {
	r, err := b.newRig(b.armed)
	if err != nil {
		return tally{}, err
	}
	defer r.wipe()
	if err := r.put("hold", ""); err != nil {
		return tally{}, err
	}
	c, err := r.start(nil, "run", "crash.yaml")
	if err != nil {
		return tally{}, err
	}
	if err := r.exists("sending"); err != nil {
		return tally{}, errors.Join(err, errors.New(text(c.err)))
	}
	c.signal(syscall.SIGKILL)
	<-c.done
	held := 0
	if keeper {
		if err := r.killKeeper(); err != nil {
			return tally{}, err
		}
		held, err = r.finish()
	} else {
		var e end
		if e, err = r.resume(true); err == nil && e.code != exit.OK {
			err = fmt.Errorf("resume: %v", e)
		}
	}
	if err != nil {
		return tally{}, err
	}
	seen, err := b.check(r, !keeper)
	seen.held = held
	return seen, err
}

// crashBoth kills the keeper as well, right after the driver: what was in
// flight is lost and runs again where that is allowed.
//
// promise: K4, K5
func crashBoth(t *testing.T, b *bench) {
	t.Helper()
	all := b.sweep(t, []string{"journal.after_append", "engine.after_spawn"}, fewest, b.killBothAt)
	seen, err := b.killedAtWork(true)
	if err != nil || seen.lost == 0 || seen.held == 0 {
		t.Errorf("a step at work that must not run twice: %s: %v", &seen, err)
	}
	b.say("both: %s", &all)
}

func (b *bench) killBothAt(arms []point) (point, tally, error) {
	r, err := b.newRig(b.armed)
	if err != nil {
		return point{}, tally{}, err
	}
	defer r.wipe()
	p, err := r.killed(arms, "run", "crash.yaml")
	if err != nil {
		return p, tally{}, err
	}
	if err := r.killKeeper(); err != nil {
		return p, tally{}, err
	}
	held, err := r.finish()
	if err != nil {
		return p, tally{}, err
	}
	seen, err := b.check(r, false)
	seen.points, seen.held = 1, held
	return p, seen, errors.Join(err, b.onlyInFlight(r))
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
