package recovery

import (
	"fmt"
	"slices"
	"time"

	"github.com/belay-run/belay"
)

// The names of the policies, as a plan carries them.
const (
	PolicyBelay   = "belay"
	PolicyClassic = "classic"
)

// RuleHelperTampered is the rule of a failure by an agent that helps and changed
// guarded files again after it was told: nothing more is tried.
const RuleHelperTampered = "evidence.guard.helper"

// maxWays is how many recoveries one step gets, whatever its failures are. What
// the recipe itself allows (retry:, fallback:) is not among them.
const maxWays = 8

// MaxDecisions is how many decisions Choose takes about one step at most: its
// recoveries, the waits for a service that is down, the fallback, and the end. Each attempt that the recipe's own retry:
// adds is one more.
const MaxDecisions = maxWays + maxWaits + 2

// Choose is the belay policy: it looks at the class of the failure first, and
// takes the first recovery that is there, allowed, within its bounds and not
// tried before. Every way that it looked at is in the plan with why it was not
// taken.
func Choose(s Situation) belay.Plan {
	c := &chooser{s: s}
	return c.signed(c.choose(), PolicyBelay)
}

// chooser goes through the recoveries from one failure.
type chooser struct {
	s       Situation
	refused []belay.NotTaken
}

func (c *chooser) choose() belay.Plan {
	if c.stopped() || c.spoiled() {
		return c.finish()
	}
	if p, ok := c.declared(); ok {
		return p
	}
	spent := false
	for _, w := range c.ways() {
		p, why := c.try(w)
		if why == "" && (p.Counts || p.Patient) && c.s.maxReplans() == 0 {
			why = "the run takes no recoveries beyond its recipe's own"
		}
		if why == "" && p.Counts && c.s.replansSpent() {
			why, spent = c.spentWords(), true
			if !c.s.outage() {
				c.refuse(w.act, why)
				break
			}
		}
		if why == "" {
			if p.Patient { // it goes on: that the quick tries are over is no reason against it
				c.refused = slices.DeleteFunc(c.refused, func(r belay.NotTaken) bool { return r.Act == p.Act })
			}
			return p
		}
		c.refuse(w.act, why)
	}
	if spent {
		return c.finishSpent()
	}
	return c.finish()
}

// stopped tells that we ended the attempt ourselves: nothing is to be recovered.
func (c *chooser) stopped() bool {
	return c.s.Failure.Class == belay.ClassCancelled && c.s.Failure.Level == belay.LevelAct
}

// spoiled tells that an agent that helps changed guarded files, although it was
// told: what runs after it shows nothing.
func (c *chooser) spoiled() bool {
	f := c.s.Failure
	return f.Rule == RuleHelperTampered || f.Class == belay.ClassTampered && !c.s.Type.Agent()
}

// declared is the recipe's own retry:. It comes first and counts for nothing
// else. An agent is not started again for what no further try can cure: that
// would be paid for.
func (c *chooser) declared() (belay.Plan, bool) {
	s := &c.s
	most := s.Declared.MaxAttempts
	why := ""
	pause, asked := Backoff(s.Declared.Backoff, s.History.Failed, s.History.Key), time.Duration(0)
	if s.Type.Agent() {
		asked = s.hint()
		pause = max(pause, asked)
	}
	switch {
	case most <= 1:
		return belay.Plan{}, false
	case s.took(belay.ActFallback):
		return belay.Plan{}, false
	case s.History.Failed >= most:
		why = fmt.Sprintf("all %d allowed attempts are used up", most)
	case s.Type.Agent() && hopeless(s.Failure):
		why = "no further try cures it"
	case s.Type.Agent() && s.Spent:
		why = serviceSpent
	case asked > longWait:
		why = longWords(asked)
	case s.late(pause):
		why = pastDeadline
	default:
		return belay.Plan{
			Act: belay.ActRetry, Rule: "retry", Due: s.Now.Add(pause), Brief: c.brief(belay.ActRetry),
			Reason: fmt.Sprintf("attempt %d of %d failed: %s", s.History.Failed, most, s.cause()),
		}, true
	}
	c.refuse(belay.ActRetry, why)
	return belay.Plan{}, false
}

// hopeless tells that the same again fails again until somebody else acts.
func hopeless(f belay.Failure) bool {
	switch {
	case f.Rule == belay.RuleSetup:
		return true
	case f.Class == belay.ClassInvalidInput:
		return f.Move == belay.ActAbort
	case f.Class == belay.ClassInfrastructure:
		return f.Move == belay.ActEscalate && f.Level == belay.LevelProbe
	}
	return f.Class.Row().Outside
}

func (c *chooser) refuse(act belay.Act, why string) {
	c.refused = append(c.refused, belay.NotTaken{Act: act, Why: why})
}

func (c *chooser) spentWords() string {
	return fmt.Sprintf("the run has used its %d recoveries", c.s.maxReplans())
}

// signed puts on a plan what every plan carries.
func (c *chooser) signed(p belay.Plan, policy string) belay.Plan {
	f := c.s.Failure
	p.Policy, p.Class, p.Level, p.Print, p.Refused = policy, f.Class, f.Level, f.Print, c.refused
	return p
}
