package cli

import (
	"strings"

	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/recipe"
)

// problemText is problems of recipes with their lines and carets, as a terminal of that
// width has room for them; 0 for any other.
func problemText(set *library.Set, list []recipe.Problem, width int) string {
	const under = 4
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
