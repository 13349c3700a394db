package worktree

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// guarded fills in which changed files are guarded. All changes are looked at,
// not only those that a record lists.
func (t Tree) guarded(ctx context.Context, at place, bad error, e *belay.Evidence) {
	g := t.Guard
	if g == nil {
		return
	}
	switch {
	case !e.Before.Repo && e.Before.Error == "" && len(g.Globs) == 0:
		return // nothing is committed
	case !e.Before.Repo && e.Before.Error == "":
		e.Unseen = "there is no git repository"
		return
	case e.Before.Error != "" || e.After.Error != "" || bad != nil:
		e.Unseen = unlike(e.Before, e.After)
		if e.Unseen == "" {
			e.Unseen = bad.Error()
		}
		return
	case e.Files == 0: // none, or all only in the eye of git
		return
	}
	list, err := at.edits(ctx, e.Before.Tree, e.After.Tree)
	if err == nil {
		e.Tampered, err = at.violations(ctx, t.Dir, *g, e.Before.Head, list)
	}
	if err != nil {
		e.Unseen = err.Error()
	}
}

// maxTampered is how many guarded files are told.
const maxTampered = 50

// violations are the changes of guarded files.
func (p place) violations(ctx context.Context, dir string, g belay.Guarding, head string, list []delta) ([]belay.FileChange, error) {
	real, err := realPath(dir)
	if err != nil {
		return nil, err
	}
	prefix, err := filepath.Rel(p.top, real)
	if err != nil {
		return nil, err
	}
	if g.Since != "" {
		head = g.Since
	}
	var files []string
	for _, f := range g.Files {
		files = append(files, path.Join(prefix, f))
	}
	had, err := p.committed(ctx, head, list)
	if err != nil {
		return nil, err
	}
	var found []belay.FileChange
	for _, e := range list {
		name := strings.TrimPrefix(e.path, unkeptRoot+"/")
		own := slices.ContainsFunc(g.Globs, func(glob string) bool { return Matches(glob, prefix, name) })
		usual := had[name] && (g.Tests && (IsTest(name) || IsTestSettings(name)) || slices.Contains(files, name)) ||
			g.Tests && e.was == "" && IsTestSettings(name)
		if (own || usual) && len(found) < maxTampered {
			found = append(found, belay.FileChange{Path: shown(name), Change: kindOf(e)})
		}
	}
	return found, nil
}

func kindOf(e delta) belay.ChangeKind {
	switch "" {
	case e.was:
		return belay.FileAdded
	case e.now:
		return belay.FileDeleted
	}
	return belay.FileModified
}

// committed are those of the changed files that a commit holds.
func (p place) committed(ctx context.Context, commit string, list []delta) (map[string]bool, error) {
	if commit == "" {
		return nil, nil
	}
	var ask strings.Builder
	var asked []string
	for _, e := range list {
		name := strings.TrimPrefix(e.path, unkeptRoot+"/")
		if !strings.Contains(name, "\n") { // no such file is run or is a test
			ask.WriteString(commit + ":" + name + "\n")
			asked = append(asked, name)
		}
	}
	out, err := p.feed(ctx, []byte(ask.String()), "cat-file", "--batch-check=%(objecttype)")
	if err != nil {
		return nil, err
	}
	had := map[string]bool{}
	for i, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		if i < len(asked) && line == "blob" {
			had[asked[i]] = true
		}
	}
	return had, nil
}

// Matches tells whether a pattern of guard: is one of a file. A pattern without
// a slash is a name in any folder; one with a slash is a path from a folder of
// the tree, or from its top when it begins with the slash; ** stands for any
// folders. One that is a folder's stands for all that is in it.
func Matches(glob, folder, file string) bool {
	anchored := strings.Contains(strings.TrimSuffix(glob, "/"), "/")
	glob = strings.TrimSuffix(glob, "/")
	want := strings.Split(strings.TrimPrefix(glob, "/"), "/")
	if !anchored {
		want = append([]string{"**"}, want...)
	} else if !strings.HasPrefix(glob, "/") && folder != "." && folder != "" {
		file, anchored = strings.CutPrefix(file, folder+"/")
		if !anchored {
			return false
		}
	}
	return matchParts(want, strings.Split(file, "/"))
}

// matchParts matches the parts of a path, or of a folder that it is in.
func matchParts(want, have []string) bool {
	for i, w := range want {
		if w == "**" {
			for n := i; n <= len(have); n++ {
				if matchParts(want[i+1:], have[n:]) {
					return n < len(have) || len(want) > i+1
				}
			}
			return false
		}
		if i >= len(have) {
			return false
		}
		if ok, err := path.Match(w, have[i]); err != nil || !ok {
			return false
		}
	}
	return true
}
