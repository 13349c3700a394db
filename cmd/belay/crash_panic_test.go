//go:build linux && failpoints

package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
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
	all := b.sweep(t, points, b.panicAt)
	if err := b.failureStays(); err != nil {
		t.Errorf("a clean-up that fails after a failure: %v", err)
	}
	b.say("panic: %d points; %s", len(points), &all)
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
	if err := until("the driver stops at the end", func() bool { return c.ended() || state(c.pid()) == "T" }); err != nil {
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
