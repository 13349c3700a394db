package flow

import (
	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/verdict"
)

// keepBase keeps what an attempt was seen to begin with, in case that it never
// reports.
func (c *agentHistory) keepBase(p *belay.TreeState) {
	if c.base == nil && usable(p) {
		c.base = p
	}
}

// baseAfter keeps the base for the next attempt, or lets it go. An attempt that left
// the tree as it was leaves none: what a person did in the meantime would count
// as work of the next one. One that took back work of before leaves its base: to
// put that work there again is no work.
func (c *agentHistory) baseAfter(o *effect.Observation) {
	if o == nil || o.Agent == nil { // nothing was started, or nobody saw what it did
		return
	}
	e := o.Agent.Evidence
	switch before := e.Before; {
	case !usable(&before):
	case usable(&e.After) && !verdict.Changed(e) && !e.TakenBack:
		c.base = nil
	default:
		c.keepBase(&before)
	}
}

// usable tells whether something can be measured against a state of a tree. One that
// failed would make every later look fail with it.
func usable(p *belay.TreeState) bool { return p != nil && p.Tree != "" && p.Error == "" }
