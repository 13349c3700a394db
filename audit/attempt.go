package audit

import (
	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
)

// attempt is one start of a step, of its check or of a hook.
type attempt struct {
	key       belay.Key
	step      stepID
	role      belay.Role
	number    int
	once      bool
	child     belay.RunID
	state     state
	unfound   bool // open at the last attach, and not found yet
	harvested bool // its end must come next
	judged    bool
}

// state is where an attempt stands.
type state int

const (
	stateOpen   state = iota // started
	stateEnded               // its end was seen
	stateLost                // nobody saw its end
	stateUnborn              // it never began
)

func (c *checker) onStarted(e event.AttemptStarted) {
	run := c.rec.Run
	if want := belay.KeyOf(run, e.Path, e.Role, e.Attempt); e.Key != want {
		c.say(RuleKey, "key %s, want %s", e.Key, want)
	}
	st := c.step(e.Path)
	if c.open[e.Key] != nil || st.open > 0 {
		c.say(RuleOpen, "attempt %s starts while one of its step is open", e.Key)
		return
	}
	if st.final != "" {
		c.say(RuleFinal, "attempt %s starts, but the step is %s", e.Key, st.final)
	}
	if want := st.last[e.Role] + 1; e.Attempt != want {
		c.say(RuleNumber, "attempt %s, but the next number is %d", e.Key, want)
	}
	if e.Child != "" && e.Child != run.Child(e.Path, e.Attempt) && c.streams[e.Child] == nil {
		c.say(RuleChild, "attempt %s names the child run %s", e.Key, e.Child)
	}
	a := &attempt{
		key: e.Key, step: stepID{run, e.Path}, role: e.Role, number: e.Attempt, once: e.Once, child: e.Child,
	}
	c.attempts[e.Key], c.open[e.Key] = a, a
	st.open++
	st.last[e.Role] = e.Attempt
	switch e.Role {
	case belay.RoleMain:
		c.beginMain(st, e.Key)
	case belay.RoleHook:
		c.beginHook(st, e)
	case belay.RoleRepair, belay.RolePlan, belay.RoleRecovery:
		c.beginHelper(st, e)
	case belay.RoleMerge:
		if !st.merging {
			c.say(RuleMerge, "%s starts, and there is no work to be merged", e.Key)
		}
		st.owed = false
	case belay.RoleVerify:
	}
}

// beginHelper checks that an agent that helps was called by a recovery.
func (c *checker) beginHelper(st *step, e event.AttemptStarted) {
	if st.called != e.Role {
		c.say(RuleRecovery, "%s starts, and no recovery called it", e.Key)
	}
}

// beginHook checks that a hook stands beside a step, at a path of its own. It
// is settled whatever becomes of it: nothing waits for its verdict.
func (c *checker) beginHook(st *step, e event.AttemptStarted) {
	st.settled = true
	at, hook := e.Path.Hook()
	if at == "" || hook == "" || e.Child != "" {
		c.say(RuleHook, "hook %s is at %s, which is not STEP@HOOK", e.Key, e.Path)
		return
	}
	if main := c.steps[stepID{c.rec.Run, at}]; main != nil && main.open > 0 {
		c.say(RuleHook, "hook %s starts while an attempt of its step is open", e.Key)
	}
}

// find is the open attempt of a key in the record's own run.
func (c *checker) find(k belay.Key) *attempt {
	a := c.open[k]
	if a == nil || a.step.run != c.rec.Run {
		c.say(RuleOpen, "%s of %s, which is not open in run %s", c.rec.Event.Kind(), k, c.rec.Run)
		return nil
	}
	return a
}

func (c *checker) close(a *attempt, to state) *step {
	a.state = to
	a.unfound, a.harvested = false, false
	delete(c.open, a.key)
	st := c.steps[a.step]
	st.open--
	return st
}

// orderly checks that nothing is said of an attempt before it is found, and
// nothing but its end after it is harvested.
func (c *checker) orderly(a *attempt) {
	if a.unfound {
		c.say(RuleFound, "%s of %s before it was found", c.rec.Event.Kind(), a.key)
		a.unfound = false
	}
	if _, end := c.rec.Event.(event.AttemptEnded); a.harvested && !end {
		c.say(RuleHarvested, "%s of %s, which was harvested and must end", c.rec.Event.Kind(), a.key)
		a.harvested = false
	}
}

func (c *checker) onStopping(e event.AttemptStopping) {
	if a := c.find(e.Key); a != nil {
		c.orderly(a)
	}
}

