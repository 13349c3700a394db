package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// apart is the same work tree with a copy of the index, in which no flag keeps
// git from looking at a file that is there. The real index is left alone. The
// copy goes with done.
func (p place) apart(ctx context.Context) (own place, done func(), err error) {
	tmp, err := os.MkdirTemp("", "belay-print-")
	if err != nil {
		return p, nil, fmt.Errorf("make a folder for the index: %w", err)
	}
	done = func() { _ = os.RemoveAll(tmp) } // a leftover in the temp folder harms nobody
	index := filepath.Join(tmp, "index")
	if err := copyIndex(filepath.Join(p.own, "index"), index); err != nil {
		done()
		return p, nil, err
	}
	p.git, p.index = p.with("GIT_INDEX_FILE="+index), index
	if err := p.unflag(ctx); err != nil {
		done()
		return p, nil, err
	}
	return p, done, nil
}

// unflag takes the flags off the entries of the index that tell git to take a
// file for unchanged without a look: assume-unchanged, and skip-worktree where
// the file is there. A file that a sparse checkout leaves out is not deleted,
// so its entry stays as it is.
func (p place) unflag(ctx context.Context) error {
	flagged, err := p.fromIndex(ctx, func(r rawEntry) bool { return r.assumed || r.skipped })
	if err != nil {
		return err
	}
	var assumed, skipped strings.Builder
	for _, e := range flagged {
		if e.assumed {
			assumed.WriteString(e.path + "\x00")
		}
		if e.skipped && exists(filepath.Join(p.top, e.path)) {
			skipped.WriteString(e.path + "\x00")
		}
	}
	// one call takes off one kind of flag only
	for flag, paths := range map[string]string{"--no-assume-unchanged": assumed.String(), "--no-skip-worktree": skipped.String()} {
		if paths == "" {
			continue
		}
		if _, err := p.feed(ctx, []byte(paths), "update-index", flag, "-z", "--stdin"); err != nil {
			return err
		}
	}
	return nil
}
