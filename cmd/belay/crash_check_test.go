//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/audit"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
)

// tally counts what was seen over many killed runs.
type tally struct {
	points                           int // runs that were killed
	adopted, harvested, unborn, lost int
	again                            int // steps started after they were done
	twice                            int // attempts that began more than once
	orphans                          int
	held                             int // runs that a person had to answer for
}

func (a *tally) add(b tally) {
	a.points += b.points
	a.adopted += b.adopted
	a.harvested += b.harvested
	a.unborn += b.unborn
	a.lost += b.lost
	a.again += b.again
	a.twice += b.twice
	a.orphans += b.orphans
	a.held += b.held
}

func (a *tally) String() string {
	return fmt.Sprintf("killed %d, adopted %d, harvested %d, unborn %d, lost %d, held %d; "+
		"done steps run again %d, started twice %d, orphans %d",
		a.points, a.adopted, a.harvested, a.unborn, a.lost, a.held, a.again, a.twice, a.orphans)
}

// sound says what must never have been seen.
func (a *tally) sound() error {
	if a.again+a.twice+a.orphans > 0 {
		return fmt.Errorf("not sound: %s", a)
	}
	return nil
}

// outcome is what a run amounted to, without what differs from run to run.
type outcome struct {
	status belay.Status
	steps  map[string]string // run and step to how it was settled
	ledger map[string]entry
}

// outcomeOf folds the records by itself: it shares no code with the brain.
func outcomeOf(recs []event.Record, ledger map[string]entry) *outcome {
	o := &outcome{status: belay.Running, steps: map[string]string{}, ledger: map[string]entry{}}
	root := string(recs[0].Run)
	name := func(s string) string { return "run" + strings.TrimPrefix(s, root) }
	values := map[belay.Key]string{}
	for _, r := range recs {
		at := name(string(r.Run)) + ":"
		switch e := r.Event.(type) {
		case event.AttemptEnded:
			values[e.Key] = settled(e.Observation)
		case event.AttemptJudged:
			step := name(stepOf(e.Key))
			if e.Verdict.OK {
				o.steps[step] = "ok " + values[e.Key]
			} else if e.Verdict.Failure != nil {
				o.steps[step] = string(e.Verdict.Failure.Kind) + " " + values[e.Key]
			}
		case event.ItemAnswered:
			o.steps[at+string(e.Path)] = map[string]string{event.ChoiceDone: "ok "}[e.Choice]
		case event.StepNotTaken:
			o.steps[at+string(e.Path)] = "not taken"
		case event.RunEnded:
			if r.Run == recs[0].Run {
				o.status = e.Status
			}
		}
	}
	for key, e := range ledger {
		o.ledger[name(key)] = e
	}
	return o
}

// stepOf is the run and step of a key: all but the number of the attempt.
func stepOf(key belay.Key) string {
	return string(key)[:strings.LastIndexByte(string(key), '.')]
}

// settled is the part of an observation that the next steps can see.
func settled(o effect.Observation) string {
	var list []string
	if o.KilledBy != fault.KilledNot {
		list = append(list, string(o.KilledBy))
	}
	if o.Output != nil {
		list = append(list, string(o.Output.JSON)+o.Output.Sha)
	}
	if o.Child != nil {
		b, err := json.Marshal(o.Child.Outputs)
		list = append(list, string(o.Child.Status), string(b))
		if err != nil {
			list = append(list, err.Error())
		}
	}
	return strings.Join(list, " ")
}

// same says in which steps two runs differ.
func (o *outcome) same(other *outcome) error {
	if o.status != other.status {
		return fmt.Errorf("status %s, want %s", other.status, o.status)
	}
	var errs []error
	for _, step := range slices.Sorted(maps.Keys(o.steps)) {
		if got := other.steps[step]; got != o.steps[step] {
			errs = append(errs, fmt.Errorf("%s is %q, want %q", step, got, o.steps[step]))
		}
	}
	if len(o.steps) != len(other.steps) {
		errs = append(errs, fmt.Errorf("%d steps settled, want %d", len(other.steps), len(o.steps)))
	}
	return errors.Join(errs...)
}

// check looks at a run that came to its end: at its journal, at what the steps
// themselves wrote down, and at the processes. exact: no attempt was lost, so
// every step must have begun exactly as often as in the run nobody killed.
func (b *bench) check(r *rig, exact bool) (tally, error) {
	if b.calm == nil {
		return tally{}, errors.New("nothing to compare with: -run 'TestCrash/^(unkilled|NAME)$'")
	}
	recs, err := r.records()
	if err != nil {
		return tally{}, err
	}
	ledger, err := r.ledger()
	if err != nil {
		return tally{}, err
	}
	got := outcomeOf(recs, ledger)
	seen := count(recs, ledger)
	errs := []error{b.calm.same(got), sound(recs), onceOnly(recs, ledger), r.effectsOnce()}
	if exact && !maps.Equal(b.calm.ledger, got.ledger) {
		errs = append(errs, fmt.Errorf("attempts that began: %v, want %v", got.ledger, b.calm.ledger))
	}
	err = r.nobodyLeft(recs[0].Run)
	if err != nil {
		seen.orphans++
	}
	return seen, errors.Join(append(errs, err, seen.sound())...)
}

