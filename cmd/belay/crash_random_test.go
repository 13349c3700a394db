//go:build linux

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/failpoint"
)

// crashRandom kills the shipped driver at moments that only the seed decides:
// each run up to three times in a row, then lets it end.
//
// promise: K1, K2
func crashRandom(t *testing.T, b *bench) {
	t.Helper()
	kills := killsOf(t)
	var mu sync.Mutex
	var all tally
	for trial := uint64(0); all.points < kills && trial < uint64(20*kills); {
		round := min(4, kills-all.points)
		b.each(round, func(i int) {
			n := trial + uint64(i)
			seen, err := b.killAtRandom(n)
			if err != nil {
				t.Errorf("trial %d of seed %d: %v", n, b.seed, err)
			}
			mu.Lock()
			defer mu.Unlock()
			all.add(seen)
		})
		trial += uint64(round)
		if t.Failed() {
			break
		}
	}
	if all.points < kills {
		t.Errorf("only %d of %d kills met a living driver", all.points, kills)
	}
	b.say("random: %s; replay: SEED=%d KILLS=%d make crash", &all, b.seed, kills)
}

func killsOf(t *testing.T) int {
	t.Helper()
	text := os.Getenv("KILLS")
	if text == "" {
		return map[bool]int{true: 50, false: 3}[failpoint.Armed]
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("KILLS: %q is not a number from 1 up", text)
	}
	return n
}

// killAtRandom runs the recipe to its end; how often and when its drivers are
// killed is a function of the seed and the trial.
func (b *bench) killAtRandom(trial uint64) (tally, error) {
	r, err := b.newRig(b.shipped)
	if err != nil {
		return tally{}, err
	}
	defer r.wipe()
	dice := rand.New(rand.NewPCG(b.seed, trial))
	var seen tally
	args := []string{"run", "crash.yaml"}
	for range 1 + dice.IntN(3) {
		delay := time.Duration(dice.Int64N(int64(450 * time.Millisecond)))
		c, err := r.start(nil, args...)
		if err != nil {
			return seen, err
		}
		if !c.killAfter(delay) {
			if e := c.result(); e.code != exit.OK {
				return seen, fmt.Errorf("%v, with nobody killing it", e)
			}
			break
		}
		seen.points++
		if !r.began() {
			return seen, r.nothingBegan()
		}
		args = []string{"resume", string(r.id())}
	}
	if _, err := r.finish(); err != nil {
		return seen, err
	}
	got, err := b.check(r, true)
	got.points = seen.points
	return got, err
}

// began tells whether the run has a record: before that, nothing was promised.
func (r *rig) began() bool {
	if r.id() == "" {
		return false
	}
	recs, err := r.records()
	return err == nil && len(recs) > 0
}

// nothingBegan says of a run that was killed before its first record that
// nothing of it was done, and that resume does not pretend otherwise.
func (r *rig) nothingBegan() error {
	ledger, err := r.ledger()
	if err == nil && len(ledger) > 0 {
		err = fmt.Errorf("no record, and yet something began: %v", ledger)
	}
	if err != nil || r.id() == "" {
		return err
	}
	e, err := r.belay(nil, "resume", string(r.id()))
	if err == nil && e.code == exit.OK {
		err = errors.New("resume of a run without a record ended in 0")
	}
	return errors.Join(err, r.want(exit.OK, "run", "crash.yaml"))
}
