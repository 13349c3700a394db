package sim

import (
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/recipe"
)

func (t *truth) mustBeOpen(k belay.Key, what string) *attempt {
	a := t.attempts[k]
	if a == nil || !a.open {
		t.w.violate("records fit together", "%s: %s and not open", k, what)
		return nil
	}
	return a
}

// started looks at the record that an attempt begins.
func (t *truth) started(run belay.RunID, e event.AttemptStarted) {
	at, _ := e.Path.Hook() // a hook stands beside its step
	d := t.steps[stepName(run, at)]
	if d == nil {
		t.w.violate("records name steps", "%s in %s", e.Path, run)
		return
	}
	t.beside(e, d)
	t.last(e, d)
	if t.pausing {
		t.w.violate("a pause starts nothing", "%s is started", e.Key)
	}
	a := t.attempts[e.Key]
	if a != nil && !a.unborn {
		t.w.violate("a key is started once", "%s was recorded as started twice", e.Key)
		return
	}
	t.attempts[e.Key] = &attempt{step: d, role: e.Role, child: e.Child, open: true}
	if e.Child == "" {
		t.open = append(t.open, e.Key)
	}
	if e.Role != belay.RoleMain {
		return
	}
	d.starts++
	if d.settled {
		t.w.violate("done is final", "%s is started and its step is %s", e.Key, d.phase)
	}
	t.capped(d)
}

// cleared takes back what counts against the steps of a run, or against one.
func (t *truth) cleared(run belay.RunID, p belay.Path) {
	for _, d := range t.steps {
		if d.run == run && (p == "" || d.path == p) {
			d.pardoned += d.lost
			d.lost = 0
		}
	}
}

// capped checks that a step is not tried more often than it may be.
func (t *truth) capped(d *stepTruth) {
	allowed := d.def.Retry.MaxAttempts + d.grants + d.given + d.pardoned + min(d.lost, t.w.limits.MaxLost+d.grants)
	if d.starts > allowed {
		t.w.violate("attempts are capped", "%s: attempt %d of %d", stepName(d.run, d.path), d.starts, allowed)
	}
}

func (t *truth) close(k belay.Key, a *attempt) {
	a.open = false
	t.open = slices.DeleteFunc(t.open, func(o belay.Key) bool { return o == k })
}

// found looks at what was said about an attempt that was open at attach.
func (t *truth) found(e event.AttemptFound) {
	a := t.mustBeOpen(e.Key, "found")
	if a == nil {
		return
	}
	t.w.stats.Found[foundIndex(e.How)]++
	i := slices.Index(t.due, e.Key)
	if i < 0 {
		t.w.violate("one fate for each open attempt", "%s was found twice, or was not open", e.Key)
		return
	}
	t.due = slices.Delete(t.due, i, i+1)
	switch e.How {
	case fault.Adopted:
		if a.births == 0 {
			t.w.violate("what is found is true", "%s was adopted and never born", e.Key)
		}
	case fault.Harvested:
		if a.exit == nil {
			t.w.violate("what is found is true", "%s was harvested and has not ended", e.Key)
		}
	case fault.Unborn:
		t.foundUnborn(e.Key, a)
	case fault.Lost:
		if a.births == 0 && t.w.stats.PowerCuts == 0 {
			t.w.violate("what is found is true", "%s is called lost and was never born", e.Key)
		}
		if a.role != belay.RoleHook {
			a.step.lost++
		}
		t.close(e.Key, a)
	}
}

func (t *truth) foundUnborn(k belay.Key, a *attempt) {
	if a.births > 0 {
		t.w.violate("what is found is true", "%s is called unborn and was born", k)
	}
	a.unborn = true
	t.close(k, a)
	if a.role == belay.RoleMain {
		a.step.starts--
	}
}

// ended compares what is said about an end with what happened.
func (t *truth) ended(e event.AttemptEnded) {
	a := t.mustBeOpen(e.Key, "ended")
	if a == nil {
		return
	}
	o := e.Observation
	a.ended = &o
	t.close(e.Key, a)
	if a.child != "" {
		if !t.over[a.child] {
			t.w.violate("a child ends before its parent's step", "%s", e.Key)
		}
		return
	}
	x := a.exit
	if a.role == belay.RoleMain && a.step.def.Type.Inside() {
		if x != nil || a.births > 0 {
			t.w.violate("a call starts no process", "%s: happened %+v", e.Key, x)
		}
		return
	}
	if x == nil || x.code != o.Exit || x.signal != o.Signal || x.killedBy != o.KilledBy || !o.Began {
		t.w.violate("what is recorded is true", "%s: recorded %+v, happened %+v", e.Key, o, x)
		return
	}
	if a.role == belay.RoleVerify && clean(o) && o.Exit != 0 {
		a.step.checked = true
		a.step.pass = "its verify said that the work is not there"
	}
}

