package recovery

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
)

// ChooseClassic is the classic policy for a step of a run: its strategy as a
// plan. What the recipe itself says comes before it (retry:) and after it
// (fallback:, on_failure:), a step that must not run twice does not, and a
// sub-recipe is recovered. All that is beyond its first rule is one of the run's
// recoveries, so that the timeout rule ends with them.
func ChooseClassic(s Situation, maxRetries int) belay.Plan {
	c := &chooser{s: s}
	return c.signed(c.classic(maxRetries), PolicyClassic)
}

func (c *chooser) classic(maxRetries int) belay.Plan {
	if c.stopped() {
		return c.finish()
	}
	if p, ok := c.declared(); ok {
		return p
	}
	x := c.s.context()
	d := Classic{MaxRetries: maxRetries}.Decide(x)
	if d.Rule == RuleCritical || d.Rule == RuleOptional {
		return c.classicEnd(x)
	}
	p, why := c.classicPlan(d, x)
	switch {
	case why != "":
		c.refuse(p.Act, why)
		return c.classicEnd(x)
	case p.Counts && c.s.replansSpent():
		c.refuse(p.Act, c.spentWords())
		return c.classicSpent()
	}
	return p
}

// classicSpent leaves out what the run can do without.
func (c *chooser) classicSpent() belay.Plan {
	p := c.finishSpent()
	if p.Act == belay.ActGiveUp {
		p.Act = belay.ActSkip
	}
	return p
}

// context is what the classic policy is told.
func (s *Situation) context() Context {
	role := s.Role
	if role == "" {
		role = Coder
	}
	return Context{
		TaskID: string(s.History.Key), Description: s.Title, AssignedTo: role, ErrorMessage: s.Failure.Cause,
		AttemptCount: max(s.History.Failed-1, 0), IsCritical: !s.Optional,
	}
}

// classicPlan turns a strategy into a plan, or says why it cannot be carried out.
func (c *chooser) classicPlan(d Decision, x Context) (belay.Plan, string) {
	s := &c.s
	p := belay.Plan{Rule: string(d.Rule), Reason: d.Reason(x), Due: s.Now, Counts: d.Rule != RuleAttemptsLeft}
	why := ""
	switch {
	case d.Strategy.Kind == belay.ActRetry:
		pause := time.Duration(d.Strategy.BackoffMS) * time.Millisecond
		p.Act, p.Due, p.Brief = belay.ActRetry, s.Now.Add(pause), c.brief(belay.ActRetry)
		if s.late(pause) {
			why = pastDeadline
		}
	case d.Strategy.Kind == belay.ActReassign:
		p.Act, p.Role, p.Brief = belay.ActReassign, string(d.Strategy.NewRole), c.brief(belay.ActReassign)
	case d.Strategy.Kind == belay.ActDecompose:
		p.Act = belay.ActDecompose
		for _, t := range d.Strategy.Subtasks {
			p.Parts = append(p.Parts, belay.Part{Title: t.Description, Task: t.Description})
		}
		if s.Depth >= MaxDepth {
			why = fmt.Sprintf("the task was split %d times already", s.Depth)
		}
	}
	spends := p.Act == belay.ActReassign || p.Act == belay.ActDecompose
	switch {
	case s.late(0):
		why = timeOver
	case s.took(belay.ActFallback):
		why = "what the recipe names instead failed too"
	case s.Once:
		why = notTwice
	case spends && !s.Agents:
		why = noAgents
	case spends && s.Type != belay.TypeAgent:
		why = onlyAgents
	case s.Type == belay.TypeAgent && s.Spent:
		why = serviceSpent
	}
	return p, why
}

// recovered is the recovery of a sub-recipe, which holds under both policies.
func (c *chooser) recovered() (belay.Plan, bool) {
	if c.s.Type != belay.TypeRecipe || c.s.took(belay.ActFallback) {
		return belay.Plan{}, false
	}
	p, why := c.try(way{act: belay.ActRecover})
	if why == "" && c.s.replansSpent() {
		why = c.spentWords()
	}
	if why != "" {
		c.refuse(belay.ActRecover, why)
		return belay.Plan{}, false
	}
	return p, true
}

// classicEnd is the last two rules: a person where the step is needed, else it
// is left out.
func (c *chooser) classicEnd(x Context) belay.Plan {
	if p, ok := c.recovered(); ok {
		return p
	}
	if p, ok := c.fallback(); ok {
		return p
	}
	switch {
	case c.s.Declared.Escalate:
		return c.hold("on_failure", "the recipe asks for a person when it fails")
	case c.s.Optional:
		return belay.Plan{Act: belay.ActSkip, Rule: string(RuleOptional), Reason: skipReason(x.AttemptCount, x.ErrorMessage)}
	}
	return c.hold(string(RuleCritical), Decision{Rule: RuleCritical}.Reason(x))
}
