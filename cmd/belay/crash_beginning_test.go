//go:build linux && failpoints

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/failpoint"
)

// TestCrashBeginning kills a run at each moment of its beginning, and gc at each
// moment of the removal of what is left: run --id, resume, gc and runs agree that
// the run never began, and nothing of it ever reads as damaged.
//
// promise: K5
func TestCrashBeginning(t *testing.T) {
	t.Parallel()
	b := newBench(t, true)
	type cut struct {
		at, then string
		kill     func(at, then string) error
	}
	var cuts []cut
	for _, name := range failpoint.Names() {
		for _, then := range []string{"again", "gc"} {
			switch {
			case strings.HasPrefix(name, "create."):
				cuts = append(cuts, cut{name, then, b.cutBeginning})
			case strings.HasPrefix(name, removePoint):
				cuts = append(cuts, cut{name, then, b.cutRemoval})
			}
		}
	}
	b.each(len(cuts), func(i int) {
		c := cuts[i]
		if err := c.kill(c.at, c.then); err != nil {
			t.Errorf("killed at %s, then %s: %v", c.at, c.then, err)
		}
	})
}

// cutBeginning kills a run before its first record, and then begins it again or
// takes it away.
func (b *bench) cutBeginning(name, then string) error {
	r, err := b.newRig(b.armed)
	if err != nil {
		return err
	}
	defer r.wipe()
	if err := r.dies(name, "run", "crash.yaml", "--id", "mine"); err != nil {
		return err
	}
	if err := r.neverBegan(); err != nil {
		return err
	}
	return r.goOn(then)
}

// cutRemoval kills gc while it removes such a run.
func (b *bench) cutRemoval(name, then string) error {
	r, err := b.newRig(b.armed)
	if err != nil {
		return err
	}
	defer r.wipe()
	if err := r.dies("create.greeted", "run", "crash.yaml", "--id", "mine"); err != nil {
		return err
	}
	if err := until("the keeper leaves", func() bool {
		e, err := r.belay(nil, "gc", "--dry-run")
		return err == nil && strings.Contains(e.out, "never began")
	}); err != nil {
		return err
	}
	if err := r.dies(name, "gc", "--yes"); err != nil {
		return err
	}
	if err := r.neverBegan(); err != nil {
		return err
	}
	return r.goOn(then)
}

// dies runs a command that must be killed at a point.
func (r *rig) dies(name string, args ...string) error {
	e, err := r.belay([]string{fmt.Sprintf("BELAY_FP=%s=1:kill", name)}, args...)
	if err == nil && e.signal != syscall.SIGKILL {
		err = fmt.Errorf("it was to be killed: %v", e)
	}
	return err
}

// neverBegan holds what each command says of such a run: that it never began, or
// that there is none.
func (r *rig) neverBegan() error {
	var errs []error
	for _, args := range [][]string{{"runs"}, {"gc", "--dry-run"}, {"inbox"}, {"why", "mine"}, {"resume", "mine"}} {
		e, err := r.belay(nil, args...)
		want := args[0] != "why" && args[0] != "resume"
		switch {
		case err != nil:
			errs = append(errs, err)
		case strings.Contains(e.out+e.err, "damaged") || strings.Contains(e.out, "crashed") || (e.code == 0) != want || !want && e.code != 65:
			errs = append(errs, fmt.Errorf("%v: %v", args, e))
		}
	}
	return errors.Join(errs...)
}

// goOn begins the run again, or removes it; nothing is left of the first one.
func (r *rig) goOn(then string) error {
	if then == "again" {
		e, err := r.belay(nil, "run", "crash.yaml", "--id", "mine")
		if err != nil || e.code != 0 {
			return errors.Join(err, fmt.Errorf("run --id: %v", e))
		}
	}
	for range 2 {
		if e, err := r.belay(nil, "gc", "--yes"); err != nil || e.code != 0 {
			return errors.Join(err, fmt.Errorf("gc: %v", e))
		}
	}
	entries, err := os.ReadDir(filepath.Join(r.state(), "runs"))
	if err != nil {
		return err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if left := strings.Join(names, " "); left != map[string]string{"again": "mine", "gc": ""}[then] {
		return fmt.Errorf("in the folder of runs: %q", left)
	}
	return nil
}
