package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	refsIn     = "refs/"
	gitIn      = ".git/"
	belayIn    = "refs/heads/belay/" // branches that Belay makes
)

// maxStandingFile is how much of a file that git goes by is looked at.
const maxStandingFile = 1 << 20

// Stands looks at the checkout of a directory, without files and folders that are
// nobody's work.
func Stands(ctx context.Context, dir string, skip ...string) (Standing, error) {
	at, err := find(ctx, "", dir)
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

// refs are those that are the user's. A branch that is checked out in another
// worktree is worked on there.
func (s Standing) refs(ctx context.Context, at place) error {
	out, err := at.run(ctx, "for-each-ref", "--format=%(objectname) %(refname) %(worktreepath)",
		"refs/heads", "refs/tags", "refs/stash", "refs/replace")
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		if len(f) == 3 && (f[2] == "" || f[2] == at.top) {
			s[f[1]] = f[0]
		}
	}
	return err
}

// settings are those of the repository, without what Belay itself writes there.
func (s Standing) settings(ctx context.Context, at place) error {
	for _, file := range []string{filepath.Join(at.all, "config"), filepath.Join(at.own, "config.worktree")} {
		if !exists(file) {
			continue
		}
		out, err := at.run(ctx, "config", "--file", file, "--no-includes", "--list", "-z")
		if err != nil {
			return err
		}
		for _, rec := range records(out) {
			key, value, _ := strings.Cut(rec, "\n")
			if !ownSetting(key) {
				s[settingsIn+key] = digest(s[settingsIn+key] + "\x00" + value)
			}
		}
	}
	return nil
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
			if !d.IsDir() && !strings.HasSuffix(d.Name(), ".sample") {
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
	out, err := at.run(ctx, "ls-files", "-v", "-z")
	for _, rec := range records(out) {
		tag, path, _ := strings.Cut(rec, " ")
		if tag != "S" && strings.ToUpper(tag) == tag {
			continue
		}
		if info, err := os.Lstat(filepath.Join(at.top, path)); err == nil { // of a sparse checkout they are not there
			s[path] = fmt.Sprint("unwatched ", info.Size(), " ", info.ModTime().UnixNano())
		}
	}
	return err
}

// Since is what does not stand as before, in its order, as it can be told. New
// branches of Belay are left out.
func (s Standing) Since(before Standing) []string {
	var list []string
	for name, how := range s {
		if was := before[name]; was != how && (was != "" || !strings.HasPrefix(name, belayIn)) {
			list = append(list, shown(name))
		}
	}
	for name := range before {
		if _, there := s[name]; !there && !strings.HasPrefix(name, belayIn) {
			list = append(list, shown(name))
		}
	}
	slices.Sort(list)
	return list
}

// Kept is the standing without the files, and without what is checked out and its
// branch: what nobody changes who works in the files.
func (s Standing) Kept(branches ...string) Standing {
	kept := Standing{}
	for name, how := range s {
		if (strings.HasPrefix(name, gitIn) || strings.HasPrefix(name, refsIn)) && !slices.Contains(branches, name) {
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
