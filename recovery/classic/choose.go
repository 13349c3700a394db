package classic

import (
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/recovery"
)

// Choose is the classic policy for a step of a run: its strategy as a plan. All
// that is beyond its first rule is one of the run's recoveries, so that the
// timeout rule ends with them.
func Choose(s recovery.Situation, maxRetries int) belay.Plan {
	return recovery.ChooseBy(recovery.PolicyClassic, Policy{MaxRetries: maxRetries}, s)
}

// Suggest is the strategy as a plan; the last two rules have none.
func (c Policy) Suggest(s *recovery.Situation) belay.Plan {
	x := contextOf(s)
	d := c.Decide(x)
	if d.Rule == RuleCritical || d.Rule == RuleOptional {
		return belay.Plan{}
	}
	p := belay.Plan{
		Act: d.Strategy.Kind, Rule: string(d.Rule), Reason: d.Reason(x), Counts: d.Rule != RuleAttemptsLeft,
		Due: s.Now.Add(time.Duration(d.Strategy.BackoffMS) * time.Millisecond), Role: string(d.Strategy.NewRole),
	}
	for _, t := range d.Strategy.Subtasks {
		p.Parts = append(p.Parts, belay.Part{Title: t.Description, Task: t.Description})
	}
	return p
}

// End is the last two rules: a person where the step is needed, else it is left
// out.
func (Policy) End(s *recovery.Situation) belay.Plan {
	x := contextOf(s)
	if s.Optional {
		return belay.Plan{Act: belay.ActSkip, Rule: string(RuleOptional), Reason: skipReason(x.AttemptCount, x.ErrorMessage)}
	}
	return belay.Plan{Act: belay.ActHold, Rule: string(RuleCritical), Reason: Decision{Rule: RuleCritical}.Reason(x)}
}

// contextOf is what the policy is told.
func contextOf(s *recovery.Situation) Context {
	role := s.Role
	if role == "" {
		role = recovery.Coder
	}
	return Context{
		TaskID: string(s.History.Key), Description: s.Title, AssignedTo: role, ErrorMessage: s.Failure.Cause,
		AttemptCount: max(s.History.Failed-1, 0), IsCritical: !s.Optional,
	}
}
