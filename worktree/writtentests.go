package worktree

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
)

// TestFile is what is in a test file.
type TestFile struct {
	Text []byte
	Exec bool
}

// maxTestFile is how big a test file may be that is kept: what is bigger is data.
const maxTestFile = 16 << 20

// sharedSettings are files that have settings of tests beside others.
var sharedSettings = []string{"package.json", "pyproject.toml", "setup.cfg"}

// IsSharedSettings tells whether a file has settings of tests beside others.
func IsSharedSettings(name string) bool { return named(name, sharedSettings) }

// TestsSince are the test files and the settings of tests that are there and are not as they
// were at a commit, by their paths from the top. Where a listing is given, it says how they
// were.
func TestsSince(ctx context.Context, dir, base string, before Listing, skip ...string) ([]string, error) {
	list, err := changedSince(ctx, dir, base, before, skip)
	if err != nil {
		return nil, fmt.Errorf("look for tests: %w", err)
	}
	list = slices.DeleteFunc(list, func(name string) bool { return !IsTest(name) && !IsTestSettings(name) && !IsSharedSettings(name) })
	slices.Sort(list)
	return slices.Compact(list), nil
}

func changedSince(ctx context.Context, dir, base string, before Listing, skip []string) ([]string, error) {
	if before != nil {
		now, err := ListFiles(ctx, dir, skip...)
		list := now.Since(before)
		return slices.DeleteFunc(list, func(name string) bool { return now[name] == "" }), err
	}
	p, err := find(ctx, "", dir)
	if err != nil {
		return nil, nil //nolint:nilerr // without a repository nobody knows what was there
	}
	out, err := p.run(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	list := records(out)
	if base == "" {
		base = "HEAD"
	}
	out, err = p.run(ctx, "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--diff-filter=AMT", base, "--")
	if base == "HEAD" && err != nil { // there is no commit
		return list, nil
	}
	return append(list, records(out)...), err
}

// WrittenTests are test files as one step of a run left them.
type WrittenTests struct {
	Round int               `json:"round"`
	Run   string            `json:"run"`  // the whole run: workstreams have the same one
	Item  string            `json:"item"` // of a workstream; "" = of none
	Files map[string]string `json:"files"`

	In string `json:"-"` // the folder that they are in
}

const (
	aboutTests  = "about.json"
	testsFolder = "files"
)

// KeepTests copies test files of the tree of a directory, by their paths from its top, into a
// new folder below another one.
func KeepTests(ctx context.Context, dir, to string, names []string, w WrittenTests) error {
	top, _, err := listed(ctx, dir)
	if err == nil {
		w.In, err = nextFolder(to)
	}
	if err != nil {
		return fmt.Errorf("keep tests: %w", err)
	}
	w.Files = map[string]string{}
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(top, name))
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxTestFile {
			continue // it is gone, or no test
		}
		text, err := os.ReadFile(filepath.Join(top, name))
		at := filepath.Join(w.In, testsFolder, name)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(at), 0o700)
		}
		if err == nil {
			err = os.WriteFile(at, text, 0o400|info.Mode().Perm()&0o100)
		}
		if err != nil {
			return fmt.Errorf("keep tests: %w", err)
		}
		w.Files[name] = sumOf(text)
	}
	b, err := json.Marshal(w)
	if err == nil {
		err = os.WriteFile(filepath.Join(w.In, aboutTests), b, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep tests: %w", err)
	}
	return nil
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// maxKeptTests is how many steps of a run may keep tests.
const maxKeptTests = 1000

// nextFolder makes the folder with the next number: steps of several workstreams may ask at once.
func nextFolder(in string) (string, error) {
	if err := os.MkdirAll(in, 0o700); err != nil {
		return "", err
	}
	for n := 1; n <= maxKeptTests; n++ {
		at := filepath.Join(in, fmt.Sprintf("%04d", n))
		if err := os.Mkdir(at, 0o700); !errors.Is(err, fs.ErrExist) {
			return at, err
		}
	}
	return "", errors.New("there are more than " + strconv.Itoa(maxKeptTests))
}

// ReadWrittenTests reads what KeepTests kept, in its order.
func ReadWrittenTests(in string) ([]WrittenTests, error) {
	entries, err := os.ReadDir(in)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read kept tests: %w", err)
	}
	var list []WrittenTests
	for _, e := range entries {
		w := WrittenTests{}
		at := filepath.Join(in, e.Name())
		b, err := os.ReadFile(filepath.Join(at, aboutTests))
		if errors.Is(err, fs.ErrNotExist) { // its step was ended, and made another one
			continue
		}
		if err == nil {
			err = json.Unmarshal(b, &w)
		}
		if err != nil {
			return nil, fmt.Errorf("read kept tests: %w", err)
		}
		w.In = at
		list = append(list, w)
	}
	return list, nil
}

