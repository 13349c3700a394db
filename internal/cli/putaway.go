package cli

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/worktree"
)

// filesKind is what gc, rm and prune call the files that a run put away when it brought
// those of a better round back.
const filesKind = "files"

// putAwayWhy says why they stay. A person may have written them while the run worked.
const putAwayWhy = "a better round replaced them, and they may be nowhere else; some may be yours"

// maxPutAway is how many of these files a record names.
const maxPutAway = 20

// someFiles names the files in a folder with the paths that they have below it, at most so
// many, and tells how many there are.
func someFiles(dir string, most int) (names []string, all int, err error) {
	err = filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if all++; len(names) < most {
			rel, err := filepath.Rel(dir, at)
			if err != nil {
				return err
			}
			names = append(names, filepath.ToSlash(rel))
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return names, all, err
}

// putAway are the files that a run put away, while one of them is not also where it worked.
func putAway(st *journal.State, sum journal.Summary, run runLine) []leftover {
	dir := filepath.Join(string(st.Folder(sum.ID)), laterFiles)
	if !there(dir) || sum.Dir != "" && isIn(dir, worktree.Whole(sum.Dir)) {
		return nil
	}
	return []leftover{{Kind: filesKind, Run: sum.ID, Status: string(run.Status), Path: dir, Why: []string{putAwayWhy},
		remove: func(context.Context) error { return nil }}}
}

// isIn tells whether each file of a folder is in a tree, at the same path and with the same
// content. What cannot be read is in none.
func isIn(dir, tree string) bool {
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, at)
		if err == nil && !sameContent(at, filepath.Join(tree, rel)) {
			err = fs.ErrExist
		}
		return err
	})
	return err == nil || errors.Is(err, fs.ErrNotExist) && !there(dir)
}

// sameContent tells whether two files or links have the same content.
func sameContent(x, y string) bool {
	a, err := os.Lstat(x)
	b, also := os.Lstat(y)
	if err != nil || also != nil || a.Mode().Type() != b.Mode().Type() {
		return false
	}
	if a.Mode()&fs.ModeSymlink != 0 {
		to, err := os.Readlink(x)
		leads, also := os.Readlink(y)
		return err == nil && also == nil && to == leads
	}
	if a.Size() != b.Size() {
		return false
	}
	one, err := os.ReadFile(x)
	two, also := os.ReadFile(y)
	return err == nil && also == nil && bytes.Equal(one, two)
}

// putAwayCure is what lets the files of a run go.
func putAwayCure(dir string) string {
	return "copy what you want out of it, then rm -r " + story.Quote(dir)
}
