package worktree

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// keepReplaced keeps the run's tree as it is, where the resolution of a conflict is
// about to take lines away that are in no commit there. Whoever resolved it may have
// meant that: the user can still look, and take them back.
func (m *merger) keepReplaced(ctx context.Context, p *plan, ours belay.TreeState) error {
	z, err := m.posed()
	if err != nil || len(z.Files) == 0 {
		return err
	}
	edits, err := m.run.edits(ctx, p.Ours, p.Result)
	if err != nil {
		return err
	}
	head := m.run.emptyTree()
	if ours.Head != "" {
		head = ours.Head + "^{tree}"
	}
	work, err := m.run.edits(ctx, head, p.Ours)
	if err != nil {
		return err
	}
	for _, e := range edits {
		at := func(d delta) bool { return d.path == e.path }
		posed := slices.ContainsFunc(z.Files, func(f puzzleFile) bool { return string(f.Path) == e.path })
		if !posed || e.was == "" || !slices.ContainsFunc(work, at) || len(p.Answer.Replaced) == maxNamed {
			continue
		}
		all, err := m.run.holdsAll(ctx, e)
		if err != nil {
			return err
		}
		if !all {
			p.Answer.Replaced = append(p.Answer.Replaced, shown(e.path))
		}
	}
	if len(p.Answer.Replaced) == 0 {
		return nil
	}
	p.Answer.Before = replacedRef(m.o)
	message := fmt.Sprintf("Files as they were before the work of step %s of run %s was merged", m.o.Step, m.o.Run)
	_, err = Tree{Dir: m.run.top, Git: m.o.Git, Secret: m.o.Secret}.Snapshot(ctx, ours, p.Answer.Before, message)
	return err
}

// replacedRef is the name under which the run's tree is kept as it was before a merge.
func replacedRef(o MergeOrder) string {
	return refRoot + refPart(string(o.Run)) + "/" + refPart(string(o.Step)) + "." + planName(o.Key)
}

// holdsAll tells whether every line that a file had is in what it becomes.
func (p place) holdsAll(ctx context.Context, e delta) (bool, error) {
	if !regular(e.was) || !regular(e.now) {
		return false, nil
	}
	was, err := p.blob(ctx, strings.Fields(e.was))
	if err != nil {
		return false, err
	}
	now, err := p.blob(ctx, strings.Fields(e.now))
	left := map[string]int{}
	for line := range strings.Lines(now) {
		left[strings.TrimRight(line, "\r\n")]++
	}
	for line := range strings.Lines(was) {
		line = strings.TrimRight(line, "\r\n")
		if left[line]--; left[line] < 0 {
			return false, err
		}
	}
	return true, err
}
