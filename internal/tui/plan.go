package tui

import (
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/story"
)

// plan is how the steps of the tree stand, for the live view. It is made by who tells the
// records: the tree is the driver's, and the view is drawn beside it.
type plan struct {
	total, over int                 // steps, and those of which nothing more can come
	pending     []story.Place       // those that nothing was heard of yet, in order
	number      map[story.Place]int // of each in its recipe
	longest     int                 // name, with what it is indented by
	began       time.Time
	micros      int64 // what agents cost so far
}

// mostPlanned keeps a huge tree from being walked at each record: it is looked at once
// for each drawing then.
const mostPlanned = 200

// look makes the plan anew.
func (b *Board) look() {
	tree := b.story.Tree
	if tree == nil || b.story.Root == "" || tree.Run(b.story.Root) == nil {
		return
	}
	p := &plan{number: map[story.Place]int{}}
	_, p.began = tree.Run(b.story.Root).Started()
	_, used := tree.Spent()
	p.micros = used.MicroUSD
	story.Walk(tree, b.story.Root, func(run belay.RunID, depth int, v flow.StepView) {
		at := story.Place{Run: run, Path: v.Path}
		p.number[at] = len(p.number)
		if n := 2*depth + readable.Width(b.names.Own(at)); n > p.longest && !v.Fallback && v.Path != recipe.FinallyID {
			p.longest = n
		}
		if v.Path == recipe.FinallyID || v.Fallback { // which runs below the step that it is for
			return
		}
		p.total++
		switch v.Phase {
		case flow.Done, flow.NotTaken, flow.Skipped, flow.Failed:
			p.over++
		case flow.Waiting:
			if v.Attempt == 0 && v.Due.IsZero() {
				p.pending = append(p.pending, at)
			}
		case flow.Running, flow.Ended, flow.Checking, flow.Broken, flow.Helped, flow.Merging, flow.Held:
		}
	})
	b.plan = p
}
