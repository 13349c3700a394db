package worktree

import (
	"cmp"
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

// Throwaway is a copy of a commit: what runs in it changes nothing that stays.
type Throwaway struct {
	Dir string // the folder of the copy that stands for the one that was asked about

	Altered []string // ignored files of the user's checkout that are in it, or would be, and that were changed since the worktree was made

	Root string // what is removed
}

// ThrowawayOf copies a commit of the repository of a folder to another folder, which
// it empties first. The copy has a repository of its own, with the branches and tags
// of the first. Beside the files of the commit it has what is needed to run it and is in
// no commit: installed dependencies, and the ignored files that a worktree is given.
// Other ignored files are not in it, because nobody who takes the commit has them.
// Without a commit it copies the folder as it is.
func ThrowawayOf(ctx context.Context, dir, commit, base, to string) (Throwaway, error) {
	return throwaway(to, func(t *Throwaway) error {
		if commit == "" {
			return t.folder(ctx, dir)
		}
		p, err := find(ctx, "", dir)
		if err != nil {
			return err
		}
		id := commit
		if _, sure := p.looseTree(id); !sure {
			if id, err = p.line(ctx, "rev-parse", "--verify", "--end-of-options", commit+"^{commit}"); err != nil {
				return err
			}
		}
		g, err := p.beside(ctx, t.Dir)
		if err != nil {
			return err
		}
		if _, err := g.run(ctx, "checkout", "-q", "--detach", id); err != nil {
			return err
		}
		return t.ignored(ctx, p, dir, commit, base)
	})
}

// CopyOf copies the files of a folder as they are now, for somebody who only looks at
// them: the branch is the same, and what is not committed is not committed in the copy.
func CopyOf(ctx context.Context, dir, to string) (Throwaway, error) {
	return throwaway(to, func(t *Throwaway) error {
		p, err := find(ctx, "", dir)
		if err != nil { // no repository, or one that git cannot read
			return t.folder(ctx, dir)
		}
		c, err := p.checkout(ctx)
		if err != nil {
			return err
		}
		g, err := p.beside(ctx, t.Dir)
		if err != nil {
			return err
		}
		head := cmp.Or(c.Commit, p.zero)
		if c.Branch != "" {
			head = "ref: refs/heads/" + c.Branch
		}
		if err := os.WriteFile(filepath.Join(t.Dir, ".git", "HEAD"), []byte(head+"\n"), 0o600); err != nil {
			return err
		}
		if _, err := g.run(ctx, "read-tree", "-u", "--reset", c.Tree); err != nil {
			return err
		}
		if was, err := p.treeOf(ctx, c.Commit); c.Commit == "" || err != nil || was != c.Tree {
			args := []string{"read-tree", cmp.Or(c.Commit, "--empty")}
			if _, err := g.run(ctx, args...); err != nil {
				return err
			}
		}
		return t.ignored(ctx, p, dir, c.Tree, c.Tree)
	})
}

// throwaway makes a copy in a folder that it empties first.
func throwaway(to string, fill func(*Throwaway) error) (Throwaway, error) {
	t := Throwaway{Root: to, Dir: filepath.Join(to, "tree")}
	t.Remove()
	err := os.MkdirAll(t.Dir, 0o700)
	if err == nil {
		err = fill(&t)
	}
	if err != nil {
		t.Remove()
		return t, fmt.Errorf("make a copy: %w", err)
	}
	return t, nil
}

// folder copies a folder as it is.
func (t *Throwaway) folder(ctx context.Context, dir string) error {
	c := copier{from: dir, to: t.Dir}
	return errors.Join(c.copyAll(ctx, dir, t.Dir), os.RemoveAll(filepath.Join(t.Dir, ".git"))) // it would lead to the tree itself
}

// ignored copies what is in no commit and is needed to run one, and goes to the folder
// that stands for the one that was asked about.
func (t *Throwaway) ignored(ctx context.Context, p place, dir, commit, base string) error {
	below, err := Prefix(ctx, dir)
	if err != nil {
		return err
	}
	paths, err := p.ignoredBy(ctx, t.Root, commit, base)
	if err != nil {
		return err
	}
	from, err := p.sources(ctx, t.Dir, commit, base, paths)
	if err != nil {
		return err
	}
	c := copier{to: t.Dir, left: maxIncluded}
	if err := t.look(ctx, p, from, &c); err != nil {
		return err
	}
	for _, path := range paths {
		if c.from = from[path]; c.from == "" {
			continue
		}
		if err := c.entry(ctx, path); err != nil {
			return err
		}
	}
	t.Dir = filepath.Join(t.Dir, below)
	return os.MkdirAll(t.Dir, 0o700)
}

// look finds out what of the ignored files of the user's checkout was changed since the
// worktree was made: it is copied because no agent works there, and now one may have.
func (t *Throwaway) look(ctx context.Context, p place, from map[string]string, c *copier) error {
	user, err := p.user()
	if err != nil || user == p.top {
		return err
	}
	begun, err := p.begunAt()
	if err != nil || begun == 0 {
		return err
	}
	for path, of := range from {
		if of != user {
			continue
		}
		list, cached, err := altered(ctx, user, path, begun)
		if err != nil {
			return err
		}
		t.Altered = append(t.Altered, list...)
		c.skip = append(c.skip, cached...)
	}
	for _, path := range p.givenGone(user) {
		if from[path] == "" {
			t.Altered = append(t.Altered, shown(path))
		}
	}
	slices.Sort(t.Altered)
	return nil
}

// user is the top of the user's own checkout.
func (p place) user() (string, error) {
	if p.own == p.all {
		return p.top, nil
	}
	b, err := os.ReadFile(filepath.Join(p.own, includedFrom))
	if errors.Is(err, fs.ErrNotExist) { // the worktree is the user's own
		return p.top, nil
	}
	return string(b), err
}

// Beside makes an empty folder that goes with the copy.
func (t Throwaway) Beside(name string) (string, error) {
	dir := filepath.Join(t.Root, name)
	return dir, os.MkdirAll(dir, 0o700)
}

// beside makes a repository that borrows the objects of this one, with its branches
// and tags. No git is started for it: it is done for each check.
func (p place) beside(ctx context.Context, to string) (git, error) {
	g, dir := p.git.in(to), filepath.Join(to, ".git")
	settings := "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"
	if len(p.zero) > 40 {
		settings = strings.Replace(settings, "= 0", "= 1", 1) + "[extensions]\n\tobjectformat = sha256\n"
	}
	err := errors.Join(os.MkdirAll(filepath.Join(dir, "objects", "info"), 0o700), os.MkdirAll(filepath.Join(dir, "refs", "heads"), 0o700))
	for name, text := range map[string]string{ // as git init writes them
		"HEAD": "ref: refs/heads/main\n", "config": settings, "objects/info/alternates": alternate(filepath.Join(p.all, "objects")) + "\n",
	} {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
		}
	}
	if err != nil {
		return g, err
	}
	return g, p.copyRefs(ctx, g)
}

