package recovery

import (
	"fmt"
	"math"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/fault"
)

// Why recoveries are not taken, in words that more than one of them uses.
const (
	noAgents     = "the run uses no agents"
	onlyAgents   = "only an agent's step has it"
	notTwice     = "the step must not run twice"
	sameTwice    = "the same failure twice and nothing changed"
	serviceSpent = "the service has no retries left"
	pastDeadline = "the wait would end after the run's deadline"
	timeOver     = "the run's time is over"
	isEnd        = "it is an end"
	noRepair     = "the step says repair: off"
)

// NoAgent is why a sub-recipe is not recovered when nobody is there to do it.
const NoAgent = "there is no agent that could be asked"

func longWords(asked time.Duration) string {
	return fmt.Sprintf("the other side asks to wait %s", rounded(asked))
}

// try looks at one recovery: the plan, or why it is not taken.
func (c *chooser) try(w way) (belay.Plan, string) {
	if why := c.barred(w); why != "" {
		return belay.Plan{}, why
	}
	p := belay.Plan{Act: w.act, Rule: c.rule(), Due: c.s.Now, Counts: !w.patient, Patient: w.patient}
	why := isEnd
	switch w.act {
	case belay.ActRetry:
		p.Due, why = c.retry(w)
	case belay.ActResume:
		why = c.resume(w)
	case belay.ActFresh:
		why = c.fresh(w)
	case belay.ActFailover:
		p.Agent, why = c.failover(w)
	case belay.ActReassign:
		p.Role, why = c.reassign(w)
	case belay.ActRepair:
		why = c.repair(w)
	case belay.ActDecompose:
		why = c.decompose()
	case belay.ActRecover:
		p.Rule, why = "recover", c.recover()
	case belay.ActFallback, belay.ActSkip, belay.ActGiveUp, belay.ActAbort, belay.ActHold: // see finish
	case belay.ActNone, belay.ActVerify, belay.ActRetryAfter, belay.ActEscalate, belay.ActStop: // no plan has it
	}
	if why != "" {
		return belay.Plan{}, why
	}
	if w.anew && c.s.Timeout > 0 && c.s.Timeout <= math.MaxInt64/2 {
		p.Timeout = 2 * c.s.Timeout
	}
	p.Brief, p.Reason = c.brief(w.act), c.reason(p, w)
	return p, ""
}

// rule is the row of the table that chose: it is named for its class.
func (c *chooser) rule() string {
	class := plain(c.s.Failure.Class)
	if class == belay.ClassTimeout && c.s.ownClock() {
		return "own_timeout"
	}
	return string(class)
}

// barred is what stands against every recovery, or against all that spend.
func (c *chooser) barred(w way) string {
	s, act := &c.s, w.act
	spends := act == belay.ActFailover || act == belay.ActReassign || act == belay.ActRepair || act == belay.ActDecompose || act == belay.ActRecover
	calls := s.Type.Agent() || spends
	switch {
	case s.late(0):
		return timeOver
	case s.usedWays() >= maxWays && !w.patient:
		return fmt.Sprintf("the step has had its %d recoveries", maxWays)
	case spends && !s.Agents:
		return noAgents
	case act == belay.ActRepair && s.Declared.NoRepair:
		return noRepair
	case s.Once && act != belay.ActResume && act != belay.ActRecover:
		return notTwice
	case calls && s.Spent && act != belay.ActFailover && (!w.patient || w.limit > 0):
		return serviceSpent
	}
	return ""
}

func (c *chooser) retry(w way) (due time.Time, why string) {
	s := &c.s
	n := s.tries(w.every)
	switch {
	case !s.Type.Agent() && !restartable(s.Failure):
		return due, "a shell step is retried by its own retry: only, unless the failure is known to be temporary"
	case w.park && s.hint() == 0:
		return due, "nobody knows when it can go on"
	case w.patient:
		return c.patient(w)
	case s.stalemate():
		return due, sameTwice
	case n >= w.limit:
		return due, c.triedWords(n)
	case w.park:
		return c.parked()
	case s.hint() > longWait:
		return due, longWords(s.hint())
	}
	pause := s.pause(w, n)
	if s.late(pause) {
		return due, pastDeadline
	}
	return s.Now.Add(pause), ""
}

// restartable tells whether a shell step may be started again unasked: its
// failure goes away by itself, and typed, process or probe evidence says so.
func restartable(f belay.Failure) bool {
	if !proven(f.Level) {
		return false
	}
	return roomAgain(f) || f.Class.Row().Passes && (f.Class != belay.ClassConflict || f.Move != belay.ActRepair) // a lock, not a merge
}

