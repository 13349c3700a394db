package engine

import (
	"context"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
)

// answer finds out what the brain cannot see: what runs share is asked of the
// ledger, all else of the hand.
func (w *drive) answer(ctx context.Context, c belay.Ask) (flow.Fact, bool) {
	switch q := c.Question; {
	case q.Tree != nil:
		return w.tree(c)
	case q.Agent != "":
		return given(c.Key, w.permit(q)), true
	}
	a, ok := w.Hand.Answer(ctx, c)
	return given(c.Key, a), ok
}

// given is the fact that a question was answered: the run whose step asked is in
// its key.
func given(k belay.Key, a belay.Answer) flow.Fact {
	run, _ := k.Step()
	return flow.Fact{Run: run, Event: belay.AnswerGiven{Key: k, Answer: a}}
}

// merged takes away the worktrees whose work is in the run's tree by these records.
func (w *drive) merged(ctx context.Context, recs []belay.Record) {
	for _, r := range recs {
		if e, ok := r.Event.(belay.AttemptJudged); ok && e.Verdict.OK {
			if p, _ := belay.ParseKey(e.Key); p.Role == belay.RoleMerge {
				w.Hand.TakeAway(ctx, r.Run, p.Path)
			}
		}
	}
}
