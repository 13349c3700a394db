package worktree

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// three are the trees of a merge.
type three struct{ base, ours, theirs string }

// threeTrees are the trees of three looks as git can merge them: without the
// lines about files that are not kept. Of these the worktree may have changed
// none, for nobody could write them into the other tree.
func (p place) threeTrees(ctx context.Context, base, ours, theirs string) (three, []Clash, error) {
	t := three{base: base, ours: ours, theirs: theirs}
	whole, err := p.whole(ctx, base, ours, theirs)
	if err != nil || whole {
		return t, nil, err
	}
	if t.ours, _, err = p.kept(ctx, ours); err != nil {
		return t, nil, err
	}
	if t.base, _, err = p.kept(ctx, base); err != nil {
		return t, nil, err
	}
	if t.theirs, _, err = p.kept(ctx, theirs); err != nil {
		return t, nil, err
	}
	was, err := p.stubs(ctx, base)
	if err != nil {
		return t, nil, err
	}
	is, err := p.stubs(ctx, theirs)
	if err != nil {
		return t, nil, err
	}
	var big []Clash
	for path, stub := range is {
		if was[path] != stub {
			big = append(big, Clash{Path: path, Why: "too big to merge, not readable, or with a known secret in it"})
		}
		delete(was, path)
	}
	for path := range was {
		big = append(big, Clash{Path: path, Why: "it was too big to merge, not readable, or with a known secret in it, and is not any more"})
	}
	slices.SortFunc(big, func(a, b Clash) int { return strings.Compare(a.Path, b.Path) })
	return t, big, nil
}

// whole tells whether nothing in trees stands for a file that is not kept.
func (p place) whole(ctx context.Context, trees ...string) (bool, error) {
	whole, _, err := p.wholeBeside(ctx, "", trees...)
	return whole, err
}

// wholeBeside is whole, and in the same breath the object that a ref is at; "" where
// there is no such ref.
func (p place) wholeBeside(ctx context.Context, ref string, trees ...string) (whole bool, at string, err error) {
	if whole, at, sure := p.readWhole(ref, trees); sure {
		return whole, at, nil
	}
	var ask strings.Builder
	for _, t := range trees {
		ask.WriteString(t + "\n" + t + ":" + unkeptRoot + "\n")
	}
	out, err := p.feed(ctx, []byte(ask.String()+ref+"\n"), "cat-file", "--batch-check=%(objecttype) %(objectname)")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if err != nil || len(lines) != 2*len(trees)+1 {
		return false, "", err
	}
	whole = true
	for i, t := range trees {
		if !strings.HasPrefix(lines[2*i], "tree ") {
			return false, "", fmt.Errorf("the tree %s is not there", t)
		}
		is := strings.HasSuffix(lines[2*i+1], " missing")
		wholes.put(t, "", is)
		whole = whole && is
	}
	at, _ = strings.CutPrefix(lines[2*len(trees)], "commit ")
	if !isID(at) {
		at = ""
	}
	return whole, at, nil
}

// readWhole is wholeBeside where the trees and the ref can be read.
func (p place) readWhole(ref string, trees []string) (whole bool, at string, sure bool) {
	if ref != "" {
		if at, sure = p.readCommit(ref); !sure {
			return false, "", false
		}
	}
	whole = true
	for _, t := range trees {
		names, ok := p.looseNames(t)
		if !ok {
			return false, "", false
		}
		is := !slices.Contains(names, unkeptRoot)
		wholes.put(t, "", is)
		whole = whole && is
	}
	return whole, at, true
}

// stubs are the lines about files that are not kept, by path.
func (g git) stubs(ctx context.Context, tree string) (map[string]string, error) {
	out, err := g.run(ctx, "ls-tree", "-r", "-z", "--full-tree", tree, "--", unkeptRoot+"/")
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, rec := range records(out) {
		about, path, _ := strings.Cut(rec, "\t")
		found[strings.TrimPrefix(path, unkeptRoot+"/")] = about
	}
	return found, nil
}

