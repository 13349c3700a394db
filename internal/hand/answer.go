package hand

import (
	"context"
	"errors"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/expr"
)

// maxAskValue is the biggest value that a condition may look at.
const maxAskValue = 16 << 20

// Answer finds out what the brain cannot see: it looks at values that are too
// big for the records (a condition, texts, a list), at the machine or at a
// working tree, looks for test commands, or makes a worktree. Only the answer
// becomes a record. There is none when the making of a worktree, or a look at one,
// was broken off by a stop: it is asked for again.
func (h *Hand) Answer(ctx context.Context, c belay.Ask) (belay.Answer, bool) {
	var a belay.Answer
	var err error
	switch q := c.Question; {
	case q.Probe != "":
		p := h.Look(ctx, q)
		return belay.Answer{OK: true, Probe: &p}, true
	case q.Tests != "":
		a.OK, a.Tests = true, h.findTests(q.Tests)
	case q.Look != "":
		a = h.since(ctx, q)
		return a, a.Seen != nil || ctx.Err() == nil
	case q.Worktree != nil:
		run, _ := c.Key.Step()
		a = h.worktreeFor(ctx, *q.Worktree, run)
		return a, a.OK || ctx.Err() == nil
	case len(q.Pieces) > 0:
		a.Value, err = h.list(q.Pieces)
	case len(q.Object) > 0:
		a.Value, err = h.object(q.Object)
	case len(q.Texts) > 0 || q.List != "":
		err = h.fillIn(q, &a)
	default:
		a.OK, err = h.truth(q)
	}
	if err != nil {
		a.Error = err.Error()
		var wrong *expr.Error
		if errors.As(err, &wrong) {
			a.Error, a.Col = wrong.Msg, max(wrong.Col, 1)
		}
	}
	return a, true
}

func (h *Hand) truth(q belay.Question) (bool, error) {
	vals, err := h.values(q.Vars)
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
