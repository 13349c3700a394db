package tui

import (
	"fmt"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/story"
)

// mergeJudged is what became of a merge that was good: the step is done.
func mergeJudged(a *story.Attempt) []Line {
	if a.Verdict.Failure != nil {
		return nil
	}
	text := "merged"
	if a.Observation != nil && a.Observation.Merge != nil {
		switch m := a.Observation.Merge; {
		case m.Outcome == belay.MergeNothing:
			text = "nothing to be merged"
		case len(m.Commits) > 0:
			text = fmt.Sprintf("merged: %d files, %d commits", m.Files, len(m.Commits))
		default:
			text = fmt.Sprintf("merged: %d files", m.Files)
		}
	}
	return []Line{line("done", a.Place, took(a), text)}
}
