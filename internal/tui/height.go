package tui

import (
	"cmp"
	"slices"

	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
)

// fitting are the rows that a terminal has room for, and in the last one how many steps
// have none. A view that is higher than the terminal could not be taken away again.
func fitting(rows []Line, room int) []Line {
	if len(rows) <= room {
		return rows
	}
	if room <= 0 {
		return nil
	}
	gone := make([]bool, len(rows))
	left, steps := len(rows)-room+1, 0
	leave := func(list []int) {
		for _, i := range list[:min(left, len(list))] {
			gone[i] = true
			left--
			steps += max(rows[i].stands, 1)
		}
	}
	leave(unbegun(rows))
	old, last := byAge(rows)
	leave(old)
	leave(bare(rows, gone))
	var others []int
	for i := range rows {
		if !gone[i] && i != last {
			others = append([]int{i}, others...)
		}
	}
	if last >= 0 {
		others = append(others, last)
	}
	leave(others)
	var list []Line
	for i, l := range rows {
		if !gone[i] {
			list = append(list, l)
		}
	}
	return append(list, Line{Word: more, Step: readable.Many(steps, "more step")})
}

// unbegun are the rows of what is to come, and those that stand for several, from the end.
func unbegun(rows []Line) (list []int) {
	for i := range slices.Backward(rows) {
		if rows[i].Word == pendingWord || rows[i].Word == more {
			list = append(list, i)
		}
	}
	return list
}

// byAge are the rows of what has ended, the oldest first, and apart from them the last.
func byAge(rows []Line) (list []int, last int) {
	for i := range rows {
		if rows[i].nth > 0 {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(x, y int) int { return cmp.Compare(rows[x].nth, rows[y].nth) })
	if n := len(list); n > 0 {
		return list[:n-1], list[n-1]
	}
	return nil, -1
}

// bare are the rows of sub-recipes of which no step is shown any more, from the end.
func bare(rows []Line, gone []bool) (list []int) {
	above := map[story.Place]bool{}
	for i := range rows {
		if gone[i] || rows[i].holds {
			continue
		}
		for up, ok := rows[i].at.Run.Parent(); ok; up, ok = up.Run.Parent() {
			above[story.Place{Run: up.Run, Path: up.Path}] = true
		}
	}
	for i := range slices.Backward(rows) {
		if rows[i].holds && !gone[i] && !above[rows[i].at] {
			list = append(list, i)
		}
	}
	return list
}
