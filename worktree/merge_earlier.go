package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tipsName is the file in a worktree's git folder with the commits that were
// there when it was made: what leads to one of them is nobody's new work.
const tipsName = "belay-tips"

// remember writes down which commits are there.
func (b *builder) remember(ctx context.Context) error {
	own, err := find(ctx, b.program, b.own.Path)
	if err != nil {
		return err
	}
	out, err := own.run(ctx, "for-each-ref", "--format=%(objectname)", "refs/heads", "refs/remotes")
	if err != nil {
		return err
	}
	return writeSynced(filepath.Join(own.own, tipsName), []byte(out+b.own.Start+"\n"))
}

// carried is what the work of a worktree is measured from, and the work itself,
// less what is not its own. It may be on other commits than it began at: a branch
// that was made from main does not delete what is committed on dev. And whoever
// takes uncommitted work back (git stash, reset --hard, checkout, clean) did not
// make anything: in the user's tree it stays.
//
// Such files are the same in both trees, so no merge touches them.
func (m *merger) carried(ctx context.Context, base Base, head string, t three) (fair, error) {
	f := fair{three: t, stand: base.Stand}
	var err error
	if f.stand == "" {
		if f.stand, err = m.stand(ctx, base.Head, head); err != nil {
			return f, err
		}
		left, err := m.step.edits(ctx, base.Head+"^{tree}", f.stand)
		if err != nil {
			return f, err
		}
		if f.base, err = m.step.edited(ctx, f.base, left); err != nil {
			return f, err
		}
	}
	if base.Clean && f.stand == base.Head+"^{tree}" {
		return f, nil // there was no uncommitted work
	}
	back, err := m.step.takenFrom(ctx, f.stand, f.three)
	if err != nil {
		return f, err
	}
	if base.Staged != "" { // git checkout takes a file back to what is staged
		more, err := m.step.takenFrom(ctx, base.Staged, f.three)
		if err != nil {
			return f, err
		}
		for _, e := range more {
			if !slices.ContainsFunc(back, func(b delta) bool { return b.path == e.path }) {
				back = append(back, e)
			}
		}
	}
	f.theirs, err = m.step.edited(ctx, f.theirs, back)
	for _, e := range back[:min(len(back), maxNamed)] {
		f.left = append(f.left, shown(e.path))
	}
	return f, err
}

// fair are the trees of a merge in which theirs has nothing but the step's own work
// beside what is in the base.
type fair struct {
	three
	stand string   // the tree of the commit that the work stands on
	left  []string // the first files that were taken back
}

// stand is the tree of the commit that the work of a worktree stands on: the one
// that it began at, where HEAD still leads to it; else the last one that HEAD
// leads to and that was there before.
func (m *merger) stand(ctx context.Context, began, head string) (string, error) {
	if head == "" {
		return m.step.emptyTree(), nil
	}
	ok, err := m.step.descends(ctx, began, head)
	if err != nil || ok {
		return began + "^{tree}", err
	}
	tips, err := os.ReadFile(filepath.Join(m.step.own, tipsName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	known := "^" + strings.Join(append(strings.Fields(string(tips)), began), "\n^") + "\n"
	out, err := m.step.feed(ctx, []byte(head+"\n"+known), "rev-list", "--first-parent", "--ignore-missing", "--parents", "--stdin")
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	f := strings.Fields(lines[len(lines)-1])
	switch len(f) {
	case 0: // it was there before
		return head + "^{tree}", nil
	case 1: // it has a history of its own
		return m.step.emptyTree(), nil
	}
	return f[1] + "^{tree}", nil
}

// takenFrom are the files of uncommitted work that are as the commit has them
// that the work stands on, as changes back to what they were. One that was moved
// is at another place, and not gone.
func (g git) takenFrom(ctx context.Context, stand string, t three) ([]delta, error) {
	work, err := g.edits(ctx, stand, t.base)
	if err != nil || len(work) == 0 {
		return nil, err
	}
	done, err := g.edits(ctx, t.base, t.theirs)
	if err != nil {
		return nil, err
	}
	now := map[string]string{}
	for _, e := range done {
		now[e.path] = e.now
	}
	if !slices.ContainsFunc(work, func(e delta) bool { is, changed := now[e.path]; return changed && is == e.was }) {
		return nil, nil // none is as it was
	}
	still, err := g.edits(ctx, stand, t.theirs)
	if err != nil {
		return nil, err
	}
	other, taken := map[string]bool{}, map[string]bool{} // taken: where something else stands now
	for _, e := range still {
		other[e.path] = true
		for dir := e.path; e.now != "" && dir != "."; dir = filepath.Dir(dir) {
			taken[dir] = true
		}
	}
	moved, err := g.moved(ctx, t.base, t.theirs)
	if err != nil {
		return nil, err
	}
	var back []delta
	for _, e := range work {
		if !other[e.path] && !moved[e.path] && !(e.now != "" && obstructed(e.path, other, taken)) {
			back = append(back, e)
		}
	}
	return back, nil
}

// obstructed tells whether a folder stands at a path now, or a file at one of the
// folders on the way to it.
func obstructed(path string, files, taken map[string]bool) bool {
	if taken[path] {
		return true
	}
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		if files[dir] && taken[dir] {
			return true
		}
	}
	return false
}

// moved are the paths from which files were moved to others.
func (g git) moved(ctx context.Context, from, to string) (map[string]bool, error) {
	out, err := g.run(ctx, "diff-tree", "-r", "-z", "--name-status", "-M", "--diff-filter=R", "--no-ext-diff", "--no-textconv", "--end-of-options", from, to)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	rec := records(out)
	for i := 0; i+2 < len(rec); i += 3 {
		found[rec[i+1]] = true
	}
	return found, nil
}

// edited is a tree with changes.
func (p place) edited(ctx context.Context, tree string, list []delta) (string, error) {
	if len(list) == 0 {
		return tree, nil
	}
	tmp, err := os.MkdirTemp("", "belay-tree-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // a leftover in the temp folder harms nobody
	g := p.with("GIT_INDEX_FILE=" + filepath.Join(tmp, "index"))
	if _, err := g.run(ctx, "read-tree", "--end-of-options", tree); err != nil {
		return "", err
	}
	var gone, info strings.Builder
	for _, e := range list {
		if e.now == "" {
			gone.WriteString("0 " + p.zero + "\t" + e.path + "\x00")
		} else {
			info.WriteString(e.now + "\t" + e.path + "\x00")
		}
	}
	if _, err := g.feed(ctx, []byte(gone.String()+info.String()), "update-index", "--add", "--replace", "-z", "--index-info"); err != nil {
		return "", err
	}
	return g.line(ctx, "write-tree")
}
