package story

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/recipe"
)

// reviewStep is the step of a task whose rounds are the review of its plan.
const reviewStep belay.Path = "plan-review"

// ReviewRecipe is the shipped recipe for one round of it, which is also run by its name.
const ReviewRecipe = "plan-review"

// PlanVar is the plan that it is given, and the better one that it gives.
const PlanVar = "plan"

// reviewUnread is the status of a review whose plan nobody could read.
const reviewUnread = "unreadable"

// Stalemate is the line for programs about rounds that came to a standstill.
type Stalemate struct {
	Event     string      `json:"event"`
	Reason    string      `json:"reason"`
	Round     int         `json:"round"`
	MaxRounds int         `json:"maxRounds"` //nolint:tagliatelle // a word of the older reviewer, which others read
	Run       belay.RunID `json:"run"`
}

// Why a run is in a stalemate that no review of a plan brought about.
const (
	StuckSame = "no_progress" // a round gave the same as the one before, and left the same files
	StuckSaid = "ends"        // its recipe says so
)

// StalemateOf is that of a run in a stalemate that no review of a plan brought about.
func StalemateOf(tree *flow.Tree) Stalemate {
	id := tree.Runs()[0].Root()
	line := Stalemate{Event: string(belay.Stalemate), Reason: StuckSaid, Run: id}
	of, round, most := tree.StuckRound()
	line.Round, line.MaxRounds = round, most
	if round > 0 && !tree.EndedByRounds() {
		line.Reason = StuckSame
	}
	at, _ := of.Parent()
	root := tree.Run(id)
	started, _ := root.Started()
	var given int
	if at.Path == taskRounds && at.Run == id && started.Name == taskRecipe && json.Unmarshal(root.Vars()["max_rounds"].JSON, &given) == nil {
		line.MaxRounds = min(most, given) // that of the recipe is for any task, and this one was given fewer
	}
	return line
}

// Review is what the last round of the review of a plan amounts to.
type Review struct {
	Approved bool       `json:"approved"`
	Status   string     `json:"status"`
	Why      string     `json:"why"`
	Event    *Stalemate `json:"event"`
	Open     []Finding  `json:"-"`
}

// Finding is what a reviewer found.
type Finding struct {
	Severity string `json:"severity"`
	Title    string `json:"title"`
	Where    string `json:"where"`
}

// ReviewOf is how the review of a run's plan ended last; nil while there was none.
func ReviewOf(tree *flow.Tree) *Review {
	for _, id := range slices.Backward(tree.Runs()) {
		s := tree.Run(id)
		if e, _ := s.Started(); e.Repeat != reviewStep && !(id == id.Root() && isReview(s.Recipe())) {
			continue
		}
		var end Review
		r := s.Result()
		if r == nil {
			return nil
		}
		gave := r.Outputs
		if id == id.Root() { // it gives nothing to anybody
			gave = s.Vars()
		}
		if json.Unmarshal(gave["verdict"].JSON, &end) != nil || end.Status == "" {
			return nil
		}
		var t struct{ Open any }
		if json.Unmarshal(gave["review_triaged"].JSON, &t) == nil {
			b, _ := json.Marshal(t.Open)     // it was read from JSON
			_ = json.Unmarshal(b, &end.Open) // findings that nobody can read are not shown
		}
		if end.Event != nil {
			end.Event.Run = id.Root()
		}
		return &end
	}
	return nil
}

// isReview tells whether a recipe is the shipped one for a round of a review.
func isReview(r *recipe.Recipe) bool {
	return r != nil && r.Name == ReviewRecipe && r.IsShipped()
}

// ofReview is what to do after a single round of a review that did not approve the plan: the
// next round is a new run with the better plan. Where the review ended, the same plan can be
// reviewed again.
func (f *finder) ofReview() (Next, bool) {
	root := f.tree.Run(f.Run.Root())
	if f.Run != f.Run.Root() || root == nil || !isReview(root.Recipe()) {
		return Next{}, false
	}
	r := ReviewOf(f.tree)
	if _, said := f.tree.EndedByWord(); !said || r == nil || r.Approved {
		return Next{}, false
	}
	if r.Status == reviewUnread {
		return Next{StartOver, f.anew()}, true
	}
	if plan, there := root.Vars()[PlanVar]; there && f.Status == belay.Partial {
		given := maps.Clone(f.started.Vars)
		given[PlanVar] = plan
		next := *f
		next.started.Vars = given
		return Next{NextReview, next.anew()}, true
	}
	m := f.rerun("review")
	return Next{ReviewAgain, []Command{m.Command}}, f.play(way{ReviewAgain, nil, []move{m}}) != flow.Idle
}
