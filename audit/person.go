package audit

import (
	"cmp"
	"slices"

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
	asked    event.ItemOpened
}

func (c *checker) onItem(e event.ItemOpened) {
	id := itemID{c.rec.Run, e.ID}
	if c.items[id] != nil {
		c.say(RuleItem, "item %s is opened twice", e.ID)
		return
	}
	c.items[id] = &item{path: e.Path, asked: e}
	st := c.step(e.Path)
	st.held, st.vouched = true, false
	if e.About == event.ItemApproval {
		c.begunAgain(e.ID, st)
	}
}

// begunAgain takes in that an approval is asked for: it is the attempt of its step.
func (c *checker) begunAgain(id string, st *step) {
	if st.final != "" {
		c.say(RuleFinal, "item %s is opened, and its step is %s", id, st.final)
	}
	st.begun, st.settled = true, false
}

// decide takes in the choice that settles an approval.
func (c *checker) decide(it *item, id, choice string) {
	switch {
	case !slices.Contains(it.asked.Choices, choice):
		c.say(RuleItem, "item %s is settled with %q, which is none of its choices", id, choice)
	case choice == belay.ChoiceReject:
		c.step(it.path).settle("rejected", false)
	default:
		c.step(it.path).settle("done", true)
	}
}

// onExpired checks that nothing times out before its time, or means approval.
func (c *checker) onExpired(e event.ItemExpired) {
	it := c.items[itemID{c.rec.Run, e.ID}]
	switch {
	case it == nil || it.path != e.Path || it.answered:
		c.say(RuleItem, "item %s of step %s timed out, but is not open", e.ID, e.Path)
		return
	case it.asked.Until.IsZero() || c.rec.At.Before(it.asked.Until):
		c.say(RuleItem, "item %s timed out at %s; its time is %s", e.ID, stamp(c.rec.At), stamp(it.asked.Until))
	case e.Then != it.asked.OnTimeout || e.Then == belay.ChoiceApprove:
		c.say(RuleItem, "item %s timed out as %q; its timeout means %q, and never approve", e.ID, e.Then, it.asked.OnTimeout)
	}
	if e.Then == belay.TimeoutHold {
		return
	}
	it.answered = true
	c.step(e.Path).held = false
	c.decide(it, e.ID, e.Then)
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
	if it.asked.About != e.About {
		c.say(RuleItem, "item %s was opened as %q and is answered as %q", e.ID, it.asked.About, e.About)
	}
	if e.About == event.ItemApproval {
		if len(it.asked.Who) > 0 && !slices.Contains(it.asked.Who, e.By) {
			c.say(RuleItem, "item %s is answered by %s, who may not", e.ID, e.By)
		}
		c.decide(it, e.ID, e.Choice)
		return
	}
	if e.About == event.ItemInput {
		if st.owed = false; e.Choice == belay.ChoiceReject {
			st.settle("rejected", false)
		} else {
			st.again++
		}
		return
	}
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
