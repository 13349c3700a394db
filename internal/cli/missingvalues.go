package cli

import (
	"errors"
	"fmt"

	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/recipe"
)

// unmet refuses a run in which a sub-recipe is certain to be called without a
// value that its context_validation asks for, or a step without a secret that it
// reads, as far as the given values tell.
func (a *app) unmet(spec engine.Spec, name string) error {
	if len(spec.Set.Library.Names) == 0 && len(spec.Set.Root.Secrets) == 0 {
		return nil // it calls nobody
	}
	steps, err := flow.Rehearse(spec.Set.Library, spec.First(), a.secretOf)
	if err != nil {
		return err
	}
	bad := false
	for _, s := range steps {
		if s.Unmet == nil {
			continue
		}
		bad = true
		fmt.Fprintln(a.std.Err, problemText(spec.Set, []recipe.Problem{{
			File: s.Unmet.File, Line: s.Unmet.Line, Col: s.Unmet.Col, Msg: "step " + s.Step + ": " + s.Problem,
			Hint: s.Hint,
		}}, a.errWidth(), true))
	}
	if bad {
		return exit.New(exit.Invalid, "", errors.New("the recipe "+name+" cannot be run"), "nothing was started")
	}
	return nil
}
