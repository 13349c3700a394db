package worktree

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay"
)

// newCommits are the commits that were made in this work tree since and that
// hold something: those that HEAD has gained, and those that were made here on
// another branch, as the log of HEAD tells. What was made in another work tree
// of the repository is not of this one.
func newCommits(ctx context.Context, at place, base, now belay.TreeState) ([]string, error) {
	list, err := gained(ctx, at, base, now)
	if err != nil {
		return nil, err
	}
	beside, err := madeHere(ctx, at, base, now)
	for _, id := range beside {
		if len(list) < maxCommits && !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list, err
}

// gained are the commits that HEAD has and had not. New commits that end in
// the same files are none: they are empty, or undo each other.
func gained(ctx context.Context, at place, base, now belay.TreeState) ([]string, error) {
	if now.Head == "" || now.Head == base.Head {
		return nil, nil
	}
	seen, err := at.treesOf(ctx, now.Head, base.Head)
	if err != nil {
		return nil, err
	}
	before := seen[base.Head]
	if base.Head == "" {
		before = at.emptyTree()
	}
	left := maxMoved
	if after := seen[now.Head]; after == before || after != "" && at.onlyNested(ctx, before, after) && at.sameFiles(ctx, before, after, 0, &left) {
		return nil, nil
	}
	if base.Head != "" && at.rewound(ctx, base.Head, now.Head, seen[now.Head]) {
		return nil, nil
	}
	if ids, sure := at.straight(base.Head, now.Head, maxCommits); sure {
		return ids, nil
	}
	args := []string{"rev-list", "--max-count=" + strconv.Itoa(maxCommits), now.Head}
	if base.Head != "" {
		args = append(args, "^"+base.Head)
	}
	out, err := at.run(ctx, append(args, "--")...)
	return strings.Fields(out), err
}

// onlyNested tells whether two trees differ in nothing but the commits of
// repositories inside.
func (p place) onlyNested(ctx context.Context, a, b string) bool {
	list, err := p.edits(ctx, a, b)
	return err == nil && !slices.ContainsFunc(list, func(e delta) bool {
		return !strings.HasPrefix(e.was, "160000") || !strings.HasPrefix(e.now, "160000")
	})
}

// rewound tells whether HEAD was taken back to an older commit, and what was
// committed on top since then left its files as they are.
func (p place) rewound(ctx context.Context, before, now, tree string) bool {
	meet, err := p.meeting(ctx, before, now)
	if err != nil || meet == before { // no common one, or HEAD only went on
		return false
	}
	seen, err := p.treesOf(ctx, meet)
	return err == nil && seen[meet] == tree
}

// madeHere lists the commits that the new part of HEAD's log shows being made,
// that something still leads to, and that are part of a change of files. The
// last ones come first.
func madeHere(ctx context.Context, at place, base, now belay.TreeState) ([]string, error) {
	if base.Log == 0 && base.Head != "" {
		return nil, nil // no log was kept then, so it cannot be told what is new in it
	}
	return part(ctx, at, parseLog(newLog(at.own, base.Log)), base, now)
}

// part are those of the commits that a log shows being made that still stand and
// are part of a change of files.
func part(ctx context.Context, at place, log []move, base, now belay.TreeState) ([]string, error) {
	made, visited := sorted(log)
	made, err := at.standing(ctx, made, base.Head, now.Head)
	if err != nil || len(made) == 0 {
		return nil, err
	}
	w := work{place: at, visited: append(visited, base.Head)}
	if w.made, err = at.describe(ctx, made); err != nil {
		return nil, err
	}
	tips, err := w.tips(ctx)
	if err != nil {
		return nil, err
	}
	if err := w.surround(ctx, tips); err != nil {
		return nil, err
	}
	counted := map[string]bool{}
	for _, tip := range tips {
		other, err := w.changes(ctx, tip)
		if err != nil {
			return nil, err
		}
		if other {
			w.collect(tip, counted)
		}
	}
	made = slices.DeleteFunc(made, func(id string) bool { return !counted[id] })
	slices.Reverse(made)
	return made, nil
}

// standing are those of the commits that are new and that HEAD, a branch, a
// tag or a remote leads to: what was taken back is no work.
func (p place) standing(ctx context.Context, made []string, before, head string) ([]string, error) {
	if len(made) == 0 {
		return nil, nil
	}
	if line, sure := p.straight(before, head, maxCommits); sure && !slices.ContainsFunc(made, func(id string) bool { return !slices.Contains(line, id) }) {
		return made, nil
	}
	ids := []byte(strings.Join(made, "\n") + "\n")
	set := func(args ...string) (map[string]bool, error) {
		out, err := p.feed(ctx, ids, append([]string{"rev-list", "--ignore-missing", "--stdin"}, args...)...)
		found := map[string]bool{}
		for id := range strings.FieldsSeq(out) {
			found[id] = true
		}
		return found, err
	}
	var not []string
	if before != "" {
		not = []string{"--not", before}
	}
	fresh, err := set(not...)
	if err != nil {
		return nil, err
	}
	not = []string{"--not", "--branches", "--tags", "--remotes"}
	if head != "" {
		not = append(not, head)
	}
	lost, err := set(not...)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(made, func(id string) bool { return !fresh[id] || lost[id] }), nil
}

// described is what is known of a commit.
type described struct {
	tree    string
	parents []string
}

// describe looks up commits; those that are not there are left out.
func (p place) describe(ctx context.Context, ids []string) (map[string]described, error) {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return strings.Trim(id, "0") == "" })
	seen := map[string]described{}
	if len(ids) == 0 {
		return seen, nil
	}
	for _, id := range ids {
		c, ok := p.looseCommit(id)
		if !ok {
			break
		}
		seen[id] = c
	}
	if len(seen) == len(slices.Compact(slices.Sorted(slices.Values(ids)))) {
		return seen, nil
	}
	out, err := p.feed(ctx, []byte(strings.Join(ids, "\n")+"\n"),
		"rev-list", "--no-walk=unsorted", "--ignore-missing", "--format=%T %P", "--stdin")
	if err != nil {
		return nil, err
	}
	id := ""
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) == 2 && f[0] == "commit" {
			id = f[1]
		} else if len(f) > 0 {
			seen[id] = described{f[0], f[1:]}
		}
	}
	return seen, nil
}