// alternate is a path as git reads it in a list of folders: one with a line break is quoted as
// in C.
func alternate(path string) string {
	if !strings.ContainsAny(path, "\n\r\"") && !strings.HasPrefix(path, "#") {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`).Replace(path) + `"`
}

// copyRefs gives a new repository, which has the objects already, the branches and tags
// of this one.
func (p place) copyRefs(ctx context.Context, to git) error {
	dir := filepath.Join(to.dir, ".git")
	if p.plainRefs() && !exists(filepath.Join(dir, "reftable")) {
		for _, name := range []string{"packed-refs", "refs/heads", "refs/tags"} {
			from := filepath.Join(p.all, name)
			if !exists(from) {
				continue
			}
			c := copier{from: from, to: filepath.Join(dir, name)}
			if err := c.copyAll(ctx, c.from, c.to); err != nil {
				return err
			}
		}
		return nil
	}
	refs, err := p.run(ctx, "for-each-ref", "--format=create %(refname) %(objectname)", "refs/heads", "refs/tags")
	if err == nil {
		_, err = to.feed(ctx, []byte(refs), "update-ref", "--stdin")
	}
	return err
}

// Remove throws the copy away. What cannot be removed stays, and harms nobody.
func (t Throwaway) Remove() {
	_ = filepath.WalkDir(t.Root, func(path string, d os.DirEntry, _ error) error { // a folder that nobody may write
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) // it is ours, and about to go
		}
		return nil
	})
	_ = os.RemoveAll(t.Root) // what stays harms nobody
}

