package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/belay-run/belay"
)

// maxEntries is how many files and folders a walk looks at.
const maxEntries = 100_000

// errMany ends a walk.
var errMany = errors.New("too many files and folders: the print covers the first")

// walk is the print of a folder that is no work tree: a digest of names, modes,
// sizes and times in the order of their names. Of folders only the names count,
// because their times change with things that are not counted. A folder with
// more entries than most gets a print of the first, and an error that says so.
func walk(ctx context.Context, dir string, most int, out []string) (belay.Print, error) {
	sum := sha256.New()
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if path == dir {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rel, _ := filepath.Rel(dir, path) // it is below dir
		if under(rel, out) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if n++; n > most {
			return errMany
		}
		if d.IsDir() {
			if d.Name() == ".git" { // git's own notes change by being looked at
				return filepath.SkipDir
			}
			fmt.Fprintf(sum, "%q/ %t\n", rel, err != nil)
			if err != nil {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil // gone between the listing and the look
		}
		fmt.Fprintf(sum, "%q %o %d %d\n", rel, info.Mode(), info.Size(), info.ModTime().UnixNano())
		return nil
	})
	if err != nil && !errors.Is(err, errMany) {
		return belay.Print{}, fmt.Errorf("walk: %w", err)
	}
	return belay.Print{Tree: hex.EncodeToString(sum.Sum(nil))}, err
}
