package flow

import (
	"errors"
	"fmt"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/expr"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/verdict"
)

// unfilled is a text of the recipe that cannot be filled in, or a condition
// that cannot be decided.
type unfilled struct {
	at   belay.Place
	what string // the key, with what stands there
	hint string
	err  error
}

func (e *unfilled) Error() string {
	why := e.err.Error()
	var known *expr.Error
	if errors.As(e.err, &known) {
		why = known.Msg // the column is in the place
	}
	return fmt.Sprintf("%s: %s: %s", e.at, e.what, why)
}

func (e *unfilled) Unwrap() error { return e.err }

// where is a position in the file of a step.
func (s *State) where(i int, p recipe.Pos) belay.Place {
	return belay.Place{File: s.prog.Steps[i].Where(s.prog), Line: p.Line, Col: p.Col}
}

// misfit says of a text of step i that it cannot be filled in, where, and what
// to type.
func (s *State) misfit(i int, key string, t *expr.Text, at func(col int) recipe.Pos, err error) error {
	e := &unfilled{what: key, err: err}
	col := max(expr.Column(err), 1)
	e.at = s.where(i, at(col))
	var known *expr.Error
	if errors.As(err, &known) {
		if with := recipe.WithDefault(t.String(), col); with != "" {
			e.hint = fmt.Sprintf("write %s if it may be missing, or mend what sets it", with)
		}
	}
	return e
}

// refuseText refuses a step that cannot begin because of err.
func (s *State) refuseText(i int, kind belay.FailureKind, err error) command {
	id := s.prog.Steps[i].ID
	f := belay.Failure{Kind: kind, Op: "step " + string(id), Cause: err.Error()}
	var u *unfilled
	if errors.As(err, &u) {
		f.Hint, f.At = u.hint, &u.at
	}
	return note{Event: event.StepRefused{Path: id, Failure: verdict.Refused(f)}}
}

// noTruth is why the hands could not decide a condition.
func noTruth(a *effect.AnswerCond) error {
	if a.Col > 0 {
		return &expr.Error{Col: a.Col, Msg: a.Error}
	}
	return errors.New(a.Error)
}

// undecided says of the condition of step i that it has no answer.
func (s *State) undecided(i int, err error) error {
	def := &s.prog.Steps[i]
	return &unfilled{
		at: s.where(i, def.ConditionAt(max(expr.Column(err), 1))), what: "condition", err: err,
		hint: fmt.Sprintf("the condition is: %s", def.Condition),
	}
}
