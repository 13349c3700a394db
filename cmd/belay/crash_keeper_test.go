//go:build linux && failpoints

package main

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/belay-run/belay/exit"
)

// killKeeper kills the keeper and waits until it is gone.
func (r *rig) killKeeper() error {
	keeper, err := r.keeper()
	if err != nil {
		return err
	}
	_ = keeper.Signal(syscall.SIGKILL) // it may have left by itself
	return until("the keeper is dead", func() bool { return !keeper.Alive() })
}

// crashKeeper kills the keeper at each of its own points while the driver
// lives: the driver ends what is left, reads the log and goes on with another.
//
// promise: K4, K5
func crashKeeper(t *testing.T, b *bench) {
	t.Helper()
	all := b.sweep(t, []string{"keeper.before_birth", "keeper.after_birth", "keeper.before_exit_line", "keeper.after_exit_line"}, fewest, b.killKeeperAt)
	if all.harvested == 0 || all.unborn == 0 || all.lost == 0 || all.held == 0 {
		t.Errorf("the sweep must show harvested, unborn and lost attempts, and held runs: %s", &all)
	}
	b.say("keeper: %s", &all)
}

func (b *bench) killKeeperAt(arms []point) (point, tally, error) {
	r, err := b.newRig(b.armed)
	if err != nil {
		return point{}, tally{}, err
	}
	defer r.wipe()
	p, held, err := r.keeperDies(arms, "run", "crash.yaml")
	if err != nil {
		return p, tally{}, err
	}
	seen, err := b.check(r, false)
	seen.held, seen.points = held, 1
	return p, seen, errors.Join(err, b.onlyInFlight(r))
}

// keeperDies runs belay with a keeper that kills itself at one of the points, under
// its driver, and brings the run to its end.
func (r *rig) keeperDies(arms []point, args ...string) (p point, held int, err error) {
	e, err := r.belay(r.armed("kill", arms...), args...)
	p, _, met := r.met()
	switch {
	case err != nil:
		return p, 0, err
	case !met || (e.signal == syscall.SIGKILL) != (p.name == lastPlace):
		return p, 0, fmt.Errorf("the keeper was to be killed: %v", e)
	case e.signal == 0 && e.code == exit.OK:
		return p, 0, nil
	case e.code == exit.Held:
		held, err = 1, r.answerAll()
	case e.signal == 0:
		return p, 0, fmt.Errorf("with its keeper killed: %v", e)
	}
	if err != nil {
		return p, held, err
	}
	more, err := r.finish()
	if err != nil {
		err = fmt.Errorf("after %v: %w", e, err)
	}
	return p, held + more, err
}
