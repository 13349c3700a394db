package flow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/expr"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/verdict"
)

// ruleEnds is the rule of a failure that is a status which a recipe gave itself:
// there is nothing in it to be repaired.
const ruleEnds = "act.ends"

// endsAs lowers what the steps of a run amount to, to the status that its recipe
// says. It never raises it: what failed stays failed.
func (s *State) endsAs(r belay.RunResult) belay.RunResult {
	all := recipe.Endings()
	own := slices.Index(all, r.Status)
	if s.prog.Ends == nil || own < 0 || r.Status == belay.Failed {
		return r
	}
	status, why, err := s.ownStatus()
	if err != nil {
		f := verdict.Refused(belay.Failure{Kind: belay.RecipeFailure, Op: "recipe " + s.prog.Name, Cause: err.Error()})
		return belay.RunResult{Status: belay.Failed, Code: exit.Failed, Reason: f.Cause, Failure: &f}
	}
	if slices.Index(all, status) <= own {
		return r
	}
	out := belay.RunResult{Status: status, Code: endCode(status), Reason: why}
	if status != belay.Partial {
		out.Failure = &belay.Failure{
			Kind: belay.RecipeFailure, Class: belay.ClassWorkFailure, Op: "recipe " + s.prog.Name, Cause: string(status) + ": " + why,
			Level: belay.LevelAct, Rule: ruleEnds, Move: belay.ActEscalate,
		}
		if status == belay.Hollow {
			out.Failure.Kind, out.Failure.Class = belay.HollowSuccess, belay.ClassHollow
		}
	}
	return out
}

// ownStatus is the status that the recipe gives, and what it says about it.
func (s *State) ownStatus() (status belay.Status, why string, err error) {
	e := s.prog.Ends
	fail := func(err error) error {
		p := s.prog.EndsAt(max(expr.Column(err), 1))
		return &unfilled{at: belay.Place{File: s.prog.File, Line: p.Line, Col: p.Col}, what: "ends: " + e.String(), err: err}
	}
	for _, name := range e.Names() {
		if by := s.vars.hidden[name]; by != "" {
			return "", "", fail(fmt.Errorf("step %s printed a secret in %s, which was hidden", by, name))
		}
		if !s.vars.vars[name].Inline() {
			return "", "", fail(fmt.Errorf("the value of %s is too big: let a step print the status alone, and read that", name))
		}
	}
	look := s.vars.lookup()
	v, err := e.Eval(func(name string) (any, bool) {
		if _, set := s.vars.vars[name]; !set && slices.Contains(recipe.Endings(), belay.Status(name)) {
			return name, true
		}
		return look(name)
	})
	if err != nil {
		return "", "", fail(err)
	}
	text, ok := v.(string)
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " -- ")
	status = belay.Status(strings.TrimSpace(word))
	if !ok || !slices.Contains(recipe.Endings(), status) {
		return "", "", fail(fmt.Errorf("it gives %s, and a run ends as ACHIEVED, PARTIAL, NOT_ACHIEVED, HOLLOW, STALEMATE or FAILED", short(v)))
	}
	if why = strings.TrimSpace(rest); why == "" {
		why = "its recipe says so (ends: " + e.String() + ")"
	}
	return status, why, nil
}

// EndedByWord tells whether the recipe of the tree lowered what its steps amount to, which
// all came to a good end: to go on would run nothing again. steps are those whose outputs
// it reads, and that may give another one when they are run again: a function gives the same;
// none where the values that the run began with say it.
func (t *Tree) EndedByWord() (steps []belay.Path, ok bool) {
	s := t.runs[t.root]
	if s == nil || s.prog == nil || s.prog.Ends == nil || s.result == nil || s.result.Status == belay.Achieved || s.cancel != nil {
		return nil, false
	}
	if s.outcome().Status != belay.Achieved {
		return nil, false
	}
	names := s.prog.Ends.Names()
	for i := range s.steps {
		if s.steps[i].phase == Done && s.prog.Steps[i].Type != belay.TypeCall && slices.ContainsFunc(s.outputNames(i), func(n string) bool { return slices.Contains(names, n) }) {
			steps = append(steps, s.prog.Steps[i].ID)
		}
	}
	return steps, true
}

// short is a value as an error shows it.
func short(v any) string {
	text := []rune(fmt.Sprintf("%#v", v))
	if v == nil {
		return "nothing"
	}
	if len(text) > 60 {
		text = append(text[:60], '…')
	}
	return string(text)
}

// endCode is the exit code of a status that a recipe gives.
func endCode(s belay.Status) int {
	switch s {
	case belay.Achieved:
		return exit.OK
	case belay.Partial:
		return exit.Partial
	case belay.Hollow:
		return exit.Hollow
	case belay.Stalemate:
		return exit.Stalemate
	case belay.NotAchieved, belay.Failed, belay.Aborted, belay.Held, belay.Stopped, belay.Paused, belay.Parked, belay.Running:
	}
	return exit.Failed
}
