//go:build linux && failpoints

package main

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

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
	points := b.pointsOf(t, "keeper.before_birth", "keeper.after_birth", "keeper.before_exit_line", "keeper.after_exit_line")
	all := b.sweep(t, points, b.killKeeperAt)
	if all.harvested == 0 || all.unborn == 0 || all.lost == 0 || all.held == 0 {
		t.Errorf("the sweep must show harvested, unborn and lost attempts, and held runs: %s", &all)
	}
	b.say("keeper: %d points; %s", len(points), &all)
}

func (b *bench) killKeeperAt(p point) (tally, error) {
	r, err := b.newRig(b.armed)
	if err != nil {
		return tally{}, err
	}
	defer r.wipe()
	c, err := r.start([]string{fmt.Sprintf("BELAY_FP=%s:stop", p)}, "run", "crash.yaml")
	if err != nil {
		return tally{}, err
	}
	died, err := r.killFirstStopped(c)
	if err != nil {
		return tally{}, err
	}
	e, err := c.wait()
	if err != nil || e.code != exit.OK && e.code != exit.Held {
		return tally{}, errors.Join(err, fmt.Errorf("%v", e))
	}
	held := 0
	if e.code == exit.Held {
		if err := r.answerAll(); err != nil {
			return tally{}, err
		}
		if held, err = r.finish(); err != nil {
			return tally{}, fmt.Errorf("after %v: %w", e, err)
		}
		held++
	}
	seen, err := b.check(r, false)
	seen.held, seen.points, seen.missed = held, died, 1-died
	return seen, errors.Join(err, b.onlyInFlight(r))
}

// killFirstStopped kills the first keeper that stands at its point. The point
// is armed in those that follow too: they are told to go on.
func (r *rig) killFirstStopped(c *command) (died int, err error) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for late := time.After(patience); ; {
		select {
		case <-c.done:
			return died, nil
		case <-late:
			return died, errors.New("the run does not come to an end")
		case <-tick.C:
		}
		keeper, err := r.keeper()
		switch {
		case err != nil:
			return died, err
		case keeper.Pid == 0 || state(keeper.Pid) != "T":
		case died == 0:
			died++
			_ = keeper.Signal(syscall.SIGKILL) // it stands still: it is there
		default:
			_ = keeper.Signal(syscall.SIGCONT) // as above
		}
	}
}
