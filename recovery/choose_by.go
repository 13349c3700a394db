package recovery

import (
	"fmt"

	"github.com/belay-run/belay"
)

// Rules are a policy of somebody else. Both give a plan with its act, its rule and
// its reason; the first one also says when, who and which parts.
type Rules interface {
	// Suggest is what is done about the failure; the empty plan is nothing.
	Suggest(s *Situation) belay.Plan
	// End is what becomes of the step when nothing more is done: it is held or skipped.
	End(s *Situation) belay.Plan
}

// ChooseBy lets another policy choose for a step of a run. What the recipe itself
// says comes before it (retry:) and after it (fallback:, on_failure:), a step that
// must not run twice does not, and a sub-recipe is recovered. What counts is one
// of the run's recoveries, so that no policy goes on without an end.
func ChooseBy(policy string, rules Rules, s Situation) belay.Plan {
	c := &chooser{s: s}
	return c.signed(c.chooseBy(rules), policy)
}

func (c *chooser) chooseBy(rules Rules) belay.Plan {
	if c.stopped() {
		return c.finish()
	}
	if p, ok := c.declared(); ok {
		return p
	}
	p := rules.Suggest(&c.s)
	if p.Act == "" {
		return c.endBy(rules)
	}
	if why := c.against(&p); why != "" {
		c.refuse(p.Act, why)
		return c.endBy(rules)
	}
	if p.Counts && c.s.replansSpent() {
		c.refuse(p.Act, c.spentWords())
		if p = c.finishSpent(); p.Act == belay.ActGiveUp {
			p.Act = belay.ActSkip
		}
		return p
	}
	p.Brief = c.brief(p.Act)
	return p
}

// against says why a plan cannot be carried out; "" = it can.
func (c *chooser) against(p *belay.Plan) string {
	s := &c.s
	spends := p.Act == belay.ActReassign || p.Act == belay.ActDecompose
	switch {
	case s.late(0):
		return timeOver
	case s.took(belay.ActFallback):
		return "what the recipe names instead failed too"
	case s.Once:
		return notTwice
	case spends && !s.Agents:
		return noAgents
	case spends && !s.Type.Agent():
		return onlyAgents
	case s.Type.Agent() && s.Spent:
		return serviceSpent
	case s.late(p.Due.Sub(s.Now)):
		return pastDeadline
	case p.Act == belay.ActDecompose && s.Depth >= MaxDepth:
		return fmt.Sprintf("the task was split %d times already", s.Depth)
	}
	return ""
}

// recovered is the recovery of a sub-recipe, which holds under both policies.
func (c *chooser) recovered() (belay.Plan, bool) {
	if !c.s.Type.Child() || c.s.took(belay.ActFallback) {
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

// endBy is the end: what finishes the step instead, a person where the recipe asks
// for one, else what the policy says.
func (c *chooser) endBy(rules Rules) belay.Plan {
	if p, ok := c.recovered(); ok {
		return p
	}
	if p, ok := c.fallback(); ok {
		return p
	}
	if c.s.Declared.Escalate {
		return c.hold("on_failure", "the recipe asks for a person when it fails")
	}
	p := rules.End(&c.s)
	if p.Act == belay.ActHold {
		return c.hold(p.Rule, p.Reason)
	}
	return p
}