// sound holds the journal against the rules of every journal.
func sound(recs []event.Record) error {
	var errs []error
	for _, v := range audit.Check(recs) {
		errs = append(errs, errors.New("audit: "+v.String()))
	}
	return errors.Join(errs...)
}

// count reads fates and repeated starts out of the records and the ledger.
func count(recs []event.Record, ledger map[string]entry) tally {
	var n tally
	done := map[string]bool{}
	for _, r := range recs {
		switch e := r.Event.(type) {
		case event.AttemptFound:
			switch e.How {
			case fault.Adopted:
				n.adopted++
			case fault.Harvested:
				n.harvested++
			case fault.Unborn:
				n.unborn++
			case fault.Lost:
				n.lost++
			}
		case event.AttemptJudged:
			done[stepOf(e.Key)] = e.Verdict.OK
		case event.AttemptStarted:
			if e.Role == belay.RoleMain && done[string(r.Run)+":"+string(e.Path)] {
				n.again++
			}
		}
	}
	for _, e := range ledger {
		if e.begins > 1 {
			n.twice++
		}
	}
	return n
}

// onceOnly says which steps that must not run twice did: one may begin again
// only after its own check has said that the work is not there.
func onceOnly(recs []event.Record, ledger map[string]entry) error {
	once := map[string]int{} // step to begins
	denied := map[string]int{}
	for _, r := range recs {
		switch e := r.Event.(type) {
		case event.AttemptStarted:
			if e.Once && e.Role == belay.RoleMain {
				once[stepOf(e.Key)] = 0
			}
		case event.AttemptEnded:
			if step, check := strings.CutSuffix(stepOf(e.Key), "@verify"); check && e.Observation.Exit != 0 {
				denied[step]++
			}
		}
	}
	for key, e := range ledger {
		if _, ok := once[stepOf(belay.Key(key))]; ok {
			once[stepOf(belay.Key(key))] += e.begins
		}
	}
	var errs []error
	for step, n := range once {
		if n > 1+denied[step] {
			errs = append(errs, fmt.Errorf("%s must not run twice: it began %d times, and its check denied the work %d times",
				step, n, denied[step]))
		}
	}
	return errors.Join(errs...)
}

// effectsOnce looks at what the steps that must not run twice did to the world.
func (r *rig) effectsOnce() error {
	var errs []error
	for _, name := range []string{"paid", "minted"} {
		if got := text(r.inWork(name)); got != "x\n" {
			errs = append(errs, fmt.Errorf("the effect %s is %q, want one line", name, got))
		}
	}
	return errors.Join(errs...)
}

// nobodyLeft looks for processes of a run that has ended. Its steps must be
// gone already; its keeper is given the moment it needs to leave.
func (r *rig) nobodyLeft(run belay.RunID) error {
	if pids := marked(run); len(pids) > 0 {
		return fmt.Errorf("orphans: %s", describe(pids))
	}
	err := until("nobody is left", func() bool { return len(carrying(r.mark)) == 0 && r.unkept() })
	if err != nil {
		return fmt.Errorf("%w: %s", err, describe(carrying(r.mark)))
	}
	return nil
}

// unkept tells whether no keeper holds the run: the kernel keeps its lock as
// long as it lives, also where its environment cannot be read.
func (r *rig) unkept() bool {
	f, err := os.OpenFile(r.folder().KeeperLock(), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// finish resumes until the run is over, and answers what is asked on the way.
func (r *rig) finish() (held int, err error) {
	for range 10 {
		e, err := r.belay(nil, "resume", string(r.id()))
		switch {
		case err != nil:
			return held, err
		case e.code == exit.OK && e.signal == 0:
			return held, nil
		case e.code != exit.Held:
			return held, fmt.Errorf("resume: %v", e)
		}
		held++
		if err := r.answerAll(); err != nil {
			return held, err
		}
	}
	return held, errors.New("the run does not come to an end")
}

// answerAll says of every held step that its work is there.
func (r *rig) answerAll() error {
	recs, err := r.records()
	if err != nil {
		return err
	}
	type item struct {
		run  belay.RunID
		step belay.Path
	}
	open := map[item]bool{}
	for _, rec := range recs {
		switch e := rec.Event.(type) {
		case event.ItemOpened:
			open[item{rec.Run, e.Path}] = true
		case event.ItemAnswered:
			delete(open, item{rec.Run, e.Path})
		}
	}
	if len(open) == 0 {
		return errors.New("the run is held, and nothing is asked")
	}
	for it := range open {
		if err := r.want(exit.OK, "answer", string(it.run), string(it.step), event.ChoiceDone, "--why", "looked"); err != nil {
			return err
		}
	}
	return nil
}
