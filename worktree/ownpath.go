package worktree

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/belay-run/belay"
)

// mostNamed is how many places are told in which files name their own worktree.
const mostNamed = 10

// OwnPath are the places, as file:line, in which the files that differ between two trees
// name a worktree of a run, in a text or as what a link leads to. It is there while the
// work is judged, and nobody who takes the work has it.
func OwnPath(ctx context.Context, dir string, run belay.RunID, from, to string) ([]string, error) {
	at, err := find(ctx, "", dir)
	if err != nil {
		return nil, fmt.Errorf("look for own paths: %w", err)
	}
	path := "/runs/" + string(run) + "/trees/" // whatever leads to it
	out, err := at.run(ctx, "-c", "core.quotePath=false", "diff", "-S"+path, "-U0", "--no-prefix", "--no-color", "--no-renames", "--no-ext-diff", "--no-textconv",
		"--end-of-options", from, to, "--")
	if err != nil {
		return nil, fmt.Errorf("look for own paths: %w", err)
	}
	return placesIn(out, path), nil
}

// placesIn are the lines with a text that a diff without context adds.
func placesIn(diff, text string) []string {
	var list []string
	file, line, left := "", 0, 0 // lines of a hunk that come still
	for l := range strings.Lines(diff) {
		l = strings.TrimSuffix(l, "\n")
		switch {
		case left > 0 && strings.HasPrefix(l, "+"):
			if strings.Contains(l, text) && len(list) < mostNamed {
				list = append(list, fmt.Sprintf("%s:%d", file, line))
			}
			line, left = line+1, left-1
		case strings.HasPrefix(l, "+++ "):
			file = strings.TrimSuffix(l[4:], "\t")
		case strings.HasPrefix(l, "@@ "):
			_, now, _ := strings.Cut(l, " +")
			now, _, _ = strings.Cut(now, " ")
			first, many, several := strings.Cut(now, ",")
			line, _ = strconv.Atoi(first) // git writes numbers
			if left = 1; several {
				left, _ = strconv.Atoi(many) // as above
			}
		}
	}
	return list
}