// woven is what three trees merge to.
type woven struct {
	tree    string
	clashes []Clash             // none: it is clean
	stages  map[string][]string // of a clash: "mode id stage" of each side
	ours    string              // the names of the sides in the marks of a conflict
	theirs  string
}

// threeWay merges trees. This git takes commits only, and looks itself for the
// one that they came from: so they are given commits with the base as parent.
func (p place) threeWay(ctx context.Context, t three) (woven, error) {
	switch { // what needs no merge
	case t.theirs == t.base || t.theirs == t.ours:
		return woven{tree: t.ours}, nil
	case t.ours == t.base:
		return woven{tree: t.theirs}, nil
	}
	ids, err := p.commitsOf(ctx, t.base, t.ours, t.theirs)
	if err != nil {
		return woven{}, err
	}
	// git takes "name-g<id>" for a commit, and the name then stands in the marks
	w := woven{ours: ourSide + "-g" + ids[1], theirs: theirSide + "-g" + ids[2]}
	// a file that is made in a folder stays there, though the other side renamed the folder
	g := p.set("merge.renames", "true", "merge.directoryRenames", "false", "merge.conflictStyle", "zdiff3")
	out, err := g.run(ctx, "merge-tree", "--write-tree", "-z", "--messages", "--end-of-options", w.ours, w.theirs)
	var clash *GitError
	if err != nil && !(errors.As(err, &clash) && clash.Code == 1) {
		return woven{}, err
	}
	if err != nil {
		w.readClashes(out)
		if len(w.clashes) == 0 {
			return woven{}, fmt.Errorf("git names no file of a conflict: %w", err)
		}
	}
	w.tree, _, _ = strings.Cut(strings.TrimSuffix(out, "\n"), "\x00")
	return w, nil
}

// readClashes reads the output of merge-tree with -z: the tree, the entries of
// files in conflict, an empty record, and messages about paths.
func (w *woven) readClashes(out string) {
	f := strings.Split(out, "\x00")[1:]
	w.stages = map[string][]string{}
	var order []string
	for len(f) > 0 && f[0] != "" {
		about, path, _ := strings.Cut(f[0], "\t")
		if w.stages[path] == nil {
			order = append(order, path)
		}
		w.stages[path] = append(w.stages[path], about)
		f = f[1:]
	}
	why := map[string]string{}
	for f = f[min(1, len(f)):]; len(f) > 1; {
		n := 0
		if _, err := fmt.Sscan(f[0], &n); err != nil || len(f) < n+3 {
			break
		}
		kind := f[n+1]
		for _, path := range f[1 : n+1] {
			if reason, ok := strings.CutPrefix(kind, "CONFLICT ("); ok && why[path] == "" {
				why[path] = reasonOf(strings.TrimSuffix(reason, ")"))
			}
		}
		f = f[n+3:]
	}
	for _, path := range order {
		if why[path] == "" {
			why[path] = "changed on both sides"
		}
		w.clashes = append(w.clashes, Clash{Path: path, Why: why[path]})
	}
}

// The names of the sides, before "-g" and the commit.
const (
	ourSide   = "run"
	theirSide = "step"
)

// unlabelled is a path without the name of a side that git puts after one at which
// two things would have to be.
func unlabelled(path string) string {
	for _, side := range []string{ourSide, theirSide} {
		if i := strings.LastIndex(path, "~"+side+"-g"); i > 0 {
			return path[:i]
		}
	}
	return path
}

// reasonOf is git's kind of conflict in plain words.
func reasonOf(kind string) string {
	switch kind {
	case "contents":
		return "the same lines were changed on both sides"
	case "binary":
		return "a binary file was changed on both sides"
	case "modify/delete":
		return "deleted on one side and changed on the other"
	case "rename/delete":
		return "renamed on one side and deleted on the other"
	case "rename/rename", "rename involved in collision":
		return "renamed on both sides"
	case "file/directory":
		return "a file on one side and a directory on the other"
	case "distinct modes":
		return "made on both sides as things of different kinds"
	}
	return "changed on both sides (" + kind + ")"
}
