//go:build linux && failpoints

package main

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
)

// crashFence leaves a dead driver's start unread in the socket of a keeper that
// does not run, and the greeting of the next driver behind it: whichever the
// keeper reads first, the step must run once.
//
// promise: K2
func crashFence(t *testing.T, b *bench) {
	t.Helper()
	var mu sync.Mutex
	fates := map[fault.Found]int{}
	try := func(arms []point) (point, tally, error) {
		p, seen, fate, err := b.lateStart(arms[0])
		mu.Lock()
		defer mu.Unlock()
		fates[fate]++
		return p, seen, err
	}
	all := b.sweep(t, []string{"engine.before_spawn"}, fewest, try)
	for n := 1; fates[fault.Unborn] == 0 && n <= fewest && !t.Failed(); n++ { // what the keeper reads first is its own affair
		if _, _, err := try([]point{{"engine.before_spawn", n}}); err != nil {
			t.Error(err)
		}
	}
	if fates[fault.Unborn] == 0 {
		t.Errorf("no start was read after the greeting: %v", fates)
	}
	b.say("fence: late starts refused %d, read in time %d; %s",
		fates[fault.Unborn], fates[fault.Adopted]+fates[fault.Harvested], &all)
}

// lateStart says where the first driver died, and what the next one was told of
// the start in question.
func (b *bench) lateStart(p point) (at point, seen tally, fate fault.Found, err error) {
	r, err := b.newRig(b.armed)
	if err != nil {
		return at, seen, "", err
	}
	defer r.wipe()
	fp := fmt.Sprintf("BELAY_FP=%s:stop,engine.after_spawn=%d:kill,%s=1:kill", p, p.n, lastPlace)
	old, err := r.start([]string{fp}, "run", "crash.yaml")
	if err != nil {
		return at, seen, "", err
	}
	if err := until("the driver stops", func() bool { return old.ended() || stopped(old.pid()) }); err != nil {
		return at, seen, "", err
	}
	if old.ended() { // it has no start of that number
		if e := old.result(); e.signal != syscall.SIGKILL {
			return at, seen, "", fmt.Errorf("the driver was to be killed at its end: %v", e)
		}
		if _, err = r.finish(); err == nil {
			seen, err = b.check(r, true)
		}
		seen.points++
		return point{lastPlace, 1}, seen, "", err
	}
	heir, err := r.succeed(old)
	if err != nil {
		return p, seen, "", err
	}
	if e, err := heir.wait(); err != nil || e.code != 0 {
		return p, seen, "", errors.Join(err, fmt.Errorf("resume: %v", e))
	}
	seen, err = b.check(r, true)
	seen.points++
	return p, seen, r.fateOf(p.n), err
}

// succeed lets a driver that stands before a start make it and die, while its keeper
// stands still, and lets the keeper go on when it has the greeting of the next one.
func (r *rig) succeed(old *command) (heir *command, err error) {
	keeper, err := r.keeper()
	if err != nil {
		return nil, err
	}
	if err := keeper.Signal(syscall.SIGSTOP); err != nil {
		return nil, fmt.Errorf("stop the keeper: %w", err)
	}
	if err := until("the keeper stands still", func() bool { return stopped(keeper.Pid) }); err != nil {
		return nil, err
	}
	old.signal(syscall.SIGCONT)
	if e, err := old.wait(); err != nil || e.signal != syscall.SIGKILL {
		return nil, errors.Join(err, fmt.Errorf("the driver was to be killed: %v", e))
	}
	trace := r.dir + "/trace"
	heir, err = r.start([]string{"BELAY_FP_TRACE=" + trace}, "resume", string(r.id()))
	if err != nil {
		return nil, err
	}
	err = until("the next driver greets", func() bool { return heir.ended() || strings.Contains(text(trace), " attach.greeted 1\n") })
	return heir, errors.Join(err, keeper.Signal(syscall.SIGCONT))
}

// fateOf is what became of the n-th start of a process, as the second driver
// found it.
func (r *rig) fateOf(n int) fault.Found {
	recs, err := r.records()
	if err != nil {
		return ""
	}
	var key belay.Key
	for _, rec := range recs {
		switch e := rec.Event.(type) {
		case event.AttemptStarted:
			if e.Child == "" {
				if n--; n == 0 {
					key = e.Key
				}
			}
		case event.AttemptFound:
			if key != "" && e.Key == key {
				return e.How
			}
		}
	}
	return ""
}
