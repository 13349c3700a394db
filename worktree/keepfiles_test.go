package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// What a directory held is brought back as it was, what is replaced is kept aside, and
// nothing is touched when one file was changed by somebody else or was not kept.
//
// promise: S10
func TestPutBack(t *testing.T) {
	// not parallel: it sets maxKept
	for _, c := range []struct {
		name  string
		after func(dir string) // somebody changes files after the last look
		store func(dir string)
		most  int64
		not   string
	}{
		{name: "back"},
		{name: "begun before and killed", after: func(dir string) { put(t, dir, "same", "first") }},
		{name: "changed since", after: func(dir string) { put(t, dir, "other", "of the user") }, not: "other was changed after the last round was judged"},
		{name: "new since", after: func(dir string) { put(t, dir, "notes", "of the user") }, not: "notes was changed after the last round was judged"},
		{name: "not kept", store: func(dir string) { _ = os.RemoveAll(dir) }, not: "gone was not kept as it was"},
		{name: "too big", most: 3, not: "gone was not kept as it was"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, store, aside := t.TempDir(), filepath.Join(t.TempDir(), "kept"), filepath.Join(t.TempDir(), "aside")
			for _, name := range []string{"same", "other", "gone", "in/a/folder"} {
				put(t, dir, name, "first")
			}
			put(t, dir, "run", "#!/bin/sh")
			must(t, os.Chmod(filepath.Join(dir, "run"), 0o750)) //nolint:gosec // a script
			must(t, os.Symlink("same", filepath.Join(dir, "link")))
			list := func() Listing {
				l, err := ListFiles(t.Context(), dir)
				must(t, err)
				return ReadListing(l.Bytes())
			}
			best := list()
			if c.most > 0 {
				defer func(was int64) { maxKept = was }(maxKept)
				maxKept = c.most
			}
			if err := KeepFiles(t.Context(), dir, best, store); (c.most > 0) != errors.Is(err, errKept) {
				t.Fatal(err)
			}
			must(t, os.RemoveAll(filepath.Join(dir, "in")))
			for _, name := range []string{"gone", "run", "link"} {
				must(t, os.Remove(filepath.Join(dir, name)))
			}
			for _, name := range []string{"same", "other", "in", "new/junk", "link"} { // a file where a folder was, and where a link was
				put(t, dir, name, "worse")
			}
			seen := list()
			if c.after != nil {
				c.after(dir)
			}
			if c.store != nil {
				c.store(store)
			}
			before := list()
			paths, err := PutBack(t.Context(), Back{Dir: dir, To: best, Seen: seen, Store: store, Aside: aside})
			var not *NotBack
			if c.not != "" {
				if !errors.As(err, &not) || not.Error() != c.not {
					t.Fatalf("%v, want %s", err, c.not)
				}
				if got := list().Since(before); len(got) > 0 {
					t.Errorf("touched: %q", got)
				}
				return
			}
			must(t, err)
			if got := list().Since(best); len(got) > 0 {
				t.Errorf("not as it was: %q", got)
			}
			if info, err := os.Stat(filepath.Join(dir, "run")); err != nil || info.Mode().Perm() != 0o750 {
				t.Error("the mode of run:", info.Mode(), err)
			}
			if _, err := os.Stat(filepath.Join(dir, "new")); !os.IsNotExist(err) {
				t.Error("an empty folder is left:", err)
			}
			if b, err := os.ReadFile(filepath.Join(aside, "new/junk")); err != nil || string(b) != "worse" {
				t.Errorf("aside: %q %v", b, err)
			}
			if want := []string{"gone", "in", "in/a/folder", "link", "new/junk", "other", "run", "same"}; c.after == nil && !slices.Equal(paths, want) {
				t.Errorf("%q, want %q", paths, want)
			}
		})
	}
}

// A folder is where a file was: its files are put away under their paths, or nothing is
// touched when one of them is no file of the listing.
func TestPutBackOverAFolder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		after func(dir string) // before the last look
		since func(dir string) // after it
		not   string
		away  []string
	}{
		{name: "with files", after: func(dir string) {
			put(t, dir, "b.txt/notes.md", "hours of mine")
			put(t, dir, "b.txt/in/more.md", "more")
		}, away: []string{"b.txt/in/more.md", "b.txt/notes.md"}},
		{name: "empty", after: func(dir string) { must(t, os.MkdirAll(filepath.Join(dir, "b.txt", "a", "b"), 0o750)) }},
		{name: "made since", since: func(dir string) { put(t, dir, "b.txt/notes.md", "of the user") },
			not: "b.txt/notes.md was changed after the last round was judged"},
		{name: "with what no listing has", after: func(dir string) { put(t, dir, "b.txt/.git/config", "of the user") },
			not: "b.txt is a folder now, and b.txt/.git/config in it cannot be put away"},
		{name: "no file at all", after: func(dir string) { must(t, syscall.Mkfifo(filepath.Join(dir, "b.txt"), 0o600)) },
			not: "b.txt is no file that can be put away"},
		{name: "unfinished names", after: func(dir string) { put(t, dir, "c.part", "of the user"); put(t, dir, "c", "worse") },
			away: []string{"c", "c.part"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, run := t.TempDir(), t.TempDir()
			store, aside := filepath.Join(run, "kept"), filepath.Join(run, "later")
			put(t, dir, "b.txt", "b")
			put(t, dir, "a.txt", "a")
			list := func() Listing {
				l, err := ListFiles(t.Context(), dir)
				must(t, err)
				return ReadListing(l.Bytes())
			}
			best := list()
			must(t, KeepFiles(t.Context(), dir, best, store))
			must(t, os.Remove(filepath.Join(dir, "b.txt")))
			put(t, dir, "a.txt", "a")
			if c.after != nil {
				c.after(dir)
			}
			seen := list()
			if c.since != nil {
				c.since(dir)
			}
			before := list()
			_, err := PutBack(t.Context(), Back{Dir: dir, To: best, Seen: seen, Store: store, Aside: aside})
			var away []string
			_ = filepath.WalkDir(aside, func(at string, d os.DirEntry, err error) error { // without the folder nothing was put away
				if err == nil && !d.IsDir() {
					rel, _ := filepath.Rel(aside, at)
					away = append(away, rel)
				}
				return err
			})
			if !slices.Equal(away, c.away) {
				t.Errorf("put away: %q, want %q", away, c.away)
			}
			if _, err := os.Lstat(aside + ".part"); err == nil {
				t.Error("a half copy is left")
			}
			var not *NotBack
			if c.not != "" {
				if !errors.As(err, &not) || not.Error() != c.not {
					t.Fatalf("%v, want %s", err, c.not)
				}
				if got := list().Since(before); len(got) > 0 {
					t.Errorf("touched: %q", got)
				}
				return
			}
			must(t, err)
			if got := list().Since(best); len(got) > 0 {
				t.Errorf("not as it was: %q", got)
			}
		})
	}
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
