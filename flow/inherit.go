package flow

import (
	"fmt"
	"maps"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
)

// handed is the context of the step whose attempt a child run is, nil when
// there is none.
func (t *Tree) handed(child belay.RunID) *scope {
	up := t.parents[child]
	p := t.runs[up.run]
	if p == nil {
		return nil
	}
	i, open := p.open[up.key]
	if !open {
		return nil
	}
	return p.scope(i)
}

// inherited are the variables that a run begins with: those in its first
// record, and under them what its parent has at that moment. A record that
// says nothing of a parent's variables holds them all.
func (s *State) inherited(e event.RunStarted) (map[string]belay.Value, error) {
	if !e.Inherit {
		return e.Vars, nil
	}
	if s.handed == nil {
		return nil, fmt.Errorf("run %s: it inherits from a run that is not there", s.id)
	}
	vars := maps.Clone(s.handed.vars)
	maps.Copy(vars, e.Vars)
	return vars, nil
}

// base is the scope of the whole run: one that was made for an item is not kept.
func (c *scope) base() *scope {
	for c != nil && c.own != "" {
		c = c.up
	}
	return c
}

// under finds variables in own, or else in the scope.
func (c *scope) under(own map[string]belay.Value) func(string) (belay.Value, bool) {
	return func(name string) (belay.Value, bool) {
		if v, ok := own[name]; ok {
			return v, true
		}
		v, ok := c.vars[name]
		return v, ok
	}
}
