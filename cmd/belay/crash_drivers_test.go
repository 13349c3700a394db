//go:build linux

package main

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
)

// slowRecipe has a step that goes on until the file go is there.
const slowRecipe = `name: slow
steps:
  - {id: before, command: ". ./words.sh; begin; end"}
  - {id: long, command: ". ./words.sh; begin; touch long-began; until [ -e go ]; do sleep 0.02; done; end"}
  - {id: after, command: ". ./words.sh; begin; end"}
`

// crashDrivers holds that a run has one driver at a time, and that a signal
// stops it in a way that can be resumed.
//
// promise: K2, K5, X9
func crashDrivers(t *testing.T, b *bench) {
	t.Helper()
	cases := []struct {
		name string
		run  func(*rig) error
	}{
		{"two at once", twoDrivers},
		{"stopped driver", stoppedDriver},
		{"SIGINT", func(r *rig) error { return signalled(r, exit.Interrupt, syscall.SIGINT) }},
		{"SIGTERM", func(r *rig) error { return signalled(r, exit.Terminated, syscall.SIGTERM) }},
		{"SIGHUP", func(r *rig) error { return signalled(r, exit.Hangup, syscall.SIGHUP) }},
		{"SIGINT twice", func(r *rig) error { return signalledTwice(r) }},
	}
	var failed atomic.Int64
	b.each(len(cases), func(i int) {
		if err := b.slow(cases[i].run); err != nil {
			failed.Add(1)
			t.Errorf("%s: %v", cases[i].name, err)
		}
	})
	b.say("drivers: %d cases, failed %d", len(cases), failed.Load())
}

// slow gives a rig with the slow recipe to a case and looks at what it left.
func (b *bench) slow(do func(*rig) error) error {
	r, err := b.newRig(b.shipped)
	if err != nil {
		return err
	}
	defer r.wipe()
	if err := r.put("slow.yaml", slowRecipe); err != nil {
		return err
	}
	if err := do(r); err != nil {
		return err
	}
	recs, err := r.records()
	if err != nil {
		return err
	}
	ledger, err := r.ledger()
	if err != nil {
		return err
	}
	n := count(recs, ledger)
	return errors.Join(sound(recs), n.sound(), r.nobodyLeft(recs[0].Run))
}

// driven starts the slow recipe and waits until its long step runs.
func (r *rig) driven() (*command, error) {
	c, err := r.start(nil, "run", "slow.yaml")
	if err != nil {
		return nil, err
	}
	return c, r.exists("long-began")
}

// twoDrivers leaves a run without a driver and sends two.
func twoDrivers(r *rig) error {
	first, err := r.driven()
	if err != nil {
		return err
	}
	first.signal(syscall.SIGKILL)
	<-first.done
	a, errA := r.start(nil, "resume", string(r.id()))
	b, errB := r.start(nil, "resume", string(r.id()))
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	if err := until("one of them gives up", func() bool { return a.ended() || b.ended() }); err != nil {
		return err
	}
	loser, winner := a, b
	if b.ended() {
		loser, winner = b, a
	}
	if e := loser.result(); e.code != exit.Busy {
		return fmt.Errorf("the second driver: %v", e)
	}
	if err := r.put("go", ""); err != nil {
		return err
	}
	e, err := winner.wait()
	if err != nil || e.code != exit.OK {
		return errors.Join(err, fmt.Errorf("the first driver: %v", e))
	}
	return r.begins(map[string]int{"before": 1, "long": 1, "after": 1})
}

// stoppedDriver holds that a driver that does not move is still the driver.
func stoppedDriver(r *rig) error {
	c, err := r.driven()
	if err != nil {
		return err
	}
	c.signal(syscall.SIGSTOP)
	if err := until("the driver is stopped", func() bool { return state(c.pid()) == "T" }); err != nil {
		return err
	}
	if err := r.want(exit.Busy, "resume", string(r.id())); err != nil {
		return err
	}
	c.signal(syscall.SIGCONT)
	if err := r.put("go", ""); err != nil {
		return err
	}
	e, err := c.wait()
	if err != nil || e.code != exit.OK {
		return errors.Join(err, fmt.Errorf("the driver went on: %v", e))
	}
	return r.begins(map[string]int{"before": 1, "long": 1, "after": 1})
}

// signalled stops a run with one signal: in order, resumable, with the running
// attempt given back.
func signalled(r *rig, code int, sig syscall.Signal) error {
	c, err := r.driven()
	if err != nil {
		return err
	}
	c.signal(sig)
	e, err := c.wait()
	if err != nil || e.code != code {
		return errors.Join(err, fmt.Errorf("%v: %v", sig, e))
	}
	if err := r.nobodyLeft(r.id()); err != nil {
		return err
	}
	if err := r.givenBack("long"); err != nil {
		return err
	}
	if err := r.put("go", ""); err != nil {
		return err
	}
	if _, err := r.finish(); err != nil {
		return err
	}
	return r.begins(map[string]int{"before": 1, "long": 2, "after": 1})
}

// deafGrace is how long a step that does not listen is given at the first signal.
const deafGrace = 50 * time.Second

// signalledTwice ends a run whose step does not listen: the second signal does
// not wait for it.
func signalledTwice(r *rig) error {
	deaf := strings.Replace(slowRecipe, "touch long-began", `trap '' TERM; touch long-began`, 1)
	if err := r.put("slow.yaml", deaf); err != nil {
		return err
	}
	r.base = append(r.base, "BELAY_KILL_GRACE="+deafGrace.String())
	c, err := r.driven()
	if err != nil {
		return err
	}
	c.signal(syscall.SIGINT)
	stopping := func() bool {
		recs, err := r.records()
		if err != nil || len(recs) == 0 {
			return false
		}
		_, ok := recs[len(recs)-1].Event.(event.AttemptStopping)
		return ok
	}
	if err := until("the stop is on record", stopping); err != nil {
		return err
	}
	second := time.Now()
	c.signal(syscall.SIGINT)
	e, err := c.wait()
	if err != nil || e.code != exit.Interrupt {
		return errors.Join(err, fmt.Errorf("second SIGINT: %v", e))
	}
	if err := until("nobody is left", func() bool { return len(carrying(r.mark)) == 0 }); err != nil {
		return fmt.Errorf("%w: %s", err, describe(carrying(r.mark)))
	}
	if took := time.Since(second); took > deafGrace/2 {
		return fmt.Errorf("a second SIGINT took %v: it waited for the step", took)
	}
	if err := r.put("go", ""); err != nil {
		return err
	}
	_, err = r.finish()
	return err
}

// begins holds how often each step began, over all its attempts.
func (r *rig) begins(want map[string]int) error {
	ledger, err := r.ledger()
	if err != nil {
		return err
	}
	got := map[string]int{}
	for key, e := range ledger {
		step := stepOf(belay.Key(key))
		got[step[strings.LastIndexByte(step, ':')+1:]] += e.begins
	}
	for step, n := range want {
		if got[step] != n {
			return fmt.Errorf("%s began %d times, want %d", step, got[step], n)
		}
	}
	return nil
}

// givenBack says that the last attempt of a step counts as nothing.
func (r *rig) givenBack(step string) error {
	recs, err := r.records()
	if err != nil {
		return err
	}
	for _, rec := range recs {
		if e, ok := rec.Event.(event.AttemptJudged); ok && strings.HasSuffix(stepOf(e.Key), ":"+step) {
			if e.Verdict.GivenBack {
				return nil
			}
			return fmt.Errorf("%s was judged %+v", step, e.Verdict)
		}
	}
	return fmt.Errorf("%s was not judged", step)
}
