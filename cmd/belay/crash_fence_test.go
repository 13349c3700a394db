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
)

// crashFence leaves a dead driver's start unread in the socket of a keeper that
// does not run, and the greeting of the next driver behind it: whichever the
// keeper reads first, the step must run once.
//
// promise: K2
func crashFence(t *testing.T, b *bench) {
	counts, err := b.hits()
	if err != nil {
		t.Fatal(err)
	}
	var points []point
	for n := 1; n <= counts["engine.before_spawn"]; n++ {
		points = append(points, point{"engine", n})
	}
	var mu sync.Mutex
	var all tally
	b.each(len(points), func(i int) {
		seen, err := b.lateStart(points[i].n)
		if err != nil {
			t.Errorf("start %d: %v", points[i].n, err)
		}
		mu.Lock()
		defer mu.Unlock()
		all.add(seen)
	})
	if all.points < 10 {
		t.Errorf("only %d late starts were seen", all.points)
	}
	b.say("fence: %d late starts; %s", all.points, &all)
}

func (b *bench) lateStart(n int) (tally, error) {
	r, err := b.newRig(b.armed)
	if err != nil {
		return tally{}, err
	}
	defer r.wipe()
	fp := fmt.Sprintf("BELAY_FP=engine.before_spawn=%d:stop,engine.after_spawn=%d:kill", n, n)
	old, err := r.start([]string{fp}, "run", "crash.yaml")
	if err != nil {
		return tally{}, err
	}
	err = until("the driver stops", func() bool { return old.ended() || state(old.pid()) == "T" })
	if err != nil || old.ended() {
		return tally{missed: 1}, errors.Join(err, r.want(0, "resume", string(r.id())))
	}
	keeper, err := r.keeperPid()
	if err != nil {
		return tally{}, err
	}
	if err := syscall.Kill(keeper, syscall.SIGSTOP); err != nil {
		return tally{}, fmt.Errorf("stop the keeper: %w", err)
	}
	old.signal(syscall.SIGCONT)
	if e, err := old.wait(); err != nil || e.signal != syscall.SIGKILL {
		return tally{}, errors.Join(err, fmt.Errorf("the driver was to be killed: %v", e))
	}
	heir, err := r.start(nil, "resume", string(r.id()))
	if err != nil {
		return tally{}, err
	}
	err = until("the next driver greets", func() bool { return heir.ended() || r.knocks() && asleep(heir.pid()) })
	if err == nil {
		err = syscall.Kill(keeper, syscall.SIGCONT)
	}
	if err != nil {
		return tally{}, err
	}
	if e, err := heir.wait(); err != nil || e.code != 0 {
		return tally{}, errors.Join(err, fmt.Errorf("resume: %v", e))
	}
	seen, err := b.check(r, true)
	seen.points++
	return seen, err
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
