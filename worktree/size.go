package worktree

import (
	"context"
	"io/fs"
	"path/filepath"
	"syscall"
)

// maxSized is how many files and folders are counted for a size.
const maxSized = 200_000

// Size is what a folder takes on disk. It is at least that much when not all of
// it was counted: there is too much in it, or the context ended.
func Size(ctx context.Context, dir string) (bytes int64, whole bool) {
	return sizeOf(ctx, dir, maxSized)
}

func sizeOf(ctx context.Context, dir string, most int) (bytes int64, whole bool) {
	type file struct{ dev, ino uint64 }
	twice := map[file]bool{} // files with several names, which take their place once
	whole = true
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // what cannot be read is not counted
		if most--; ctx.Err() != nil || most < 0 {
			whole = false
			return fs.SkipAll
		}
		if err != nil {
			whole = false
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // gone since
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			bytes += info.Size()
			return nil
		}
		id := file{uint64(st.Dev), st.Ino} //nolint:unconvert // not the same type everywhere
		if st.Nlink > 1 && !d.IsDir() {
			if twice[id] {
				return nil
			}
			twice[id] = true
		}
		bytes += st.Blocks * 512
		return nil
	})
	return bytes, whole
}
