package engine

import (
	"context"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
)

// answer finds out what the brain cannot see: what runs share is asked of the
// ledger, all else of the hand.
func (w *drive) answer(ctx context.Context, c effect.Ask) (flow.Fact, bool) {
	switch q := c.Question.(type) {
	case effect.AskTree:
		return w.tree(c.Key, q)
	case effect.AskAgent:
		of, _ := c.Key.Is(belay.TopicAgent)
		return given(c.Key, w.site().Permit(of, q)), true
	}
	a, ok := w.Hand.Answer(ctx, c)
	return given(c.Key, a), ok
}

// given is the fact that a question was answered: the run whose step asked is in
// its key.
func given(k belay.Key, a effect.Answer) flow.Fact {
	run, _ := k.Step()
	return flow.Fact{Run: run, Event: event.AnswerGiven{Key: k, Answer: a}}
}

// merged takes away the worktrees whose work is in the run's tree by these records, and
// the copies that nobody looks at any more.
func (w *drive) merged(ctx context.Context, recs []event.Record) {
	for _, r := range recs {
		if e, ok := r.Event.(event.AttemptJudged); ok && e.Verdict.OK {
			p, _ := belay.ParseKey(e.Key)
			w.Hand.TakeAway(ctx, r.Run, p.Path)
		}
	}
}
