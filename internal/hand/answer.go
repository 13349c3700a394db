package hand

import (
	"context"
	"errors"

	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/expr"
)

// maxAskValue is the biggest value that a condition may look at.
const maxAskValue = 16 << 20

// Answer finds out what the brain cannot see: it looks at values that are too
// big for the records (a condition, texts, a list), at the machine or at a
// working tree, looks for test commands, or makes a worktree. Only the answer
// becomes a record. There is none when the making of a worktree, or a look at one,
// was broken off by a stop: it is asked for again. What runs share is the driver's
// to answer: nil.
func (h *Hand) Answer(ctx context.Context, c effect.Ask) (effect.Answer, bool) {
	switch q := c.Question.(type) {
	case effect.AskProbe:
		p := h.Look(ctx, q)
		return effect.AnswerProbe{OK: true, Probe: &p}, true
	case effect.AskTests:
		return effect.AnswerTests{OK: true, Tests: h.findTests(q.Dir)}, true
	case effect.AskLook:
		if q.Stood != nil {
			a := h.beside(ctx, q)
			return a, a.OK || ctx.Err() == nil
		}
		a := h.since(ctx, q)
		return a, a.Seen != nil || ctx.Err() == nil
	case effect.AskWorktree:
		run, _ := c.Key.Step()
		a := h.worktreeFor(ctx, q, run)
		return a, a.OK || ctx.Err() == nil
	case effect.AskList:
		v, err := h.gather(q)
		why, _ := problem(err)
		return effect.AnswerList{OK: err == nil, Error: why, Value: v}, true
	case effect.AskText:
		a, err := h.fillIn(q)
		a.OK = err == nil
		a.Error, a.Col = problem(err)
		return a, true
	case effect.AskCond:
		ok, err := h.truth(q)
		why, col := problem(err)
		return effect.AnswerCond{OK: ok, Error: why, Col: col}, true
	case effect.AskStep, effect.AskAgent, effect.AskTree:
	}
	return nil, false
}

// problem is an error as records have it: its text, and where in a text it is.
func problem(err error) (text string, col int) {
	var wrong *expr.Error
	switch {
	case err == nil:
		return "", 0
	case errors.As(err, &wrong):
		return wrong.Msg, max(wrong.Col, 1)
	}
	return err.Error(), 0
}

func (h *Hand) truth(q effect.AskCond) (bool, error) {
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
