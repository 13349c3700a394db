package audit

import (
	"cmp"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
)

// itemID names an item: two runs of a tree may use the same id.
type itemID struct {
	run belay.RunID
	id  string
}

func (a itemID) compare(b itemID) int {
	return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.id, b.id))
}

// item is a question for a person.
type item struct {
	path     belay.Path
	answered bool
}

func (c *checker) onItem(e event.ItemOpened) {
	id := itemID{c.rec.Run, e.ID}
	if c.items[id] != nil {
		c.say(RuleItem, "item %s is opened twice", e.ID)
		return
	}
	c.items[id] = &item{path: e.Path}
	st := c.step(e.Path)
	st.held, st.vouched = true, false
}

func (c *checker) onAnswer(e event.ItemAnswered) {
	it := c.items[itemID{c.rec.Run, e.ID}]
	switch {
	case it == nil || it.path != e.Path:
		c.say(RuleItem, "item %s of step %s is answered, but was never opened", e.ID, e.Path)
		return
	case it.answered:
		c.say(RuleItem, "item %s is answered twice", e.ID)
		return
	}
	it.answered = true
	st := c.step(e.Path)
	st.held = false
	switch e.Choice {
	case event.ChoiceDone:
		if st.vouched = e.Check; !e.Check {
			st.accomplish()
		}
	case event.ChoiceAgain:
		st.again++
		st.unknown, st.owed, st.reasked = false, false, true
	case event.ChoiceFail:
		st.unknown = false // a person has said what became of the work
		st.settle("declared failed", false)
	case event.ChoiceSkip:
		st.settle("left out", false)
	default:
		c.say(RuleItem, "item %s is answered %q", e.ID, e.Choice)
	}
}

func (c *checker) onRequest(e event.RequestReceived) {
	if _, seen := c.requests[e.Request.ID]; seen {
		c.say(RuleRequest, "request %q is received twice", e.Request.ID)
		return
	}
	c.requests[e.Request.ID] = false
}

func (c *checker) onRefusal(e event.RequestRefused) {
	refused, seen := c.requests[e.ID]
	if !seen || refused {
		c.say(RuleRequest, "request %q is refused, but does not wait for an answer", e.ID)
		return
	}
	c.requests[e.ID] = true
}
