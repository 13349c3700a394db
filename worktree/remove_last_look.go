package worktree

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// goingSuffix is what a worktree is called, beside its place, while it is looked
// at for the last time.
const goingSuffix = ".going"

// lastLook moves a worktree aside and looks at it once more: who writes by its
// path does not find it any more, so that nothing is written between the look
// and a removal at which git looks at nothing. What is not proven there too is
// put back, with *Unsafe. The mark in the repository stays as it was.
func (g git) lastLook(ctx context.Context, branch string, own owner, aside []Reason) (owner, Owned, error) {
	place := own.Path
	if own.going {
		place = strings.TrimSuffix(place, goingSuffix)
	} else {
		own.Path, own.going = place+goingSuffix, true
		if exists(own.Path) { // git would move it into that
			return own, Owned{}, &Unsafe{Path: place, Branch: branch, Why: []Reason{ReasonForeign}}
		}
		if err := g.patient(ctx, "worktree", "move", place, own.Path); err != nil {
			return own, Owned{}, err
		}
	}
	o, why, err := g.lookAgain(ctx, branch, own, aside)
	if err == nil && exists(place) { // somebody goes on there, and may want the rest
		why = append(why, ReasonBusy)
	}
	if err == nil && len(why) == 0 {
		return own, o, nil
	}
	if !exists(place) { // else it stays aside: nothing is lost there
		back := g.patient(context.WithoutCancel(ctx), "worktree", "move", own.Path, place)
		if back != nil {
			return own, o, back
		}
		own.Path = place
	}
	if err == nil {
		err = &Unsafe{Path: own.Path, Branch: branch, Why: why}
	}
	return own, o, err
}

// putBack moves a worktree back to its place that somebody moved aside for a last
// look at it, and was killed: it is wanted there.
func (b *builder) putBack(ctx context.Context, marks map[string]owner) error {
	list, err := b.worktrees(ctx)
	if err != nil {
		return err
	}
	if own := found(maps.Clone(marks), list)[b.name]; own.going {
		return b.patient(ctx, "worktree", "move", own.Path, b.own.Path)
	}
	return nil
}

// lookAgain is how a worktree looks that was found to have nothing uncommitted
// that other commits do not have, and what keeps it now.
func (g git) lookAgain(ctx context.Context, branch string, own owner, aside []Reason) (Owned, []Reason, error) {
	list, err := g.worktrees(ctx)
	if err != nil {
		return Owned{}, nil, err
	}
	o := g.assess(ctx, branch, own, list)
	g.forgive(ctx, []*Owned{&o})
	return o, o.keeps(false, aside), nil
}

// found are the marks with the places where worktrees are that were moved aside
// and neither removed nor put back: who did it was killed.
func found(marks map[string]owner, list []linked) map[string]owner {
	for branch, own := range marks {
		if w, known := at(list, own.Path+goingSuffix); known && slices.Contains(own.branches(branch), w.branch) && !exists(own.Path) {
			own.Path, own.going = w.path, true
			marks[branch] = own
		}
	}
	return marks
}
