package flow

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
)

// Effort is what would come of a command, the least first.
type Effort int

const (
	Idle  Effort = iota // it is refused, or the tree stands as before
	Asks                // a person is asked, and nothing else begins
	Works               // something begins, or is decided
)

// Copy is the same tree, for a try: whatever becomes of it is written nowhere.
func (t *Tree) Copy() (*Tree, error) {
	b, err := t.Snapshot()
	if err != nil {
		return nil, fmt.Errorf("copy a tree: %w", err)
	}
	c, err := Restore(t.root, t.lib, b)
	if err != nil {
		return nil, fmt.Errorf("copy a tree: %w", err)
	}
	c.classes = t.classes
	return c, nil
}

// TryRequest puts a request to a tree that nobody drives, as the command does which
// writes it down, and tells whether it is granted. The tree is a copy.
func (t *Tree) TryRequest(now time.Time, r event.Request) (Effort, error) {
	turn, err := t.Settle(now, Fact{r.Run, event.RequestReceived{Request: r}})
	if err != nil {
		return Idle, err
	}
	for _, rec := range turn.Records {
		if e, refused := rec.Event.(event.RequestRefused); refused && e.ID == r.ID {
			return Idle, nil
		}
	}
	return Works, nil
}

// TryDrive tells what a new driver of the tree does first that begins with facts. The
// tree is a copy. What an earlier driver left open is no part of it: whoever goes on
// with that has enough to do.
func (t *Tree) TryDrive(now time.Time, facts ...Fact) (Effort, error) {
	before := t.Status()
	if len(t.open) > 0 {
		return Works, nil
	}
	facts = append([]Fact{{t.root, event.RunAttached{Epoch: t.driver.Epoch + 1}}}, facts...)
	best := Idle
	for more := true; more; {
		turn, err := t.Turn(now, facts...)
		if err != nil {
			return Idle, err
		}
		facts = t.homesStand(&turn)
		best = max(best, t.effort(&turn, before.Terminal()))
		more = (turn.More || len(facts) > 0) && best < Works
	}
	switch after := t.Status(); {
	case after.Terminal() && after != before, after == belay.Running && !t.until().IsZero() && len(t.holding.list) == 0:
		return Works, nil // it is decided, or waits for its time
	}
	return best, nil
}

// homesStand are the answers that worktrees are still there: a new driver looks first, and
// that alone is no work.
func (t *Tree) homesStand(turn *Turn) []Fact {
	var facts []Fact
	for _, e := range turn.Effects {
		if ask, ok := e.(effect.Ask); ok {
			if h := t.madeHome(ask.Key); h != nil {
				k, _ := belay.ParseKey(ask.Key) // it was made by this house
				facts = append(facts, Fact{k.Run, event.AnswerGiven{Key: ask.Key, Answer: *h}})
			}
		}
	}
	return facts
}

// madeHome is the worktree that a question asks for once more; nil = it is no such question.
func (t *Tree) madeHome(k belay.Key) *effect.AnswerWorktree {
	of, _ := belay.ParseKey(k) // it was made by this house
	s := t.runs[of.Run]
	if of.Topic != belay.TopicWorktree || s == nil {
		return nil
	}
	if h := s.homes[k]; h != nil && h.OK {
		return h
	}
	return nil
}

// effort is what a turn begins. What belongs to the end of a run alone is none where the
// run had ended before: it comes again whenever that is opened again.
func (t *Tree) effort(turn *Turn, ended bool) Effort {
	best := Idle
	for _, r := range turn.Records {
		if e, opened := r.Event.(event.ItemOpened); opened {
			if best = max(best, Asks); e.About != event.ItemHeld {
				best = Works // the question is the work of its step
			}
		}
	}
	for _, e := range turn.Effects {
		switch e := e.(type) {
		case effect.Do:
			if !ended || !t.runs[e.Job.Run].inFinally() {
				best = Works
			}
		case effect.Ask:
			k, _ := belay.ParseKey(e.Key) // it was made by this house
			closing := k.Topic == belay.TopicList || k.Topic == belay.TopicLook && k.Path == "" || t.runs[k.Run].inFinally()
			if (!ended || !closing) && t.madeHome(e.Key) == nil {
				best = Works
			}
		case effect.Kill:
		}
	}
	return best
}
