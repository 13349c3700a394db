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

	"github.com/belay-run/belay/exit"
)

// crashPanic lets Belay itself break: the code is Go's own, and the run can be
// resumed.
//
// promise: X2
func crashPanic(t *testing.T, b *bench) {
	t.Helper()
	points := []point{{"journal.before_append", 5}, {"journal.after_append", 3}, {"engine.before_spawn", 4}, {"engine.after_spawn", 12}}
	var mu sync.Mutex
	var all tally
	b.each(len(points), func(i int) {
		seen, err := b.panicAt(points[i])
		if err != nil {
			t.Errorf("%s: %v", points[i], err)
		}
		mu.Lock()
		defer mu.Unlock()
		all.add(seen)
	})
	if err := b.failureStays(); err != nil {
		t.Errorf("a clean-up that fails after a failure: %v", err)
	}
	for _, c := range []struct {
		step string
		fp   string
		code int
	}{
		{"command: exit 7", "panic", exit.Failed},
		{"command: exit 7, on_failure: escalate", "panic", exit.Held},
		{"command: exit 7, failure: infrastructure", "panic", exit.Infra},
		{`command: "true"`, "panic", exit.Panic},
		{"command: exit 7", "stop", exit.Failed}, // and two signals while it stands there
		{"command: exit 7, on_failure: escalate", "stop", exit.Held},
		{`command: "true"`, "stop", exit.OK},
	} {
		if err := b.afterTheEnd(c.step, c.fp, c.code); err != nil {
			t.Errorf("%s after the end of a run with %q: %v", c.fp, c.step, err)
		}
	}
	b.say("panic: %d points; %s", len(points), &all)
}

// afterTheEnd breaks belay, or interrupts it twice, when the end of a run is on
// disk and it only has to clean up: the code of the run stays, and after a success
// a panic is no success.
func (b *bench) afterTheEnd(step, action string, code int) error {
	r, err := b.newRig(b.armed)
	if err != nil {
		return err
	}
	defer r.wipe()
	if err := r.put("end.yaml", "name: end\nsteps:\n  - {id: one, "+step+"}\n"); err != nil {
		return err
	}
	c, err := r.start([]string{"BELAY_FP=drive.rested=1:" + action}, "run", "end.yaml")
	if err != nil {
		return err
	}
	if action == "stop" {
		if err := until("the driver stops at the end", func() bool { return c.ended() || stopped(c.pid()) }); err != nil {
			return err
		}
		c.signal(syscall.SIGINT)
		c.signal(syscall.SIGTERM)
		c.signal(syscall.SIGCONT)
	}
	e, err := c.wait()
	if err != nil || e.signal != 0 || e.code != code {
		return errors.Join(err, fmt.Errorf("want code %d: %v", code, e))
	}
	if action == "panic" && !strings.Contains(e.err, "failpoint drive.rested") {
		return fmt.Errorf("the panic is not said: %s", e.err)
	}
	return nil
}

func (b *bench) panicAt(p point) (tally, error) {
	r, err := b.newRig(b.armed)
	if err != nil {
		return tally{}, err
	}
	defer r.wipe()
	e, err := r.belay([]string{fmt.Sprintf("BELAY_FP=%s:panic", p)}, "run", "crash.yaml")
	if err != nil || e.code != exit.Panic || !strings.Contains(e.err, "failpoint "+p.name) {
		return tally{}, errors.Join(err, fmt.Errorf("want a panic: %v", e))
	}
	if _, err := r.finish(); err != nil {
		return tally{}, err
	}
	seen, err := b.check(r, true)
	seen.points++
	return seen, err
}

// failureStays breaks the state directory under a run that fails: what goes
// wrong after a failure does not change its code.
func (b *bench) failureStays() error {
	r, err := b.newRig(b.armed)
	if err != nil {
		return err
	}
	defer r.wipe()
	if err := r.put("fail.yaml", "name: fail\nsteps:\n  - {id: broken, command: touch began; exit 7}\n"); err != nil {
		return err
	}
	// The second append is the end of the run; while the driver stands there the
	// index it would note the end in is replaced by something else.
	c, err := r.start([]string{"BELAY_FP=journal.after_append=2:stop"}, "run", "fail.yaml")
	if err != nil {
		return err
	}
	if err := until("the driver stops at the end", func() bool { return c.ended() || stopped(c.pid()) }); err != nil {
		return err
	}
	if err := breakIndex(r); err != nil {
		return err
	}
	c.signal(syscall.SIGCONT)
	e, err := c.wait()
	if err != nil || e.code != exit.Failed {
		return errors.Join(err, fmt.Errorf("want the code of the failure: %v", e))
	}
	if !strings.Contains(e.err, "index") {
		return fmt.Errorf("what went wrong afterwards is not said: %s", e.err)
	}
	return nil
}

// breakIndex overwrites the shared index with what is no database.
func breakIndex(r *rig) error {
	for _, name := range []string{"index.db", "index.db-wal", "index.db-shm"} {
		file := r.state() + "/" + name
		if _, err := os.Stat(file); err != nil {
			continue
		}
		if err := os.WriteFile(file, []byte(strings.Repeat("no database ", 400)), 0o600); err != nil {
			return err
		}
	}
	return nil
}
