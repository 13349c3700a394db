package story

import (
	"encoding/json"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
)

// reviewStep is the step of a task whose rounds are the review of its plan.
const reviewStep belay.Path = "plan-review"

// Stalemate is the line for programs about rounds that came to a standstill.
type Stalemate struct {
	Event     string      `json:"event"`
	Reason    string      `json:"reason"`
	Round     int         `json:"round"`
	MaxRounds int         `json:"maxRounds"` //nolint:tagliatelle // a word of the older reviewer, which others read
	Run       belay.RunID `json:"run"`
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
		if e, _ := s.Started(); e.Repeat != reviewStep {
			continue
		}
		var end Review
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
