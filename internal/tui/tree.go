package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
)

// group are the lines about what is below one step of the root. A terminal shows them in
// the live view until that step ends, and then as a tree below its line.
type group struct {
	run   belay.RunID
	top   belay.Path
	lines []Line
}

// lastOfRun stands for a place behind all steps of a run.
const lastOfRun belay.Path = "\uffff"

// topOf is the step of the root that a place is below.
func topOf(at story.Place) story.Place {
	for up, ok := at.Run.Parent(); ok; up, ok = at.Run.Parent() {
		at = story.Place{Run: up.Run, Path: up.Path}
	}
	return at
}

// keep puts a line aside that is about something below a step of the root.
func (b *Board) keep(l Line) {
	top := topOf(l.at)
	i := slices.IndexFunc(b.groups, func(g *group) bool { return g.run == top.Run && g.top == top.Path })
	if i < 0 {
		i, b.groups = len(b.groups), append(b.groups, &group{run: top.Run, top: top.Path})
	}
	b.kept++
	l.nth = b.kept
	b.groups[i].lines = append(b.groups[i].lines, l)
}

// take gives the lines back that were kept below a step of the root, as a tree.
func (b *Board) takeBelow(at story.Place) []Line {
	step, _ := at.Path.Hook()
	i := slices.IndexFunc(b.groups, func(g *group) bool { return g.run == at.Run && g.top == step })
	if i < 0 {
		return nil
	}
	rows := b.asTree(b.groups[i].lines)
	b.groups = slices.Delete(b.groups, i, i+1)
	return rows
}

// takeAll gives back all lines that were kept, of steps that did not end.
func (b *Board) takeAll() []Line {
	var rows []Line
	for len(b.groups) > 0 {
		g := b.groups[0]
		rows = append(rows, b.takeBelow(story.Place{Run: g.run, Path: g.top})...)
	}
	return rows
}

// ended are the last lines that are kept of each step that runs.
func (b *Board) ended() (rows []Line) {
	for _, g := range b.groups {
		if n := len(g.lines) - maxEnded; n > 0 {
			rows = append(rows, Line{Word: more, Step: fmt.Sprintf("and %d more ended", n), stands: n, at: story.Place{Run: g.lines[n].at.Run}})
		}
		rows = append(rows, g.lines[max(0, len(g.lines)-maxEnded):]...)
	}
	return rows
}

// asTree puts rows in the order of their recipes, what is below a step behind it, each
// with the name that it has there.
func (b *Board) asTree(rows []Line) []Line {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(x, y Line) int { return slices.CompareFunc(b.order(x.at), b.order(y.at), cmp.Compare[int]) })
	for i := range rows {
		if l := &rows[i]; l.Word != more && l.at.Run != "" {
			l.Step = strings.Repeat("  ", l.at.Run.Depth()) + b.names.Own(l.at)
		}
	}
	return rows
}

// order is where a step stands: its number in its recipe, behind that of the step which it
// is below, and so on.
func (b *Board) order(at story.Place) []int {
	var list []int
	for {
		list = append(list, b.numberOf(at))
		up, ok := at.Run.Parent()
		if !ok {
			break
		}
		list = append(list, up.Attempt)
		at = story.Place{Run: up.Run, Path: up.Path}
	}
	slices.Reverse(list)
	return list
}

// numberOf is the number of a step in its recipe, as far as it was looked at.
func (b *Board) numberOf(at story.Place) int {
	const behind = 1 << 30
	step, _ := at.Path.Hook()
	switch n, known := 0, false; {
	case at.Run == "" || at.Path == lastOfRun:
		return behind
	case at.Path == "":
		return -1
	case b.plan != nil:
		if n, known = b.plan.number[story.Place{Run: at.Run, Path: step}]; known {
			return n
		}
	}
	return behind - 1
}

// mostColumn is how wide the column of names becomes where nothing says how wide a line
// may be.
const mostColumn = 40

// column is the width of the column of names off a terminal: that of the longest name of
// the root, or of a line so far.
func (b *Board) column(l Line) int {
	if b.longest == 0 {
		b.longest = stepWidth
		if st := b.root(); st != nil {
			for _, v := range st.Steps() {
				b.longest = max(b.longest, readable.Width(string(v.Path)))
			}
		}
	}
	b.longest = min(max(b.longest, readable.Width(l.Step)), mostColumn)
	return b.longest
}

// root is the fold of the run; nil before it began.
func (b *Board) root() *flow.State {
	if b.story.Tree == nil || b.story.Root == "" {
		return nil
	}
	return b.story.Tree.Run(b.story.Root)
}

// leastName is how wide the column of names is in the narrowest terminal.
const leastName = 4

// nameWidth is how wide the column of names is: as the longest one, as far as a terminal
// has room.
func (b *Board) nameWidth(width int) int {
	wide := stepWidth
	if b.plan != nil {
		wide = max(wide, b.plan.longest)
	}
	return min(wide, max(stepWidth, width*2/5), max(width-(textAt(0)-3), leastName))
}