func (c *checker) onFound(s *stream, e event.AttemptFound) {
	a := c.find(e.Key)
	if a == nil {
		return
	}
	if !a.unfound {
		c.say(RuleFound, "attempt %s is found %s, but it was not waiting to be found", a.key, e.How)
		return
	}
	a.unfound = false
	switch e.How {
	case fault.Adopted:
		return
	case fault.Harvested:
		a.harvested = true
		return
	case fault.Unborn:
		st := c.close(a, stateUnborn)
		st.last[a.role]--
		return
	case fault.Lost:
		c.lost(s, a)
		return
	}
	c.say(RuleFound, "attempt %s is found %q", a.key, e.How)
}

func (c *checker) lost(s *stream, a *attempt) {
	st := c.close(a, stateLost)
	if a.role == belay.RoleHook {
		return // nothing depends on it
	}
	st.lost++
	st.owed = true
	if a.role == belay.RoleMain && a.once {
		st.unknown = true
	}
	if c.limits == nil {
		return
	}
	most := c.limits.MaxLost + 1 + st.again + s.reopens
	if a.role == belay.RoleVerify {
		most++ // the check of one that was lost too often is tried all the same, once
	}
	if st.lost > most {
		c.say(RuleLost, "step %s of run %s is lost %d times; %d allowed", a.step.path, a.step.run, st.lost, most)
	}
}

func (c *checker) onAttemptEnded(e event.AttemptEnded) {
	a := c.find(e.Key)
	if a == nil {
		return
	}
	c.orderly(a)
	o := e.Observation
	if a.child != "" {
		c.childEnd(a, o)
	} else if o.Child != nil {
		c.say(RuleChildEnd, "attempt %s is no child run, but ends like one", a.key)
	}
	st := c.close(a, stateEnded)
	switch {
	case a.role == belay.RoleMain && a.once && cutOff(o):
		st.unknown = true
	case a.role == belay.RoleVerify && spoke(o):
		st.checked = o.Exit == 0
		if o.Exit != 0 {
			st.unknown = false
		}
	}
}

func (c *checker) childEnd(a *attempt, o effect.Observation) {
	s := c.streams[a.child]
	if s == nil || s.ended == nil {
		c.say(RuleChildEnd, "attempt %s ends before its child run %s", a.key, a.child)
		return
	}
	if o.Child == nil || o.Child.Status != s.ended.Status || o.Child.Code != s.ended.Code {
		c.say(RuleChildEnd, "attempt %s does not end as its child run %s did", a.key, a.child)
	}
}

// cutOff tells whether a process was ended in the middle, so that its effect
// may or may not be there.
func cutOff(o effect.Observation) bool {
	return o.Began && (o.KilledBy != fault.KilledNot || o.Signal != 0)
}

// spoke tells whether a check ran to its own end: one that could not start or
// was cut off says nothing about the work.
func spoke(o effect.Observation) bool {
	return o.Began && o.KilledBy == fault.KilledNot && o.Signal == 0 && o.Fault == fault.None
}

func (c *checker) onJudged(e event.AttemptJudged) {
	a := c.attempts[e.Key]
	if a == nil || a.step.run != c.rec.Run || a.role == belay.RoleHook || a.role == belay.RoleVerify && !c.steps[a.step].vouched && !c.steps[a.step].reasked {
		c.say(RuleJudged, "%s is judged, but is no main attempt of run %s", e.Key, c.rec.Run)
		return
	}
	st := c.steps[a.step]
	switch {
	case a.role == belay.RoleVerify && (e.Verdict.OK && !st.checked || !e.Verdict.OK && !st.reasked):
		c.say(RuleJudged, "check %s is judged, but did not pass", a.key)
		return
	case a.state == stateOpen, a.state == stateUnborn, st.open > 0:
		c.say(RuleJudged, "attempt %s is judged before it or its check ended", a.key)
		return
	case a.judged:
		c.say(RuleJudged, "attempt %s is judged twice", a.key)
		return
	case a.state == stateLost && e.Verdict.OK && !st.checked:
		c.say(RuleJudged, "attempt %s was lost and is called done without a check", a.key)
	}
	a.judged, st.vouched, st.reasked = true, false, false
	if a.role == belay.RoleMerge {
		st.judgeMerge(e.Verdict)
		return
	}
	if a.role != belay.RoleMain && a.role != belay.RoleVerify {
		st.judgeHelper(a.role, e.Verdict)
		return
	}
	st.judge(e.Verdict)
}
