package story

import (
	"time"

	"github.com/belay-run/belay"
)

// The steps of a round for the case that no step did the work, or that the one could not
// that should.
const (
	gapFound        belay.Path = "detect-execution-gap"
	gapReported     belay.Path = "file-routing-bug"
	gapDeveloped    belay.Path = "adaptive-execute-development"
	gapInvestigated belay.Path = "adaptive-execute-investigation"
)

// GapStep is what one of these steps came to.
type GapStep struct {
	Place
	At       time.Time
	Headline string         // of the one that noticed it: what is wrong
	Why      string         // the same: what is known of it
	Recipe   string         // the same: which recipe does the work then
	Issue    *TaskIssue     // of the one that reports it
	OK       bool           // it did what it is there for
	Failure  *belay.Failure // it did not: why
}

// GapSteps are those of all rounds of a run, in their order. Where the work was done as
// it should be there are none. read gives values that are too big for the records.
func (s *Story) GapSteps(top belay.RunID, read func(belay.Value) []byte) []GapStep {
	var list []GapStep
	for i := range s.News {
		n := &s.News[i]
		if n.What != AttemptJudged || !n.Run.Under(top) || n.Attempt == nil || n.Attempt.Verdict == nil || !s.inRound(n.Run) {
			continue
		}
		if g, is := gapStep(n, read); is {
			list = append(list, g)
		}
	}
	return list
}

// inRound tells whether a run is a round of a task.
func (s *Story) inRound(run belay.RunID) bool {
	st := s.state(run)
	if st == nil {
		return false
	}
	started, _ := st.Started()
	return started.Name == roundRecipe
}

func gapStep(n *News, read func(belay.Value) []byte) (GapStep, bool) {
	v := n.Attempt.Verdict
	g := GapStep{Place: n.Place, At: n.At, OK: v.OK, Failure: v.Failure}
	get := func(into any) {
		if o := n.Attempt.Observation; o != nil && o.Output != nil {
			Decode(*o.Output, read, into)
		}
	}
	switch n.Path {
	case gapFound:
		var found struct {
			Headline, Why string
			Recipe        string `json:"adaptive_recipe"`
		}
		get(&found)
		g.Headline, g.Why, g.Recipe = found.Headline, found.Why, found.Recipe
		return g, g.Recipe != ""
	case gapReported:
		var is TaskIssue
		if get(&is); is.Title != "" {
			g.Issue = &is
		}
		return g, true
	case gapDeveloped, gapInvestigated:
		return g, true
	}
	return g, false
}
