package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// Standing is how a checkout stands, by name: its settings, hooks and other files
// that git goes by, where its branches and tags are, which commit is checked out, and
// which files are not as committed, each with its size and time. Of a setting there is
// a digest alone: its value may be a secret.
type Standing map[string]string

// The names of a standing that are not paths of files.
const (
	headName   = "HEAD"
	settingsIn = ".git/config: "
	globalIn   = "~/.gitconfig: " // wherever the settings of the user are
	refsIn     = "refs/"
	gitIn      = ".git/"
)

// isBelays tells whether a branch is one that Belay makes: belay/NAME, or belay-NAME where
// there is a branch belay.
func isBelays(ref string) bool {
	return strings.HasPrefix(ref, "refs/heads/belay/") || strings.HasPrefix(ref, "refs/heads/belay-")
}

// maxStandingFile is how much of a file that git goes by is looked at.
const maxStandingFile = 1 << 20

// Stands looks at the checkout of a directory, without files and folders that are
// nobody's work.
func Stands(ctx context.Context, dir string, skip ...string) (Standing, error) {
	at, err := find(ctx, "", dir)
	if errors.Is(err, errNoTree) && exists(filepath.Join(dir, ".git")) {
		err = errors.New("git sees no files there: look at core.bare and core.worktree; git config core.bare false takes the first back")
	}
	if err != nil {
		return nil, fmt.Errorf("look at the checkout: %w", err)
	}
	s := Standing{}
	for _, look := range []func(context.Context, place) error{s.refs, s.settings, s.rules, s.files} {
		if err := look(ctx, at); err != nil {
			return nil, fmt.Errorf("look at the checkout: %w", err)
		}
	}
	for _, path := range skip {
		for name := range s {
			if whole := filepath.Join(at.top, name); below(path, whole) || strings.HasSuffix(name, "/") && below(whole, path) {
				delete(s, name)
			}
		}
	}
	return s, nil
}

// Without is the standing without the branches of Belay that were made for a run and that
// nobody has worked on: a driver that died made them, and did not say so.
func (s Standing) Without(ctx context.Context, dir string, run belay.RunID) (Standing, error) {
	marks, err := git{dir: dir}.owners(ctx)
	if err != nil {
		return nil, fmt.Errorf("look at the checkout: %w", err)
	}
	left := maps.Clone(s)
	for branch, own := range marks {
		if own.Run.Root() != run.Root() {
			continue
		}
		for _, name := range own.branches(branch) {
			ref := "refs/heads/" + name
			if at, _ := isElsewhere(ref, s[ref]); isBelays(ref) && at == own.Start {
				delete(left, ref)
			}
		}
	}
	return left, nil
}

// refs are the branches, tags and the like, each with its commit and the other
// worktree that it is checked out in.
func (s Standing) refs(ctx context.Context, at place) error {
	if list, sure := at.readRefs("refs/heads", "refs/tags", "refs/stash", "refs/replace"); sure {
		if trees, sure := at.readWorktrees(); sure {
			for name, id := range list {
				s[name] = id
			}
			for _, w := range trees {
				if name := "refs/heads/" + w.branch; w.path != at.top && s[name] != "" {
					s[name] = list[name] + " " + w.path
				}
			}
			return nil
		}
	}
	out, err := at.run(ctx, "for-each-ref", "--format=%(objectname) %(refname) %(worktreepath)",
		"refs/heads", "refs/tags", "refs/stash", "refs/replace")
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		if len(f) < 2 {
			continue
		}
		if len(f) == 3 && f[2] == at.top {
			f[2] = ""
		}
		s[f[1]] = strings.TrimSuffix(f[0]+" "+strings.Join(f[2:], " "), " ")
	}
	return err
}

// settings are those of the repository, without what Belay itself writes there, and
// those of the user.
func (s Standing) settings(ctx context.Context, at place) error {
	for _, file := range []string{filepath.Join(at.all, "config"), filepath.Join(at.own, "config.worktree")} {
		if !exists(file) {
			continue
		}
		out, sure := readSettings(file)
		if !sure {
			var err error
			if out, err = at.run(ctx, "config", "--file", file, "--no-includes", "--list", "-z"); err != nil {
				return err
			}
		}
		s.set(settingsIn, out)
	}
	out, sure := readGlobal()
	if !sure {
		var err error
		out, err = at.run(ctx, "config", "--global", "--no-includes", "--list", "-z")
		var none *GitError
		if err != nil && (!errors.As(err, &none) || none.Code < 0) { // without a file git has nothing to list
			return err
		}
	}
	s.set(globalIn, out)
	return nil
}

// set takes in settings as git lists them.
func (s Standing) set(in, list string) {
	for _, rec := range records(list) {
		key, value, _ := strings.Cut(rec, "\n")
		if !ownSetting(key) {
			s[in+key] = digest(s[in+key] + "\x00" + value)
		}
	}
}

