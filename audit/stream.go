package audit

import (
	"maps"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
)

// stream is one run: the root or a child.
type stream struct {
	id      belay.RunID
	ended   *belay.RunResult // nil while it goes on
	reopens int
}

// stream finds the run of the record, and checks how it begins.
func (c *checker) stream(i int) *stream {
	r := c.rec
	e, start := r.Event.(event.RunStarted)
	s := c.streams[r.Run]
	if s != nil {
		if start {
			c.say(RuleFirst, "run %s starts a second time", r.Run)
		}
		return s
	}
	s = &stream{id: r.Run}
	c.streams[r.Run] = s
	if !start {
		c.say(RuleFirst, "run %s begins with %s", r.Run, r.Event.Kind())
		return s
	}
	if e.Schema < 1 || e.Schema > event.Schema {
		c.say(RuleFirst, "run %s has schema %d; known are 1 to %d", r.Run, e.Schema, event.Schema)
	}
	if i == 0 {
		c.limits = &e.Limits
		if r.Run.Depth() > 0 || e.Parent != "" {
			c.say(RuleRoot, "the journal begins with %s, a child of %q", r.Run, e.Parent)
		}
		return s
	}
	c.childStart(e)
	return s
}

func (c *checker) childStart(e event.RunStarted) {
	r := c.rec
	if r.Run.Root() != c.root || r.Run == c.root {
		c.say(RuleRoot, "run %s is not of the tree of %s", r.Run, c.root)
		return
	}
	if a := c.naming(r.Run); a == nil || a.key != e.Parent {
		c.say(RuleChild, "run %s starts as %q, but that is no open attempt that names it", r.Run, e.Parent)
	}
}

// naming is the open attempt that is the given run.
func (c *checker) naming(id belay.RunID) *attempt {
	for _, a := range c.open {
		if a.child == id {
			return a
		}
	}
	return nil
}

// mayFollow checks that the record may stand where it does in its stream.
func (c *checker) mayFollow(s *stream) bool {
	switch c.rec.Event.(type) {
	case event.RunAttached, event.RunHeld, event.RunPaused, event.RunResumed, event.RunStopped, event.RunParked:
		if s.id != c.root {
			c.say(RuleRoot, "%s in the child run %s", c.rec.Event.Kind(), s.id)
			return false
		}
	}
	if s.ended == nil {
		return true
	}
	switch c.rec.Event.(type) {
	case event.RunReopened, event.RunAttached, event.RequestReceived, event.RequestRefused, event.RunCleared:
		return true // a count that is cleared matters when the run is reopened
	}
	c.say(RuleTerminal, "%s after run %s ended %s", c.rec.Event.Kind(), s.id, s.ended.Status)
	return false
}

// onAttached notes the processes that must be found now. A child run is no
// process: its own attempts are.
func (c *checker) onAttached() {
	c.leftOver()
	for _, a := range c.open {
		a.unfound = a.child == ""
	}
}

// onParked checks that nothing is at work in a run whose driver leaves.
func (c *checker) onParked() {
	for _, k := range slices.Sorted(maps.Keys(c.open)) {
		if c.open[k].child == "" {
			c.say(RuleParked, "the run is parked while attempt %s is open", k)
		}
	}
}

// leftOver says which promises of the last attach were not kept.
func (c *checker) leftOver() {
	for _, k := range slices.Sorted(maps.Keys(c.open)) {
		a := c.open[k]
		if a.unfound {
			c.say(RuleFound, "attempt %s was open at an attach and was never found", k)
		}
		if a.harvested {
			c.say(RuleHarvested, "attempt %s was harvested and never ended", k)
		}
		a.unfound, a.harvested = false, false
	}
}

func (c *checker) onReopened(s *stream) {
	if s.ended == nil {
		c.say(RuleReopen, "run %s is reopened, but it has not ended", s.id)
		return
	}
	if s.id != c.root && c.naming(s.id) == nil {
		c.say(RuleReopen, "child run %s is reopened, but no open attempt names it", s.id)
	}
	s.ended = nil
	s.reopens++
	for id, st := range c.steps {
		if id.run == s.id && !st.forever {
			st.final = "" // may start again, and stays settled if it does not
			st.owed, st.reasked = st.owed || st.unknown, true
		}
	}
}

func (c *checker) onEnded(s *stream, e event.RunEnded) {
	s.ended = &e.RunResult
	if !e.Status.Terminal() || (e.Status == belay.Achieved) != (e.Code == exit.OK) {
		c.say(RuleEnd, "run %s ends %s with code %d", s.id, e.Status, e.Code)
	}
	for _, k := range slices.Sorted(maps.Keys(c.open)) {
		if a := c.open[k]; a.step.run == s.id {
			c.say(RuleEnd, "run %s ends while attempt %s is open", s.id, k)
		}
	}
	if e.Status != belay.Aborted {
		for _, id := range slices.SortedFunc(maps.Keys(c.items), itemID.compare) {
			if id.run == s.id && !c.items[id].answered {
				c.say(RuleEnd, "run %s ends %s while item %s waits for a person", s.id, e.Status, id.id)
			}
		}
	}
	if e.Status == belay.Achieved {
		c.achieved(s)
	}
}

// achieved checks that no step was left in the middle. A step that stays failed
// is settled: whether it was optional only the recipe can tell. What is open or
// held is the business of the rule for every end.
func (c *checker) achieved(s *stream) {
	for _, id := range slices.SortedFunc(maps.Keys(c.steps), stepID.compare) {
		st := c.steps[id]
		if id.run == s.id && !st.settled && st.open == 0 && !st.held {
			c.say(RuleAchieved, "run %s is achieved, but its step %s is not settled", s.id, id.path)
		}
	}
}