// The ids of a tree without files, which git knows without an object.
const (
	emptySHA1   = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	emptySHA256 = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
)

// emptyTree is the id of a tree without files.
func (p place) emptyTree() string {
	if len(p.zero) == len(emptySHA256) {
		return emptySHA256
	}
	return emptySHA1
}

// work is what was committed here, and where HEAD was besides.
type work struct {
	place
	made    map[string]described
	visited []string
	around  map[string]described // what the work began at, and what was visited
	empty   string               // the tree without files
}

// tips are the made commits that a ref stands at, or that no other one follows.
func (w *work) tips(ctx context.Context) ([]string, error) {
	out, err := w.run(ctx, "for-each-ref", "--format=%(objectname) %(*objectname)", "refs/heads", "refs/tags", "refs/remotes")
	if err != nil {
		return nil, err
	}
	tip := map[string]bool{}
	for id := range w.made {
		tip[id] = true
	}
	for _, c := range w.made {
		for _, parent := range c.parents {
			delete(tip, parent)
		}
	}
	for id := range strings.FieldsSeq(out) {
		if _, ok := w.made[id]; ok {
			tip[id] = true
		}
	}
	var list []string
	for id := range tip {
		list = append(list, id)
	}
	return list, nil
}

// root is the commit that the work on the way to a tip began at; "" = none.
func (w *work) root(tip string) string {
	for range len(w.made) + 1 {
		c, ok := w.made[tip]
		if !ok {
			break
		}
		if len(c.parents) == 0 {
			return ""
		}
		tip = c.parents[0]
	}
	return tip
}

// surround looks up what the tips are held against.
func (w *work) surround(ctx context.Context, tips []string) error {
	ids := slices.Clone(w.visited)
	for _, tip := range tips {
		ids = append(ids, w.root(tip))
	}
	var err error
	if w.around, err = w.describe(ctx, ids); err != nil {
		return err
	}
	w.empty = w.emptyTree()
	return nil
}

// changes tells whether a tip has other files than the commit that its work
// began at, and than those that HEAD was at before and that the tip does not
// build on: a rebase or a better message gives new commits of the old files.
func (w *work) changes(ctx context.Context, tip string) (bool, error) {
	tree, before := w.made[tip].tree, w.empty
	if root := w.root(tip); root != "" {
		before = w.around[root].tree
	}
	if tree == before {
		return false, nil
	}
	for _, id := range w.visited {
		if w.around[id].tree != tree {
			continue
		}
		_, err := w.run(ctx, "merge-base", "--is-ancestor", id, tip)
		var no *GitError
		if errors.As(err, &no) && no.Code == 1 {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// collect marks a tip and all made commits that it builds on.
func (w *work) collect(tip string, into map[string]bool) {
	rest := []string{tip}
	for len(rest) > 0 {
		id := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		c, ok := w.made[id]
		if !ok || into[id] {
			continue
		}
		into[id] = true
		rest = append(rest, c.parents...)
	}
}
