package worktree

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
)

// ignored counts the files that git ignores, and their bytes. Nobody can tell
// a report that was written there from what a build can make again.
func (p place) ignored(ctx context.Context) (files int, bytes int64, err error) {
	out, err := p.run(ctx, "ls-files", "--others", "--ignored", "--exclude-standard", "-z")
	if err != nil {
		return 0, 0, err
	}
	for path := range strings.SplitSeq(out, "\x00") {
		if path == "" {
			continue
		}
		// A repository inside this one stands there as its folder.
		err := filepath.WalkDir(filepath.Join(p.top, path), func(_ string, d fs.DirEntry, err error) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil || d.IsDir() {
				return nil //nolint:nilerr // what cannot be read has no size; the folder is counted by what can
			}
			files++
			if info, err := d.Info(); err == nil {
				bytes += info.Size()
			}
			return nil
		})
		if err != nil {
			return files, bytes, err
		}
	}
	return files, bytes, nil
}
