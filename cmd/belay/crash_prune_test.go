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

	"github.com/belay-run/belay/exit"
)

// crashPrune kills a prune at every moment between the first byte of an archive
// and the last trace of the folder: the run is always there once at least, in its
// folder or proven in its archive, and the next prune ends what was begun.
func crashPrune(t *testing.T, b *bench) {
	t.Helper()
	points := []string{"retire.written", "retire.archived", "remove.before_move", "remove.after_move", "remove.half", "retire.removed"}
	b.each(len(points), func(i int) {
		if err := b.pruneKilledAt(points[i]); err != nil {
			t.Errorf("%s: %v", points[i], err)
		}
	})
	b.say("prune: killed at %d points", len(points))
}

func (b *bench) pruneKilledAt(point string) error {
	r, err := b.newRig(b.armed)
	if err != nil {
		return err
	}
	defer r.wipe()
	if err := r.put("ok.yaml", "name: ok\nsteps:\n  - {id: one, command: echo hello}\n"); err != nil {
		return err
	}
	if err := r.want(exit.OK, "run", "ok.yaml", "--id", "old"); err != nil {
		return err
	}
	e, err := r.belay([]string{"BELAY_FP=" + point + "=1:kill"}, "prune", "--older", "0s")
	if err != nil || e.signal != syscall.SIGKILL {
		return errors.Join(err, fmt.Errorf("want it killed: %v", e))
	}
	for _, then := range []string{"before the next prune", "after it"} {
		e, err := r.belay(nil, "logs", "old")
		if err != nil || e.code != exit.OK || e.out != "hello\n" {
			return errors.Join(err, fmt.Errorf("%s the run cannot be looked at: %v", then, e))
		}
		if err := r.want(exit.OK, "prune", "--older", "0s"); err != nil {
			return err
		}
	}
	if err := r.want(exit.OK, "audit", "--all"); err != nil {
		return err
	}
	for _, folder := range []string{"runs", "look"} {
		left, err := os.ReadDir(filepath.Join(r.state(), folder))
		if err != nil || len(left) > 0 {
			return errors.Join(err, fmt.Errorf("left in %s: %v", folder, left))
		}
	}
	e, err = r.belay(nil, "runs", "--archived", "--json")
	if err != nil || strings.Count(e.out, `"run":"old"`) != 1 {
		return errors.Join(err, fmt.Errorf("the archive: %v", e))
	}
	return nil
}
