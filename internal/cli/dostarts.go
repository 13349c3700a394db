package cli

import (
	"encoding/json"
	"fmt"

	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/task"
)

// bounds are how far the work may go: rounds, and agents.
func (p taskPlan) bounds(tree *flow.Tree) (rounds, starts int) {
	limits, rounds := tree.Started().Limits, doRounds
	_ = json.Unmarshal(tree.Run(tree.Runs()[0]).Vars()["max_rounds"].JSON, &rounds) // as usual where nobody says it
	starts = limits.Starts()
	if limits.RecipeAgents && p.MaxAgents > 0 {
		starts = min(p.MaxAgents, starts)
	}
	return rounds, starts
}

// scarce says that the agents that may start are not enough for all rounds, even if no step
// is tried again; "" = they are.
func (p taskPlan) scarce(tree *flow.Tree) string {
	var tests bool
	_ = json.Unmarshal(tree.Run(tree.Runs()[0]).Vars()["has_tests"].JSON, &tests) // false where nobody says it
	lib := tree.Library()
	work := agentsOf(lib, task.Kind(p.Type).Recipe(), tests)
	if work == 0 { // a recipe of the user's own, of which nobody knows it
		return ""
	}
	rounds, starts := p.bounds(tree)
	const plan, reflects = 1, 1
	first := work + reflects
	if n := len(p.Streams); n > 1 {
		if first = n*work + reflects; tests {
			first++ // what was merged is looked at
		}
	}
	need := plan + first + (rounds-1)*(work+reflects)
	if need <= starts {
		return ""
	}
	enough := 0
	if left := starts - plan - first; left >= 0 {
		enough = 1 + left/(work+reflects)
	}
	return fmt.Sprintf("%d agent starts are enough for %s at most, not for %d: then the run waits for you; to allow all, add --max-agents %d or more",
		starts, readable.Many(enough, "round"), rounds, need)
}

// agentsOf is how many agents a recipe starts at least when all goes well.
func agentsOf(lib flow.Library, name string, tests bool) int {
	r := lib.Recipes[lib.Names[name]]
	if r == nil {
		return 0
	}
	n := 0
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Type.Agent() && isTaken(s, tests) {
			n++
		}
	}
	return n
}

// isTaken tells whether a step is done whatever the others come to.
func isTaken(s *recipe.Step, tests bool) bool {
	return s.Condition == nil || tests && s.Condition.String() == "has_tests"
}