// dependencies are the folders that package managers install into.
var dependencies = []string{
	"node_modules", "bower_components", "jspm_packages", ".yarn", ".pnpm-store", ".venv", "venv", "env", ".tox", ".nox",
	".eggs", "vendor", "Pods", "Carthage", ".bundle", ".gradle", ".m2", "deps", "elm-stuff", ".dart_tool",
	".stack-work", "_opam", ".pixi", ".conda", "renv", ".terraform", ".direnv", ".cpanm",
}

// sources tells from which checkout an ignored path is copied that a commit needs to
// run; "" = from none. It is the user's own: what an agent writes into such a file or
// folder of its worktree is in no commit, and proves nothing about one. Only what a
// package manager installs is taken from the worktree, when the work changed what is to
// be installed, or when the user has not installed anything.
func (p place) sources(ctx context.Context, checkedOut, commit, base string, paths []string) (map[string]string, error) {
	from := map[string]string{}
	user, err := p.user()
	if err != nil {
		return nil, err
	}
	changed := false
	if user != p.top && slices.ContainsFunc(paths, installed) {
		if changed, err = p.wantsOther(ctx, base, commit); err != nil {
			return nil, err
		}
	}
	for _, path := range paths {
		switch there := exists(filepath.Join(user, path)); {
		case user == p.top || there && (!changed || !installed(path)):
			from[path] = user
		case installed(path) && (changed || declared(checkedOut, path)):
			from[path] = p.top
		}
	}
	return from, nil
}

// installed tells whether a path is a folder of dependencies.
func installed(name string) bool { return slices.Contains(dependencies, path.Base(name)) }

// madeHere tells of an ignored path whether it may be what the work made: it is no
// folder of dependencies, and not among the files that a worktree is given.
func (p place) madeHere() func(name string) bool {
	b, _ := os.ReadFile(filepath.Join(p.own, includedName)) // none: it was given nothing
	given := strings.Split(string(b), "\x00")
	return func(name string) bool {
		whole := strings.TrimSuffix(name, "/")
		if whole != name && slices.Contains(dependencies, path.Base(whole)) {
			return false
		}
		for _, g := range given {
			if g = strings.TrimSuffix(g, "/"); g != "" && (g == whole || strings.HasPrefix(whole, g+"/")) {
				return false
			}
		}
		return !usual(whole)
	}
}

// ignoredBy are the files and folders of the tree that a .gitignore hides, that those of
// base hide as well, and that are no work.
func (p place) ignoredBy(ctx context.Context, scratch, commit, base string) ([]string, error) {
	if base == "" {
		return nil, nil
	}
	out, err := p.run(ctx, "ls-files", "--others", "--ignored", "--directory", "-z", "--exclude-per-directory=.gitignore")
	if err != nil || out == "" {
		return nil, err
	}
	changed := ""
	if base != commit {
		if changed, err = p.run(ctx, "diff", "--name-only", "-z", base, commit, "--", ":(top,glob)**/.gitignore"); err != nil {
			return nil, err
		}
	}
	paths := slices.DeleteFunc(records(out), p.madeHere())
	if changed != "" && len(paths) > 0 {
		if paths, err = p.ruled(ctx, filepath.Join(scratch, "rules"), base, paths); err != nil {
			return nil, err
		}
	}
	for i := range paths {
		paths[i] = strings.TrimSuffix(paths[i], "/")
	}
	return paths, nil
}

// ruled are those of the paths that the .gitignore files of a commit hide.
func (p place) ruled(ctx context.Context, dir, base string, paths []string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	rules := p.git.in(dir)
	if _, err := rules.run(ctx, "init", "-q", "--template="); err != nil {
		return nil, err
	}
	out, err := p.run(ctx, "ls-tree", "-r", "-z", "--full-tree", "--name-only", base)
	if err != nil {
		return nil, err
	}
	for _, file := range records(out) {
		if path.Base(file) != ".gitignore" {
			continue
		}
		text, err := p.run(ctx, "cat-file", "blob", base+":"+file)
		if err != nil {
			return nil, err
		}
		to := filepath.Join(dir, filepath.FromSlash(file))
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, []byte(text), 0o600)); err != nil {
			return nil, err
		}
	}
	yes, err := rules.feed(ctx, []byte(strings.Join(paths, "\x00")+"\x00"), "check-ignore", "--no-index", "-z", "--stdin")
	var none *GitError
	if err != nil && !(errors.As(err, &none) && none.Code == 1) {
		return nil, err
	}
	return records(yes), nil
}
