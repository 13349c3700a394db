package engine

import (
	"context"
	"errors"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/expr"
	"github.com/belay-run/belay/flow"
)

// maxAskValue is the biggest value that a condition may look at.
const maxAskValue = 16 << 20

// answer finds out what the brain cannot see: it looks at values that are too
// big for the records (a condition, texts, a list), at the machine or at a
// working tree, looks for test commands, asks whether one more agent may start, or
// makes a worktree. Only the answer becomes a record. There is none when the making
// of a worktree, or a look at one, was broken off by a stop: it is asked for again.
func (w *drive) answer(ctx context.Context, c belay.Ask) (flow.Fact, bool) {
	var a belay.Answer
	var err error
	switch q := c.Question; {
	case q.Tree != nil:
		return w.tree(c)
	case q.Agent != "":
		a = w.permit(q)
	case q.Probe != "":
		a = w.look(ctx, q)
	case q.Tests != "":
		a.OK, a.Tests = true, w.findTests(q.Tests)
	case q.Look != "":
		a = w.since(ctx, q)
		if a.Seen == nil && ctx.Err() != nil {
			return flow.Fact{}, false
		}
	case q.Worktree != nil:
		a = w.house(ctx, *q.Worktree, c.Key)
		if !a.OK && ctx.Err() != nil {
			return flow.Fact{}, false
		}
	case len(q.Pieces) > 0:
		a.Value, err = w.list(q.Pieces)
	case len(q.Object) > 0:
		a.Value, err = w.object(q.Object)
	case len(q.Texts) > 0 || q.List != "":
		err = w.fillIn(q, &a)
	default:
		a.OK, err = w.truth(q)
	}
	if err != nil {
		a.Error = err.Error()
		var wrong *expr.Error
		if errors.As(err, &wrong) {
			a.Error, a.Col = wrong.Msg, max(wrong.Col, 1)
		}
	}
	return flow.Fact{Run: w.asker(c.Key), Event: belay.AnswerGiven{Key: c.Key, Answer: a}}, true
}

// asker is the run whose step asked: the key begins with its id.
func (w *drive) asker(k belay.Key) belay.RunID {
	run, _ := k.Step()
	return run
}

func (w *drive) truth(q belay.Question) (bool, error) {
	vals, err := w.values(q.Vars)
	if err != nil {
		return false, err
	}
	e, err := expr.Parse(q.Cond)
	if err != nil {
		return false, err
	}
	if q.Lenient {
		e.Lenient()
	}
	return e.Truth(func(n string) (any, bool) {
		v, ok := vals[n]
		if !ok && q.Lenient {
			return "", true
		}
		return v, ok
	})
}
