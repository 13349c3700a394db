package worktree

import (
	"context"
	"os"
	"path/filepath"
)

// sight is how paths of a tree were at a look.
type sight struct {
	stats map[string]os.FileInfo // before they were read; nil: nothing is there
	now   map[string]string      // as entries gives them
	fresh bool                   // one was touched so lately that its times tell nothing
}

// see looks at paths of the tree.
func (p place) see(ctx context.Context, list []delta) (sight, error) {
	s := sight{stats: map[string]os.FileInfo{}}
	clock := p.moment()
	for _, e := range list {
		fi, err := os.Lstat(filepath.Join(p.top, e.path))
		if err != nil {
			continue
		}
		s.stats[e.path] = fi
		_, at := touched(fi)
		s.fresh = s.fresh || fi.IsDir() || at == 0 || at >= clock-int64(slack)
	}
	var err error
	s.now, err = p.entries(ctx, list)
	return s, err
}

// seeAgain is see; it believes an earlier look where nobody touched one of the paths
// since.
func (p place) seeAgain(ctx context.Context, list []delta, before sight) (sight, error) {
	if before.now == nil || before.fresh {
		return p.see(ctx, list)
	}
	for _, e := range list {
		fi, err := os.Lstat(filepath.Join(p.top, e.path))
		was := before.stats[e.path]
		if (err != nil) != (was == nil) || err == nil && !untouched(was, fi) {
			return p.see(ctx, list)
		}
	}
	return before, nil
}

// untouched tells whether a file is the one that it was, and nobody wrote it or
// changed its mode.
func untouched(a, b os.FileInfo) bool {
	_, was := touched(a)
	_, is := touched(b)
	return was == is && same(a, b)
}