// clean tells whether a process ended by itself.
func clean(o effect.Observation) bool {
	return o.Began && o.Signal == 0 && o.KilledBy == fault.KilledNot && o.Fault == fault.None
}

// judged checks a verdict against the ends that it speaks of.
func (t *truth) judged(e event.AttemptJudged) {
	a := t.attempts[e.Key]
	switch {
	case a == nil || a.role != belay.RoleMain && !(a.role == belay.RoleVerify && a.step.vouched && e.Verdict.OK):
		t.w.violate("records fit together", "%s was judged and is no main attempt", e.Key)
		return
	case a.judged:
		t.w.violate("a verdict is final", "%s was judged twice", e.Key)
		return
	case a.open:
		t.w.violate("records fit together", "%s was judged and is open", e.Key)
		return
	}
	a.judged = true
	v, d := e.Verdict, a.step
	switch {
	case v.OK:
		t.proven(e.Key, a)
		t.settle(d.run, d.path, "done", true)
	case v.GivenBack:
		d.given++
	case v.Failure != nil:
		if a.ended != nil && (a.ended.Child != nil || clean(*a.ended)) {
			d.pass = "it failed, and everybody saw it"
		}
	}
}

// proven checks that somebody saw the work: the attempt itself, or its verify.
func (t *truth) proven(k belay.Key, a *attempt) {
	d := a.step
	if a.role == belay.RoleMain && a.ended == nil && prints(d.def) {
		t.w.violate("an output is somebody's", "%s was lost and is judged done, and nobody has what it printed", k)
		return
	}
	if d.def.Verify != nil {
		if d.def.Type.Row().Shell && !t.w.scripted && !t.w.effects[stepName(d.run, d.path)] {
			t.w.violate("done means done", "%s was judged done, and its work is not there", k)
		}
		return
	}
	o := a.ended
	good := o != nil && (clean(*o) && o.Exit == 0 && o.Child == nil ||
		o.Child != nil && (o.Child.Status == belay.Achieved || o.Child.Status == belay.Partial))
	if !good {
		t.w.violate("done means done", "%s was judged done from %+v", k, o)
	}
}

// prints tells whether what a step prints is one of its results.
func prints(def *recipe.Step) bool {
	return def.Output != "" || def.JSON == effect.JSONRequired ||
		slices.ContainsFunc(def.Outputs, func(o effect.OutputSpec) bool { return o.File == "" })
}

// birth looks at a process that begins in the world.
func (t *truth) birth(j effect.Job) {
	a := t.attempts[j.Key]
	if a == nil || !a.open {
		t.w.violate("write it down, then do it", "%s is born, and no record says that it starts", j.Key)
		return
	}
	if a.births++; a.births > 1 {
		t.w.violate("a key is started once", "%s was born twice", j.Key)
	}
	if a.role != belay.RoleMain {
		return
	}
	d := a.step
	if d.settled {
		t.w.violate("done is final", "%s is born and its step is %s", j.Key, d.phase)
	}
	t.needsSettled(d)
	if d.births++; d.births > 1 && d.def.Once {
		t.again(j.Key, d)
	}
	d.pass, d.checked = "", false
}

// again checks that a step that must not run twice may run again.
func (t *truth) again(k belay.Key, d *stepTruth) {
	if d.pass == "" {
		t.w.violate("once is once", "%s: nobody can tell what the attempt before it did", k)
	}
	if d.checked && d.def.Verify != nil && t.w.effects[stepName(d.run, d.path)] && d.grants == 0 {
		t.w.violate("once is once", "%s: its work is there already", k)
	}
}

// needsSettled checks that everything a step waits for is behind it.
func (t *truth) needsSettled(d *stepTruth) {
	steps := t.progs[d.run].Steps
	for _, n := range d.def.Needs {
		need := t.steps[stepName(d.run, steps[n].ID)]
		if !need.settled {
			t.w.violate("needs come first", "%s is born before %s is settled", stepName(d.run, d.path), need.path)
		}
		if !need.done && need.phase != "not taken" && need.phase != "skipped" && !need.def.Optional {
			t.w.violate("needs come first", "%s is born and %s is %s", stepName(d.run, d.path), need.path, need.phase)
		}
	}
}

// exited keeps what really became of a process.
func (t *truth) exited(e *ending) {
	if a := t.attempts[e.key]; a != nil {
		a.exit = e
	}
}

// signal looks at a signal that a driver sent.
func (t *truth) signal(k belay.Key, why fault.KilledBy) {
	if a := t.attempts[k]; a == nil {
		t.w.violate("write it down, then do it", "%s is ended by %s, and no record knows it", k, why)
	}
}

// crowd checks how many processes run at the same time.
func (t *truth) crowd(n int) {
	if n > t.w.limits.MaxParallel {
		t.w.violate("no more at a time than allowed", "%d processes, %d allowed", n, t.w.limits.MaxParallel)
	}
}