// ownSetting tells the settings that Belay and the tools that it calls write: those of
// its branches, and which repository gh takes for the base.
func ownSetting(key string) bool {
	return strings.HasPrefix(key, "branch.belay/") || strings.HasSuffix(key, "."+ownerKey) || strings.HasSuffix(key, ".gh-resolved")
}

// rules are the files that git goes by: hooks, and what is in the folder info.
func (s Standing) rules(_ context.Context, at place) error {
	for _, name := range []string{"hooks", "info"} {
		list, err := os.ReadDir(filepath.Join(at.all, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, d := range list {
			listed := name == "info" && d.Name() == "refs" // git gc writes it, and git does not go by it
			if !d.IsDir() && !listed && !strings.HasSuffix(d.Name(), ".sample") {
				s[gitIn+name+"/"+d.Name()] = rule(filepath.Join(at.all, name, d.Name()))
			}
		}
	}
	return nil
}

// rule tells the content of a file that git goes by, and whether it is a program.
func rule(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return "gone"
	}
	how := fmt.Sprint(info.Mode(), " ", info.Size(), " ")
	if info.Mode()&fs.ModeSymlink != 0 {
		to, _ := os.Readlink(path) // one that is gone leads nowhere
		return how + digest(to)
	}
	if !info.Mode().IsRegular() || info.Size() > maxStandingFile {
		return how + fmt.Sprint(info.ModTime().UnixNano())
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return how + fmt.Sprint(info.ModTime().UnixNano())
	}
	return how + digest(string(b))
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// files are what is checked out, and what is not as committed.
func (s Standing) files(ctx context.Context, at place) error {
	out, err := at.run(ctx, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--no-renames")
	if err != nil {
		return err
	}
	now := parseStatus(out)
	s[headName] = now.head + " " + now.branch
	for _, e := range now.entries {
		s[e.path] = "gone"
		if info, err := os.Lstat(filepath.Join(at.top, e.path)); err == nil {
			s[e.path] = fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano())
		}
	}
	return s.unwatched(ctx, at)
}

// unwatched are the files that git was told to look away from.
func (s Standing) unwatched(ctx context.Context, at place) error {
	list, err := at.fromIndex(ctx, func(r rawEntry) bool { return r.assumed || r.skipped })
	for _, e := range list {
		if info, err := os.Lstat(filepath.Join(at.top, e.path)); err == nil { // of a sparse checkout they are not there
			s[e.path] = fmt.Sprint("unwatched ", info.Size(), " ", info.ModTime().UnixNano())
		}
	}
	return err
}

// Since is what does not stand as before, in its order, as it can be told. Left out
// are new branches of Belay, and branches on which somebody worked in another worktree
// before.
func (s Standing) Since(before Standing) []string {
	var list []string
	for name, how := range s {
		was := before[name]
		at, elsewhere := isElsewhere(name, was)
		now, _ := isElsewhere(name, how)
		if now != at && !elsewhere && (was != "" || !isBelays(name)) {
			list = append(list, shown(name)+wasAt(name, at))
		}
	}
	for name, how := range before {
		if _, there := s[name]; !there && !isBelays(name) {
			at, _ := isElsewhere(name, how)
			list = append(list, shown(name)+wasAt(name, at))
		}
	}
	slices.Sort(list)
	return list
}

// wasAt is the commit that a ref, or what is checked out, stood at before: to go back
// needs it. Nothing where there was none.
func wasAt(name, how string) string {
	id, _, _ := strings.Cut(how, " ")
	if !strings.HasPrefix(name, refsIn) && name != headName || id == "" {
		return ""
	}
	return " (was " + id[:min(len(id), 12)] + ")"
}

// isElsewhere is how a name stands, and whether it is a branch that is checked out in
// another worktree.
func isElsewhere(name, how string) (string, bool) {
	if !strings.HasPrefix(name, refsIn) {
		return how, false
	}
	id, tree, _ := strings.Cut(how, " ")
	return id, tree != ""
}

// Kept is the standing without the files, and without what is checked out and its
// branch: what nobody changes who works in the files.
func (s Standing) Kept(branches ...string) Standing {
	kept := Standing{}
	for name, how := range s {
		if (strings.HasPrefix(name, gitIn) || strings.HasPrefix(name, globalIn) || strings.HasPrefix(name, refsIn)) && !slices.Contains(branches, name) {
			kept[name] = how
		}
	}
	return kept
}

// Branch is the ref that is checked out; "" = none.
func (s Standing) Branch() string {
	if _, name, _ := strings.Cut(s[headName], " "); name != "" {
		return "refs/heads/" + name
	}
	return ""
}
