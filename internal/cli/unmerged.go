package cli

import (
	"context"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/worktree"
)

// unmerged are the commands that merge the branches of a run that ended well, as far as
// their work is not in the tree that the run was started in. Of a task, and of a run in an
// archive, there are none here.
func (s *runView) unmerged(ctx context.Context, acc *story.Account) []string {
	if acc.Status != belay.Achieved || acc.Task != nil || s.lies != nil || acc.Run != acc.Run.Root() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	var list []string
	dir := s.Tree.Started().Dir
	for _, t := range s.Work(acc.Run).Trees {
		if t.Branch == "" || !worktree.HasWork(ctx, dir, t.Branch) || worktree.IsMerged(ctx, dir, t.Branch) {
			continue
		}
		if line := mergeLine(dir, t.Branch); !slices.Contains(list, line) {
			list = append(list, line)
		}
	}
	return list
}

// nextLines are what show says to do next; nothing for a run that somebody drives.
func (a *app) nextLines(s *runView, acc *story.Account) (lines []string) {
	if s.lies != nil || s.Tree.Status() == belay.Running && !s.crashed() {
		return nil
	}
	if fix := tui.FixLine(acc); fix != "" {
		lines = append(lines, fix)
	}
	if next := tui.Next(acc, tui.NewNames(s.Tree), a.name()); next != "" {
		return append(lines, "next: "+next)
	}
	for _, line := range s.unmerged(a.ctx, acc) {
		lines = append(lines, "next: "+line)
	}
	return lines
}
