package worktree

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay"
)

// hidden is a file that is said to be deleted and is there: git may only look
// away now.
type hidden struct {
	path, mode string
	was        string // "mode id" before
}

// hiding is such a file of a change, if it is one.
func (p place) hiding(c change) (hidden, bool) {
	if c.Change != belay.FileDeleted {
		return hidden{}, false
	}
	fi, err := os.Lstat(filepath.Join(p.top, c.Path))
	ok := err == nil && fi.Mode().IsRegular() && fi.Size() <= maxContent && !behindLink(p.top, c.Path)
	if !ok {
		return hidden{}, false
	}
	return hidden{c.Path, fileMode(fi), c.was}, true
}

// asBefore tells whether files that git looks away from are all as they were. In
// doubt they are not.
func (p place) asBefore(ctx context.Context, list []hidden) bool {
	if len(list) == 0 {
		return true
	}
	var names strings.Builder
	for _, h := range list {
		names.WriteString(quoted(h.path) + "\n")
	}
	out, err := p.feed(ctx, []byte(names.String()), "hash-object", "--stdin-paths")
	ids := strings.Fields(out)
	if err != nil || len(ids) != len(list) {
		return false
	}
	for i, h := range list {
		if h.mode+" "+ids[i] != h.was {
			return false
		}
	}
	return true
}
