package tui

import (
	"fmt"

	"github.com/belay-run/belay"
)

// merges tells whether the work of a step comes back from a worktree.
func (b *Board) merges(at place) bool {
	s := b.tree.Run(at.run)
	if s == nil {
		return false
	}
	h := s.Home(at.path)
	return h != nil && h.Merge && h.Dir != ""
}

// mergeJudged is what became of a merge: the step is done, or what is in the way.
func (b *Board) mergeJudged(at place, l *lane, v belay.Verdict) []Line {
	if v.Failure != nil {
		b.broken[at] = broken{b.step(at).Attempt, l.took(), v.Failure, ""}
		return nil
	}
	b.done++
	text := "merged"
	if l != nil && l.ended != nil && l.ended.Merge != nil {
		switch m := l.ended.Merge; {
		case m.Outcome == belay.MergeNothing:
			text = "nothing to be merged"
		case len(m.Commits) > 0:
			text = fmt.Sprintf("merged: %d files, %d commits", m.Files, len(m.Commits))
		default:
			text = fmt.Sprintf("merged: %d files", m.Files)
		}
	}
	return []Line{b.line("done", at, l.took(), text)}
}
