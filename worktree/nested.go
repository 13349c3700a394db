package worktree

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// maxMoved is how many repositories inside this one are asked about their
// files. Where these hold the same ones, all do.
const maxMoved = 1000

// lessNested leaves out repositories inside this one that hold the same files as
// before: they have other commits only, or were begun around files that were
// there. It ends at the first one that does not; in doubt one does not.
func (p place) lessNested(ctx context.Context, before string, list []change) (rest []change, same bool) {
	left := maxMoved
	nested := map[string]bool{}
	for _, c := range list {
		switch full := filepath.Join(p.top, c.Path); {
		case c.commit[0] != "":
			same = p.inside(full).sameFiles(ctx, c.commit[0], c.commit[1], 1, &left)
		case c.Change == belay.FileAdded && isDir(full):
			left--
			same = left < 0 || p.around(ctx, before, c) || p.twin(ctx, c)
		default:
			continue
		}
		if !same {
			return list, false
		}
		nested[c.Path] = true
	}
	if len(nested) == 0 {
		return list, true
	}
	return slices.DeleteFunc(slices.Clone(list), func(c change) bool {
		return underAny(c.Path, nested) && (c.old == "" || underAny(c.old, nested))
	}), true
}

// underAny tells whether a path is one of the folders or lies in one.
func underAny(path string, folders map[string]bool) bool {
	for ; path != "." && path != "/"; path = filepath.Dir(path) {
		if folders[path] {
			return true
		}
	}
	return false
}

func isDir(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.IsDir()
}

// inside is git in a folder of the tree, with its own index.
func (p place) inside(dir string) git {
	g := p.in(dir)
	g.env = nil
	return g
}

// sameFiles tells whether two commits or trees hold the same files; of the
// repositories inside of them too, whatever commits those are at. left is how
// many may still be asked.
func (g git) sameFiles(ctx context.Context, a, b string, depth int, left *int) bool {
	if *left--; *left < 0 {
		return true
	}
	out, err := g.run(ctx, "rev-parse", "--end-of-options", a+"^{tree}", b+"^{tree}")
	f := strings.Fields(out)
	if err != nil || len(f) < 2 {
		return false
	}
	if f = f[len(f)-2:]; f[0] == f[1] || depth > maxNesting {
		return f[0] == f[1]
	}
	out, err = g.run(ctx, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none", f[0], f[1])
	list := parseDiff(out)
	if err != nil || len(list) == 0 || slices.ContainsFunc(list, func(c change) bool { return c.commit[0] == "" }) {
		return false
	}
	return !slices.ContainsFunc(list, func(c change) bool {
		return !g.in(filepath.Join(g.dir, c.Path)).sameFiles(ctx, c.commit[0], c.commit[1], depth+1, left)
	})
}

// around tells whether a repository was begun around files that were there, and
// that are as they were.
func (p place) around(ctx context.Context, before string, c change) bool {
	was, err := p.line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", before+":"+c.Path)
	if err != nil {
		return false
	}
	now, err := p.inside(filepath.Join(p.top, c.Path)).line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", c.Sha+"^{tree}")
	return err == nil && now == was
}

// twin tells whether a folder is another worktree of this repository with
// nothing in it but the commit that it stands at: what was committed there is
// told by its log.
func (p place) twin(ctx context.Context, c change) bool {
	g := p.inside(filepath.Join(p.top, c.Path))
	ours, err := p.common(ctx)
	if err != nil {
		return false
	}
	theirs, err := g.common(ctx)
	if err != nil || theirs != ours {
		return false
	}
	head, err := g.line(ctx, "rev-parse", "--verify", "--quiet", "HEAD")
	return err == nil && head == c.Sha
}

// leaveOut takes the repositories inside out of the index that are no submodules, and
// names them: of these git would commit an id that leads nowhere for everybody else.
func (p place) leaveOut(ctx context.Context) ([]string, error) {
	links, err := p.fromIndex(ctx, func(r rawEntry) bool { return r.mode == 0o160000 })
	if err != nil || len(links) == 0 {
		return nil, err
	}
	var known []string
	if file := filepath.Join(p.top, ".gitmodules"); exists(file) {
		out, err := p.run(ctx, "config", "--file", file, "--no-includes", "--list", "-z")
		if err != nil {
			return nil, err
		}
		for _, rec := range records(out) {
			if key, value, _ := strings.Cut(rec, "\n"); strings.HasPrefix(key, "submodule.") && strings.HasSuffix(key, ".path") {
				known = append(known, value)
			}
		}
	}
	var left []string
	for _, e := range links {
		if !slices.Contains(known, e.path) {
			left = append(left, e.path)
		}
	}
	if len(left) == 0 {
		return nil, nil
	}
	_, err = p.feed(ctx, []byte(strings.Join(left, "\x00")+"\x00"), "update-index", "--force-remove", "-z", "--stdin")
	return left, err
}

// besides tells whether something is not as it is committed, beside repositories inside,
// which are in no commit.
func (p place) besides(ctx context.Context) (bool, error) {
	own, done, err := p.apart(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	out, err := own.run(ctx, "status", "--porcelain", "-z", "--untracked-files=all", "--ignore-submodules=none", "--no-renames")
	return slices.ContainsFunc(records(out), func(rec string) bool {
		path, untracked := strings.CutPrefix(rec, "?? ")
		return !untracked || !strings.HasSuffix(path, "/") || !exists(filepath.Join(p.top, path, ".git"))
	}), err
}
