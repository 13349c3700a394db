package flow

import (
	"github.com/belay-run/belay"
	"github.com/belay-run/belay/verdict"
)

// measure is what the work of an agent step is measured against.
type measure struct {
	base *belay.Print // from where the next attempt is measured; nil = from its own beginning
}

// noted keeps what an attempt was seen to begin with, in case that it never
// reports.
func (m *measure) noted(p *belay.Print) {
	if m.base == nil && usable(p) {
		m.base = p
	}
}

// ended keeps the base for the next attempt, or lets it go. An attempt that left
// the tree as it was leaves none: what a person did in the meantime would count
// as work of the next one. One that took back work of before leaves its base: to
// put that work there again is no work.
func (m *measure) ended(o *belay.Observation) {
	if o == nil || o.Agent == nil { // nothing was started, or nobody saw what it did
		return
	}
	e := o.Agent.Evidence
	switch before := e.Before; {
	case !usable(&before):
	case usable(&e.After) && !verdict.Changed(e) && !e.TakenBack:
		m.base = nil
	default:
		m.noted(&before)
	}
}

// usable tells whether something can be measured against a print. One that
// failed would make every later look fail with it.
func usable(p *belay.Print) bool { return p != nil && p.Tree != "" && p.Error == "" }
