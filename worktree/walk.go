package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/belay-run/belay"
)

// Limits of a walk.
const (
	maxEntries = 100_000   // files and folders that it looks at
	maxWalked  = 512 << 20 // bytes that it reads; of files beyond it size and time count
)

// errMany ends a walk.
var errMany = errors.New("too many files and folders: the print covers the first")

// walk is the print of a folder that is no work tree: a digest of the names and
// contents of its files in the order of their names. Modes, times and folders
// without files do not count, nor does what git keeps for itself. A folder with
// more entries than most gets a print of the first, and an error that says so.
func walk(ctx context.Context, dir string, most int, out []string) (belay.TreeState, error) {
	w := walker{dir: dir, out: out, most: most, left: maxWalked}
	sum := sha256.New()
	w.sum = sum
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { return w.visit(ctx, path, d, err) })
	if err != nil && !errors.Is(err, errMany) {
		return belay.TreeState{}, fmt.Errorf("walk: %w", err)
	}
	return belay.TreeState{Tree: hex.EncodeToString(sum.Sum(nil))}, err
}

// walker is one walk under way.
type walker struct {
	dir  string
	out  []string // paths that are left out
	most int      // entries to look at
	left int64    // bytes to read
	sum  io.Writer
}

func (w *walker) visit(ctx context.Context, path string, d fs.DirEntry, err error) error {
	if path == w.dir {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	rel, _ := filepath.Rel(w.dir, path)          // it is below dir
	if d.Name() == ".git" || under(rel, w.out) { // git's own notes change by being looked at
		if d.IsDir() {
			return filepath.SkipDir
		}
		return nil
	}
	if w.most--; w.most < 0 {
		return errMany
	}
	if d.IsDir() {
		if err != nil {
			fmt.Fprintf(w.sum, "%q/ not readable\n", rel)
			return filepath.SkipDir
		}
		return nil
	}
	info, err := d.Info()
	if err != nil {
		return nil //nolint:nilerr // gone between the listing and the look
	}
	text, err := w.content(ctx, path, info)
	if err == nil {
		fmt.Fprintf(w.sum, "%q %s\n", rel, text)
	}
	return err
}

// content is what a file holds, in a few words.
func (w *walker) content(ctx context.Context, path string, info fs.FileInfo) (string, error) {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		if err != nil {
			to = "" // gone since, or not readable
		}
		return fmt.Sprintf("-> %q", to), nil
	case !info.Mode().IsRegular():
		return info.Mode().Type().String(), nil
	case info.Size() <= w.left:
		id, err := contentID(ctx, path, info.Size())
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err == nil {
			w.left -= info.Size()
			return id, nil
		}
	}
	return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano()), nil
}
