package tui

import (
	"strings"

	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
)

// mergeJudged is what became of a merge that was good: the step is done, by what its work
// was judged by before.
func (b *Board) mergeJudged(a *story.Attempt) []Line {
	if a.Verdict.Failure != nil {
		return nil
	}
	text := "merged"
	if a.Observation != nil && a.Observation.Merge != nil {
		switch m := a.Observation.Merge; {
		case m.Outcome == effect.MergeNothing:
			text = "nothing to be merged"
		case len(m.Commits) > 0:
			text = "merged: " + readable.Many(m.Files, "file") + ", " + readable.Many(len(m.Commits), "commit")
		default:
			text = "merged: " + readable.Many(m.Files, "file")
		}
		if left := a.Observation.Merge.Left; len(left) > 0 {
			text += "; taken back there, and left as it is here: " + strings.Join(left, ", ")
		}
		if m := a.Observation.Merge; len(m.Replaced) > 0 {
			text += "; uncommitted lines of " + strings.Join(m.Replaced, ", ") + " were taken away; as they were: git show " + m.Before + ":PATH"
		}
	}
	word := "done"
	if v := b.story.View(a.Place); v.Verdict != nil && v.Verdict.OK {
		word, text = doneWord(v.Verdict.Basis), joined(b.checked(a.Place, v.Verdict.Basis), text)
	}
	return []Line{line(word, a.Place, took(a), text)}
}
