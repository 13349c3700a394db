package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/journal"
)

// The step whose rounds are the review of a plan, and the file in the folder of the
// run in which it leaves a plan that nobody approved.
const (
	reviewStep belay.Path = "plan-review"
	planFile   string     = "plan.json"
)

// stalemate is the line for programs about a review that came to no approved plan.
type stalemate struct {
	Event     string      `json:"event"`
	Reason    string      `json:"reason"`
	Round     int         `json:"round"`
	MaxRounds int         `json:"maxRounds"` //nolint:tagliatelle // a word of the older reviewer, which others read
	Run       belay.RunID `json:"run"`
}

// reviewEnd is what the last round of a review amounts to.
type reviewEnd struct {
	Approved bool       `json:"approved"`
	Status   string     `json:"status"`
	Why      string     `json:"why"`
	Event    *stalemate `json:"event"`

	Open []struct {
		Severity string `json:"severity"`
		Title    string `json:"title"`
		Where    string `json:"where"`
	} `json:"-"`
}

// reviewOf is how the review of a run's plan ended last; nil while there was none.
func reviewOf(tree *flow.Tree) *reviewEnd {
	for _, id := range slices.Backward(tree.Runs()) {
		s := tree.Run(id)
		if e, _ := s.Started(); e.Repeat != reviewStep {
			continue
		}
		var end reviewEnd
		r := s.Result()
		if r == nil || json.Unmarshal(r.Outputs["verdict"].JSON, &end) != nil || end.Status == "" {
			return nil
		}
		var t struct{ Open any }
		if json.Unmarshal(r.Outputs["review_triaged"].JSON, &t) == nil {
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

// Why a run is in a stalemate that no review of a plan brought about.
const (
	stuckSame = "no_progress" // a round gave the same as the one before, and left the same files
	stuckSaid = "ends"        // its recipe says so
)

// stuck prints the line for programs of a run that ended in a stalemate.
func (a *app) stuck(tree *flow.Tree, status belay.Status) {
	if status != belay.Stalemate {
		return
	}
	if end := reviewOf(tree); end != nil && end.Event != nil {
		a.object(end.Event)
		return
	}
	line := stalemate{Event: string(belay.Stalemate), Reason: stuckSaid, Run: tree.Runs()[0].Root()}
	if line.Round, line.MaxRounds = tree.StuckRound(); line.Round > 0 && !tree.EndedByRounds() {
		line.Reason = stuckSame
	}
	a.object(line)
}

// unreviewed says what a person can do about a review that came to no approved plan.
func (a *app) unreviewed(id belay.RunID, tree *flow.Tree, folder journal.Folder) {
	end := reviewOf(tree)
	if end == nil || end.Approved {
		return
	}
	fmt.Fprintf(a.std.Err, "the plan is not approved: %s\n", end.Why)
	for _, f := range end.Open {
		where := ""
		if f.Where != "" {
			where = " (" + f.Where + ")"
		}
		fmt.Fprintf(a.std.Err, "  %-8s  %s%s\n", f.Severity, f.Title, where)
	}
	fmt.Fprintf(a.std.Err, `do one of these:
  edit the plan in %[1]s, then %[2]s resume %[3]s
  start again without a review: %[2]s do --no-plan-review
  have the same plan reviewed again: %[2]s clear %[3]s review --why TEXT, then %[2]s resume %[3]s
`, filepath.Join(string(folder), planFile), a.name(), id)
}

// reviewed says whether the plan is reviewed: always, never, or where there is more
// than one workstream.
func (o doOptions) reviewed(cfg *config.Config) string {
	switch {
	case o.review:
		return config.ReviewAlways
	case o.noReview, o.planOnly:
		return config.ReviewNever
	}
	return cfg.PlanReview.Value
}
