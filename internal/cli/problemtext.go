package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/recipe"
)

// problemText is problems of recipes with their lines and carets, as a terminal of that
// width has room for them; 0 for any other. Equal warnings of a file are one, which says how
// many there are, unless all are wanted.
func problemText(set *library.Set, list []recipe.Problem, width int, all bool) string {
	const under = 4
	if !all {
		list = sameWarnings(list)
	}
	var lines []string
	for _, p := range list {
		told := strings.Split(set.ShowIn(p, width), "\n")
		for i, l := range told {
			if i == 0 || strings.HasPrefix(l, "hint: ") {
				lines = append(lines, readable.Hang(l, width, under)...)
			} else {
				lines = append(lines, l) // it has a caret below it, or is one
			}
		}
	}
	return strings.Join(lines, "\n")
}

// sameWarnings are the problems with equal warnings of a file as one, at the first place.
func sameWarnings(list []recipe.Problem) []recipe.Problem {
	var some []recipe.Problem
	first := map[recipe.Problem]int{} // of warnings without their place
	times := map[int]int{}
	for _, p := range list {
		what := p
		what.Line, what.Col = 0, 0
		i, again := first[what]
		if p.Warning && again {
			times[i]++
			continue
		}
		first[what] = len(some)
		some = append(some, p)
	}
	for i, n := range times {
		some[i].Msg += fmt.Sprintf(" (and %d more like this; all with -v)", n)
	}
	return some
}

// compatHint says that a recipe which cannot be run can be with --compat; "" where that is
// not so, and where a word was misspelled: it is to be mended.
func compatHint(shelf library.Shelf, name string, found []recipe.Problem) string {
	if shelf.Compat || slices.ContainsFunc(found, func(p recipe.Problem) bool { return !p.Warning && strings.HasPrefix(p.Hint, "did you mean") }) {
		return ""
	}
	shelf.Compat = true
	set, err := shelf.Load(name)
	if err != nil || set.Root == nil || set.Errors() {
		return ""
	}
	return "--compat reads it as the older runner would"
}
