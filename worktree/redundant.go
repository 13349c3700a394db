package worktree

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

const (
	maxLookedUp = 20_000 // snapshots that are looked at; the others are kept
	maxRead     = 20_000 // commits that they are held against
)

// history tells of many snapshots at once what a branch, a remote or a tag has
// of them. It asks git a handful of times, however many there are.
type history struct {
	git
	parents map[string]described // of the commits that the snapshots stand on
	alone   map[string][]string  // commits that no branch, remote or tag has, with their parents
	edits   map[string][]string  // what each snapshot changes, by its id
	made    map[string]bool      // what commits changed
	trees   map[string]bool      // of commits
}

// historyOf looks at what there is for the snapshots.
func (g git) historyOf(ctx context.Context, list []Kept) (*history, error) {
	h := &history{git: g, made: map[string]bool{}, trees: map[string]bool{}}
	var ids, parents []string
	for _, k := range list {
		if k.Parent != "" {
			parents = append(parents, k.Parent)
		}
	}
	slices.Sort(parents)
	parents = slices.Compact(parents)
	var err error
	if h.parents, err = (place{git: g}).describe(ctx, parents); err != nil {
		return nil, err
	}
	if h.alone, err = g.lonely(ctx, parents); err != nil {
		return nil, err
	}
	base, rooted := []string{}, true
	for _, k := range list {
		if k.Tree == h.parents[k.Parent].tree {
			continue // it changes nothing
		}
		ids = append(ids, k.Commit)
		base = append(base, k.Parent)
		rooted = rooted && k.Parent != ""
	}
	if len(ids) == 0 {
		return h, nil
	}
	if h.edits, err = g.editsOf(ctx, ids); err != nil {
		return nil, err
	}
	if !rooted {
		base = nil
	}
	slices.Sort(base)
	return h, h.read(ctx, slices.Compact(base))
}

// lonely are the commits below some that no branch, remote or tag has.
func (g git) lonely(ctx context.Context, ids []string) (map[string][]string, error) {
	alone := map[string][]string{}
	if len(ids) == 0 {
		return alone, nil
	}
	out, err := g.feed(ctx, []byte(strings.Join(ids, "\n")+"\n"), "rev-list", "--parents", "--ignore-missing", "--stdin",
		"--not", "--branches", "--remotes", "--tags")
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) > 0 {
			alone[f[0]] = f[1:]
		}
	}
	return alone, err
}

// editsOf are the changes of commits against their parents, as edit gives them.
func (g git) editsOf(ctx context.Context, ids []string) (map[string][]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	out, err := g.feed(ctx, []byte(strings.Join(ids, "\n")+"\n"), "diff-tree", "--stdin", "-r", "--root", "-m", "--always",
		"--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--ignore-submodules=none")
	edits, id := map[string][]string{}, ""
	for line := range strings.Lines(out) {
		if e, ok := edit(line); ok {
			edits[id] = append(edits[id], e)
		} else if f := strings.Fields(line); len(f) > 0 {
			id = f[0]
		}
	}
	return edits, err
}

// edit is what a line of a raw diff makes of a file: its mode, content and path.
func edit(line string) (string, bool) {
	raw, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), ":")
	meta, path, cut := strings.Cut(raw, "\t")
	f := strings.Fields(meta) // old mode, new mode, old id, new id, kind
	if !ok || !cut || len(f) != 5 {
		return "", false
	}
	return f[1] + " " + f[3] + "\t" + path, true
}

// read takes in what the commits of branches, remotes and tags changed, as far
// as the snapshots can have to do with them: what all of them stand on was there
// before. Only the last commits are read; what an older one has is not known, and
// its snapshot is kept.
func (h *history) read(ctx context.Context, base []string) error {
	args := []string{"rev-list", "--format=%T", "--max-count=" + strconv.Itoa(maxRead), "--branches", "--remotes", "--tags"}
	if len(base) > 0 {
		// no common one: nothing is left out
		if id, err := h.line(ctx, append([]string{"merge-base", "--octopus"}, base...)...); err == nil && id != "" {
			args = append(args, "--not", id)
		}
	}
	out, err := h.run(ctx, append(args, "--")...)
	if err != nil {
		return err
	}
	var ids []string
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if id, ok := strings.CutPrefix(line, "commit "); ok {
			ids = append(ids, id)
		} else {
			h.trees[line] = true
		}
	}
	edits, err := h.editsOf(ctx, ids)
	for _, list := range edits {
		for _, e := range list {
			h.made[e] = true
		}
	}
	return err
}

// holds tells whether a snapshot has anything that was never committed: another
// content, mode or absence of a file than any commit made of it.
func (h *history) holds(k Kept) bool {
	parent, known := h.parents[k.Parent]
	if known && parent.tree == k.Tree || h.trees[k.Tree] {
		return false
	}
	edits := h.edits[k.Commit]
	return len(edits) == 0 || slices.ContainsFunc(edits, func(e string) bool { return !h.made[e] })
}

// unpushed counts the commits below a snapshot that nothing else has.
func (h *history) unpushed(k Kept) int {
	seen, rest := map[string]bool{}, []string{k.Parent}
	for len(rest) > 0 {
		id := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		if parents, alone := h.alone[id]; alone && !seen[id] {
			seen[id] = true
			rest = append(rest, parents...)
		}
	}
	return len(seen)
}

// assessSnapshots looks at snapshots: one can go when all that it holds was
// committed, and a branch, a remote or a tag has those commits.
func (g git) assessSnapshots(ctx context.Context, list []Kept) []Owned {
	var out []Owned
	looked := list[:min(len(list), maxLookedUp)]
	h, err := g.historyOf(ctx, looked)
	for i, k := range list {
		o := Owned{Kind: KindSnapshot, Repo: g.dir, Ref: k.Ref, Exists: true, tip: k.Commit}
		o.Run, o.Step = refOwner(k.Ref)
		if err != nil || i >= len(looked) || !h.knows(k) {
			o.Why = append(o.Why, ReasonUnknown)
		} else {
			o.Dirty, o.Unpushed = h.holds(k), h.unpushed(k)
		}
		if o.Dirty {
			o.Why = append(o.Why, ReasonDirty)
		}
		if o.Unpushed > 0 {
			o.Why = append(o.Why, ReasonUnpushed)
		}
		o.Safe = len(o.Why) == 0
		out = append(out, o)
	}
	return out
}

// knows tells whether a snapshot could be looked at: it is a commit, and the one
// that it stands on is there.
func (h *history) knows(k Kept) bool {
	_, known := h.parents[k.Parent]
	return k.Tree != "" && (k.Parent == "" || known)
}