// text reads a file as it was kept; not ok where somebody changed it since.
func (w WrittenTests) text(name string) (f TestFile, ok bool) {
	at := filepath.Join(w.In, testsFolder, filepath.FromSlash(name))
	info, err := os.Lstat(at)
	if err != nil || !info.Mode().IsRegular() {
		return f, false
	}
	f.Text, err = os.ReadFile(at)
	f.Exec = info.Mode()&0o100 != 0
	return f, err == nil && sumOf(f.Text) == w.Files[name]
}

// TestForms are the forms in which test files are to pass, each with all of them: what a later
// round or the same recipe wrote again is in the place of what it was, and of several
// workstreams that wrote the same file each form is one. broken are files of which
// what was kept is not there any more.
func TestForms(list []WrittenTests) (forms []map[string]TestFile, broken []string) {
	type version struct {
		WrittenTests
		text TestFile
	}
	all := map[string][]version{}
	for _, w := range list {
		for name := range w.Files {
			all[name] = slices.DeleteFunc(all[name], func(v version) bool {
				return v.Round < w.Round || v.Run == w.Run && v.Item == w.Item || v.Files[name] == w.Files[name]
			})
			f, ok := w.text(name)
			if !ok && !slices.Contains(broken, name) {
				broken = append(broken, name)
			}
			all[name] = append(all[name], version{w, f})
		}
	}
	most := 0
	for _, versions := range all {
		most = max(most, len(versions))
	}
	for n := range most {
		form := map[string]TestFile{}
		for name, versions := range all {
			form[name] = versions[min(n, len(versions)-1)].text
		}
		forms = append(forms, form)
	}
	slices.Sort(broken)
	return forms, broken
}

// Unlike are those of some files, by their paths from the top, that are not the same in the copy.
func (t Throwaway) Unlike(files map[string]TestFile) []string {
	var list []string
	for name, f := range files {
		if text := t.Text(name); text == nil || !bytes.Equal(text, f.Text) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// Text is what is in a file of the copy, by its path from the top; nil where it is none.
func (t Throwaway) Text(name string) []byte {
	at := filepath.Join(t.Root, "tree", filepath.FromSlash(name))
	if info, err := os.Lstat(at); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text, _ := os.ReadFile(at) // what cannot be read is none
	return text
}

// WithTests gives the copy test files in the place of its own. A file that has the content of
// one under another name is removed: nobody may run a test twice.
func (t Throwaway) WithTests(ctx context.Context, files map[string]TestFile) error {
	if err := t.withTests(ctx, files); err != nil {
		return fmt.Errorf("put tests back: %w", err)
	}
	return nil
}

func (t Throwaway) withTests(ctx context.Context, files map[string]TestFile) error {
	top := filepath.Join(t.Root, "tree")
	root, err := os.OpenRoot(top) // no link leads out of it
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // what was written is closed
	moved, err := t.moved(ctx, files)
	if err != nil {
		return err
	}
	for _, name := range moved {
		if err := root.Remove(name); err != nil && !missing(err) {
			return err
		}
	}
	for _, name := range t.Unlike(files) {
		if err := cleared(root, name); err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if files[name].Exec {
			mode = 0o755
		}
		if info, err := root.Lstat(name); err == nil {
			mode = info.Mode().Perm() // that it can be run may be the work
		}
		if err := root.RemoveAll(name); err != nil {
			return err
		}
		if err := root.WriteFile(name, files[name].Text, mode); err != nil {
			return err
		}
	}
	return nil
}

// cleared makes the folders of a file; what is in the way is removed.
func cleared(root *os.Root, name string) error {
	parts := path.Dir(name)
	for at := parts; at != "."; at = path.Dir(at) {
		if info, err := root.Lstat(at); err == nil && !info.IsDir() {
			if err := root.Remove(at); err != nil {
				return err
			}
		}
	}
	return root.MkdirAll(parts, 0o755)
}

// moved are test files of the copy that have the content of one that is not there.
func (t Throwaway) moved(ctx context.Context, files map[string]TestFile) ([]string, error) {
	gone := map[string]bool{}
	for name, f := range files {
		if _, err := os.Lstat(filepath.Join(t.Root, "tree", name)); missing(err) {
			gone[sumOf(f.Text)] = true
		}
	}
	if len(gone) == 0 {
		return nil, nil
	}
	top, names, err := listed(ctx, filepath.Join(t.Root, "tree"))
	if err != nil {
		return nil, err
	}
	var list []string
	for _, name := range names {
		if _, is := files[name]; is || name == "" || !IsTest(name) {
			continue
		}
		info, err := os.Lstat(filepath.Join(top, name))
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxTestFile {
			continue
		}
		if text, err := os.ReadFile(filepath.Join(top, name)); err == nil && gone[sumOf(text)] {
			list = append(list, name)
		}
	}
	return list, nil
}
