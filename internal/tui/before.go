package tui

import (
	"fmt"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/story"
)

// mostBefore is how many steps that were finished before are shown.
const mostBefore = 12

// Before shows what was finished before anybody watched: the last steps that are done or
// failed, but for what is inside of one of them. s has all that was told of the run.
func (s *Screen) Before(of *story.Story) {
	if s.style.Quiet {
		return
	}
	s.mu.Lock()
	list := s.board.before(of)
	lines := make([]string, 0, len(list))
	for _, l := range list {
		lines = append(lines, s.shown(l))
	}
	s.mu.Unlock()
	if n := len(lines) - mostBefore; n > 1 {
		lines = slices.Concat([]string{fmt.Sprintf("  … %d steps were finished before these", n)}, lines[n:])
	}
	s.Say(lines...)
}

func (b *Board) before(of *story.Story) (list []Line) {
	for i := range of.News {
		n := &of.News[i]
		v := of.View(n.Place)
		switch {
		case b.within(n.Place):
			continue
		case n.What == story.AttemptJudged && v.Phase == flow.Done && n.Attempt.Verdict.OK && b.finished(n.Attempt, v):
		case n.What == story.RecoveryChosen && v.Phase == flow.Failed && (n.Decision.Act() == belay.ActGiveUp || n.Decision.Act() == belay.ActAbort):
		case n.What == story.StepRefused && v.Phase == flow.Failed, n.What == story.StepSkipped && v.Phase == flow.Skipped:
		default:
			continue
		}
		for _, l := range b.Lines(n) {
			if !l.Detail && !l.Start {
				list = append(list, l)
			}
		}
	}
	return list
}

// finished tells whether a good attempt is that which its step is done by: the merge, where
// its work comes back.
func (b *Board) finished(a *story.Attempt, v flow.StepView) bool {
	if b.story.Merges(a.Place) {
		return a.Role == belay.RoleMerge
	}
	return a.Role == belay.RoleMain && a.N == v.Attempt
}

// within tells whether a step is inside of one that is finished, which has a line of its own.
func (b *Board) within(at story.Place) bool {
	for up, ok := at.Run.Parent(); ok; up, ok = up.Run.Parent() {
		switch b.story.View(story.Place{Run: up.Run, Path: up.Path}).Phase {
		case flow.Done, flow.NotTaken, flow.Skipped, flow.Failed:
			return true
		case flow.Waiting, flow.Running, flow.Ended, flow.Checking, flow.Broken, flow.Helped, flow.Merging, flow.Held:
		}
	}
	return false
}
