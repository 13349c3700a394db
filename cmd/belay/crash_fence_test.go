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
	"github.com/belay-run/belay/fault"
)

// crashFence leaves a dead driver's start unread in the socket of a keeper that
// does not run, and the greeting of the next driver behind it: whichever the
// keeper reads first, the step must run once.
//
// promise: K2
func crashFence(t *testing.T, b *bench) {
	t.Helper()
	counts, err := b.hits()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all tally
	fates := map[fault.Found]int{}
	b.each(counts["engine.before_spawn"], func(i int) {
		seen, fate, err := b.lateStart(i + 1)
		if err != nil {
			t.Errorf("start %d: %v", i+1, err)
		}
		mu.Lock()
		defer mu.Unlock()
		all.add(seen)
		fates[fate]++
	})
	if all.adopted == 0 {
		t.Errorf("no attempt was adopted: %s", &all)
	}
	if all.points < 10 || fates[fault.Unborn] == 0 {
		t.Errorf("only %d late starts were seen, and %d of them came after the greeting", all.points, fates[fault.Unborn])
	}
	b.say("fence: late starts refused %d, read in time %d; %s",
		fates[fault.Unborn], fates[fault.Adopted]+fates[fault.Harvested], &all)
}

// lateStart says also what the next driver was told of the start in question.
func (b *bench) lateStart(n int) (seen tally, fate fault.Found, err error) {
	r, err := b.newRig(b.armed)
	if err != nil {
		return seen, "", err
	}
	defer r.wipe()
	fp := fmt.Sprintf("BELAY_FP=engine.before_spawn=%d:stop,engine.after_spawn=%d:kill", n, n)
	old, err := r.start([]string{fp}, "run", "crash.yaml")
	if err != nil {
		return seen, "", err
	}
	err = until("the driver stops", func() bool { return old.ended() || state(old.pid()) == "T" })
	if err != nil || old.ended() {
		return tally{missed: 1}, "", errors.Join(err, r.want(0, "resume", string(r.id())))
	}
	keeper, err := r.keeper()
	if err != nil {
		return seen, "", err
	}
	if err := keeper.Signal(syscall.SIGSTOP); err != nil {
		return seen, "", fmt.Errorf("stop the keeper: %w", err)
	}
	old.signal(syscall.SIGCONT)
	if e, err := old.wait(); err != nil || e.signal != syscall.SIGKILL {
		return seen, "", errors.Join(err, fmt.Errorf("the driver was to be killed: %v", e))
	}
	heir, err := r.start(nil, "resume", string(r.id()))
	if err != nil {
		return seen, "", err
	}
	unseen := until("the next driver greets", func() bool { return heir.ended() || r.knocks() && asleep(heir.pid()) })
	if err := keeper.Signal(syscall.SIGCONT); err != nil {
		return seen, "", err
	}
	if e, err := heir.wait(); err != nil || e.code != 0 {
		return seen, "", errors.Join(err, fmt.Errorf("resume: %v", e))
	}
	if unseen != nil { // the moment was not seen: the run must end well, and this start does not count
		_, err = b.check(r, true)
		return tally{missed: 1}, "", err
	}
	seen, err = b.check(r, true)
	seen.points++
	return seen, r.fateOf(n), err
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

// knocks tells whether somebody waits at the keeper's socket to be let in: the
// kernel lists such a connection as still connecting.
func (r *rig) knocks() bool {
	for line := range strings.Lines(text("/proc/net/unix")) {
		f := strings.Fields(line)
		if len(f) == 8 && f[5] == "02" && strings.HasPrefix(f[7], r.state()) {
			return true
		}
	}
	return false
}

// asleep tells whether every thread of a process waits, at several looks: it
// has said what it had to say.
func asleep(pid int) bool {
	for range 20 {
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			return false
		}
		for _, task := range tasks {
			if statOf(fmt.Sprintf("/proc/%d/task/%s/stat", pid, task.Name())) != "S" {
				return false
			}
		}
	}
	return true
}
