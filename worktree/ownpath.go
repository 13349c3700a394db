package worktree

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay"
)

// mostNamed is how many places are told in which files name their own worktree.
const mostNamed = 10

// ownPath are the places, as file:line, in which the files that differ between two trees
// name a worktree of a run, in a text or as what a link leads to; and the new links that
// lead elsewhere out of the repository, as "file -> place". What is there is there while
// the work is judged, and who takes the work does not have it.
func (p place) ownPath(ctx context.Context, run belay.RunID, from, to string, edits []delta) ([]string, error) {
	own := "/runs/" + string(run) + "/trees/" // whatever leads to it
	out, err := p.run(ctx, "-c", "core.quotePath=false", "diff", "-S"+own, "-U0", "--text", "--no-prefix", "--no-color", "--no-renames", "--no-ext-diff", "--no-textconv",
		"--end-of-options", from, to, "--")
	if err != nil {
		return nil, err
	}
	list, err := p.leadingOut(ctx, own, edits)
	if err != nil {
		return nil, err
	}
	return append(placesIn(out, own), list...), nil
}

// leadingOut are the new links that lead out of the repository, as "file -> place", but
// those to a worktree of the run.
func (p place) leadingOut(ctx context.Context, own string, edits []delta) ([]string, error) {
	var list []string
	for _, e := range edits {
		id, is := strings.CutPrefix(e.now, "120000 ")
		if !is {
			continue
		}
		target, err := p.run(ctx, "cat-file", "blob", id)
		if err != nil {
			return nil, err
		}
		if leadsOut(e.path, target) && !strings.Contains(target, own) {
			if list = append(list, shown(e.path)+" -> "+shown(target)); len(list) == mostNamed {
				break
			}
		}
	}
	return list, nil
}

// devices are the same everywhere; what else lies below /dev may be files in memory.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/stdin", "/dev/stdout", "/dev/stderr"}

// leadsOut tells whether a link at a path of a tree leads out of it, by its words.
func leadsOut(link, target string) bool {
	if path.IsAbs(target) {
		return !slices.Contains(devices, path.Clean(target))
	}
	to := path.Join(path.Dir(link), target)
	return to == ".." || strings.HasPrefix(to, "../")
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
