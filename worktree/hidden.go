package worktree

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// lessHidden leaves out files that are said to be deleted and are there as they
// were: git only looks away now. In doubt they stay.
func (p place) lessHidden(ctx context.Context, before string, list []change) []change {
	var there, modes []string
	var names strings.Builder
	for _, c := range list {
		fi, err := os.Lstat(filepath.Join(p.top, c.Path))
		if c.Change == belay.FileDeleted && err == nil && fi.Mode().IsRegular() && fi.Size() <= maxContent && !behindLink(p.top, c.Path) {
			there, modes = append(there, c.Path), append(modes, fileMode(fi))
			names.WriteString(quoted(c.Path) + "\n")
		}
	}
	if len(there) == 0 {
		return list
	}
	out, err := p.feed(ctx, []byte(names.String()), "hash-object", "--stdin-paths")
	ids := strings.Fields(out)
	if err != nil || len(ids) != len(there) {
		return list
	}
	was, err := p.run(ctx, append([]string{"ls-tree", "-z", "--full-tree", before, "--"}, there...)...)
	if err != nil {
		return list
	}
	old := strings.Split(was, "\x00")
	same := map[string]bool{}
	for i, path := range there {
		same[path] = slices.Contains(old, modes[i]+" blob "+ids[i]+"\t"+path)
	}
	return slices.DeleteFunc(slices.Clone(list), func(c change) bool { return c.Change == belay.FileDeleted && same[c.Path] })
}