// roomAgain tells that a disk took no more, and that a look at it found room since.
func roomAgain(f belay.Failure) bool { return f.Rule == fault.RuleDisk && f.Move == belay.ActRetry }

// proven tells that more than words decided the class.
func proven(l belay.Level) bool {
	switch l {
	case belay.LevelTyped, belay.LevelProcess, belay.LevelProbe:
		return true
	case belay.LevelAct, belay.LevelRepeat, belay.LevelText, belay.LevelUnknown:
	}
	return false
}

// parked is a wait until the time that the other side named.
func (c *chooser) parked() (due time.Time, why string) {
	s := &c.s
	wait := s.hint()
	switch {
	case wait > maxPark:
		return due, fmt.Sprintf("it goes on in %s only; %s is the longest wait", rounded(wait), maxPark)
	case s.late(wait):
		return due, pastDeadline
	}
	return s.Now.Add(wait), ""
}

func (c *chooser) triedWords(n int) string {
	switch {
	case plain(c.s.Failure.Class) == belay.ClassUnknown && n == 1:
		return "nobody can explain it, and it was tried once more already"
	case n == 1:
		return "tried once for it already"
	}
	return fmt.Sprintf("tried %d times for it already", n)
}

func (c *chooser) resume(w way) string {
	s := &c.s
	switch n := s.tries(w.every); {
	case !s.Resumes:
		return "the agent cannot continue its session"
	case s.resumed():
		return "the session went on once for this failure already"
	case n >= w.limit:
		return c.triedWords(n)
	}
	return ""
}

func (c *chooser) fresh(w way) string {
	if n := c.s.tries(w.every); n >= w.limit {
		return c.triedWords(n)
	}
	return ""
}

func (c *chooser) failover(w way) (string, string) {
	s := &c.s
	there := false
	switch n := s.times(belay.ActFailover); {
	case !s.Type.Agent():
		return "", onlyAgents
	case w.limit > 0 && n >= w.limit:
		return "", "another agent said the same"
	}
	for _, name := range s.Others {
		if name == "" || name == s.Agent {
			continue
		}
		if !s.triedAgent(name) {
			return name, ""
		}
		there = true
	}
	if there {
		return "", "all other agents had their turn"
	}
	return "", "no other agent is there"
}

func (c *chooser) reassign(w way) (string, string) {
	s := &c.s
	switch {
	case !s.Type.Agent():
		return "", onlyAgents
	case s.Failure.Move == belay.ActEscalate:
		return "", "another system said no: no role of ours changes that"
	case s.times(belay.ActReassign) >= w.limit:
		return "", "another role was denied it too"
	}
	for _, role := range s.Covering {
		if role != "" && !s.triedRole(role) {
			return string(role), ""
		}
	}
	return "", "no other role may do what was denied"
}

// repair goes on as long as less fails each time. Where nobody can count what
// fails there is one round.
func (c *chooser) repair(w way) string {
	s := &c.s
	rounds, last := 0, []string(nil)
	for i := range s.Past {
		if s.Past[i].Act == belay.ActRepair {
			rounds, last = rounds+1, s.Past[i].Failing
		}
	}
	switch {
	case s.Type.Agent() && plain(s.Failure.Class) == belay.ClassUnknown && !s.Checked:
		return "the step has no check that could show it fixed"
	case rounds == 0:
		return ""
	case rounds >= w.limit:
		return fmt.Sprintf("%d of %d rounds are used up", rounds, w.limit)
	case len(last) == 0 || len(s.Failing) == 0:
		return "one round did not fix it, and nobody can count what fails"
	case len(s.Failing) >= len(last):
		return fmt.Sprintf("the last round did not help: %d failed before it, %d after", len(last), len(s.Failing))
	}
	return ""
}

func (c *chooser) decompose() string {
	switch s := &c.s; {
	case !s.Type.Agent():
		return onlyAgents
	case s.took(belay.ActDecompose):
		return "it was split already"
	case s.Depth >= MaxDepth:
		return fmt.Sprintf("the task is the part of a part: it was split %d times already", s.Depth)
	}
	return ""
}

// recover asks an agent to finish a sub-recipe, once for each failure, and only
// where there was something to recover from.
func (c *chooser) recover() string {
	s := &c.s
	f := s.Failure
	switch {
	case s.Unstaffed:
		return NoAgent
	case !s.Recoverable:
		return "recovery is off for it, or there is nothing to recover from"
	case f.Kind == belay.RecursionLimit || f.Class == belay.ClassCancelled || f.Class == belay.ClassBudget:
		return "there is nothing to recover from"
	case len(s.Past) > 0 && s.Past[len(s.Past)-1].Act == belay.ActRecover:
		return "an agent was asked for this failure already"
	}
	return ""
}
