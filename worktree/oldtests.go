package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// As has a look at the copy with the files of another commit or tree in the place of
// its own.
func (t Throwaway) As(ctx context.Context, tree string, look func()) error {
	p, err := find(ctx, "", filepath.Join(t.Root, "tree"))
	if err == nil {
		_, err = p.run(ctx, "read-tree", "-u", "--reset", "--end-of-options", tree)
	}
	if err != nil {
		return err
	}
	look()
	_, err = p.run(ctx, "read-tree", "-u", "--reset", "HEAD")
	return err
}

// Changed are the files in which the commit of the copy differs from a tree, by their paths from
// the folder of the copy, which may lead out of it: which changes count is a filter as git diff
// has it.
func (t Throwaway) Changed(ctx context.Context, tree, filter string) ([]string, error) {
	p, err := find(ctx, "", t.Dir)
	if err != nil {
		return nil, err
	}
	out, err := p.run(ctx, "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--diff-filter="+filter, tree, "HEAD", "--")
	if err != nil {
		return nil, err
	}
	list := records(out)
	for i, name := range list {
		if list[i], err = filepath.Rel(t.Dir, filepath.Join(t.Root, "tree", filepath.FromSlash(name))); err != nil {
			return nil, err
		}
		list[i] = filepath.ToSlash(list[i])
	}
	return list, nil
}

// Links are the links of the copy that lead to a place in it, with that place; both from the
// folder of the copy.
func (t Throwaway) Links(ctx context.Context) (map[string]string, error) {
	p, err := find(ctx, "", t.Dir)
	if err != nil {
		return nil, err
	}
	out, err := p.run(ctx, "ls-files", "--stage", "-z")
	if err != nil {
		return nil, err
	}
	links := map[string]string{}
	for _, entry := range records(out) {
		about, name, _ := strings.Cut(entry, "\t")
		if !strings.HasPrefix(about, "120000 ") {
			continue
		}
		at := filepath.Join(t.Root, "tree", filepath.FromSlash(name))
		to, err := os.Readlink(at)
		if err != nil || filepath.IsAbs(to) {
			continue // it is gone, or leads out
		}
		from, errFrom := filepath.Rel(t.Dir, at)
		place, errTo := filepath.Rel(t.Dir, filepath.Join(filepath.Dir(at), to))
		if errFrom == nil && errTo == nil {
			links[filepath.ToSlash(from)] = filepath.ToSlash(place)
		}
	}
	return links, nil
}

// PutBack gives the copy files as a tree has them, by their paths from its folder: those
// that the tree does not have are removed.
func (t Throwaway) PutBack(ctx context.Context, tree string, files []string) error {
	p, err := find(ctx, "", t.Dir)
	if err != nil {
		return err
	}
	_, err = p.git.in(t.Dir).feed(ctx, literal("literal", files), "restore", "--source="+tree, "--worktree", "--pathspec-from-file=-", "--pathspec-file-nul")
	return err
}

// ChangedTests are the tests that the commit of the copy has and a tree does not, and the
// settings of tests in which the two differ, from the folder of the copy.
func (t Throwaway) ChangedTests(ctx context.Context, tree string) (added, settings []string, err error) {
	p, err := find(ctx, "", filepath.Join(t.Root, "tree"))
	if err != nil {
		return nil, nil, err
	}
	out, err := p.run(ctx, "diff", "--name-status", "-z", "--no-renames", "--no-ext-diff", tree, "HEAD", "--")
	if err != nil {
		return nil, nil, err
	}
	for status := range slices.Chunk(records(out), 2) {
		name := status[len(status)-1]
		rel, err := filepath.Rel(t.Dir, filepath.Join(p.top, filepath.FromSlash(name)))
		switch rel = filepath.ToSlash(rel); {
		case err != nil:
		case IsTestSettings(name), status[0] != "D" && leadsTests(name, t.Text(name)):
			settings = append(settings, rel)
		case status[0] == "A" && IsTest(name):
			added = append(added, rel)
		}
	}
	return added, settings, nil
}

// leadsTests tells whether a test file says which tests run: in Go, the one with TestMain.
func leadsTests(name string, text []byte) bool {
	return strings.HasSuffix(name, "_test.go") && bytes.Contains(text, []byte("func TestMain("))
}

// OldTests gives the copy the test files of base, in the place of those that its
// commit changed, removed or renamed, and names them: under another name, nobody may run
// a test. The files that also names, from the folder of the copy, come back as well.
func (t Throwaway) OldTests(ctx context.Context, base string, also []string) ([]string, error) {
	p, err := find(ctx, "", filepath.Join(t.Root, "tree"))
	if err != nil {
		return nil, err
	}
	out, err := p.run(ctx, "diff", "--name-status", "-z", "--find-renames", "--no-ext-diff", "--diff-filter=MTDR", base, "HEAD", "--")
	if err != nil {
		return nil, err
	}
	old, gone := changedTests(records(out))
	below, err := filepath.Rel(p.top, t.Dir)
	if err != nil {
		return nil, err
	}
	for _, name := range also {
		name = path.Join(filepath.ToSlash(below), name)
		if _, err := p.run(ctx, "cat-file", "-e", base+":"+name); err != nil {
			gone = append(gone, name) // it came with the work
		} else if !slices.Contains(old, name) {
			old = append(old, name)
		}
	}
	for _, path := range gone {
		if err := os.Remove(filepath.Join(p.top, filepath.FromSlash(path))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("put old tests back: %w", err)
		}
	}
	if len(old) == 0 {
		return nil, nil
	}
	_, err = p.feed(ctx, literal("top,literal", old), "restore", "--source="+base, "--worktree", "--pathspec-from-file=-", "--pathspec-file-nul")
	return old, err
}

// literal is a list of paths as git reads it, without any patterns.
func literal(magic string, paths []string) []byte {
	var list bytes.Buffer
	for _, path := range paths {
		list.WriteString(":(" + magic + ")" + path + "\x00")
	}
	return list.Bytes()
}

// changedTests are the test files that are to come back, and those that have taken
// their place, from the fields of git diff --name-status -z.
func changedTests(fields []string) (old, gone []string) {
	for len(fields) > 1 {
		status, path := fields[0], fields[1]
		fields = fields[2:]
		if strings.HasPrefix(status, "R") {
			if len(fields) == 0 {
				return old, gone
			}
			to := fields[0]
			fields = fields[1:]
			if IsTest(path) && IsTest(to) {
				gone = append(gone, to)
			}
		}
		if IsTest(path) {
			old = append(old, path)
		}
	}
	return old, gone
}
