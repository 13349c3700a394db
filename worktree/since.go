package worktree

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/belay-run/belay"
)

// Limits of what is told.
const (
	maxChanged = 50  // files, of those that changed
	maxCommits = 50  // commits
	maxGuards  = 200 // files that judge the work
	maxOutside = 50  // files outside the tree
)

// Since is what happened in the working tree between two prints. The tools of
// the agent tell which files outside of it they wrote.
func (t Tree) Since(ctx context.Context, base, now belay.TreeState, tools []belay.ToolCall) belay.Evidence {
	at, bad := find(ctx, t.Git, t.Dir)
	now = t.measured(ctx, base, now, at, bad)
	e := belay.Evidence{Before: base, After: now}
	top, err := realPath(t.Dir)
	if e.Error = unlike(base, now); bad == nil {
		top, err = at.top, nil
		if e.Error == "" && base.Repo {
			e.Error = compare(ctx, at, &e)
		}
	}
	t.guarded(ctx, at, bad, &e)
	if err == nil { // a folder that is gone has no inside
		e.Outside = outside(t.Dir, top, tools)
	}
	return e
}

// measured is the print after, as one of the same kind as the one before. A
// repository that was made since is no work: the files in it are. One that is
// gone, broken or another one leaves nothing to measure with.
func (t Tree) measured(ctx context.Context, base, now belay.TreeState, at place, bad error) belay.TreeState {
	switch {
	case base.Error != "":
	case !base.Repo && (now.Repo || now.Error != ""):
		p, err := walk(ctx, t.Dir, maxEntries, t.leftOut(t.Dir))
		if err != nil {
			p.Error = err.Error()
		}
		return p
	case !base.Repo || now.Error != "":
	case !now.Repo && bad != nil:
		now.Error = "the repository is gone, or cannot be read: " + bad.Error()
	case !now.Repo || bad != nil:
		now.Error = "the repository was changed while it was looked at"
	case base.Head != "" && base.Head != now.Head && !at.has(ctx, base.Head): // the look at now saw its own
		now.Error = "the commit that the work began at is not there any more: the repository is another one"
	}
	return now
}

// has tells whether a commit is in the repository.
func (p place) has(ctx context.Context, id string) bool {
	if _, sure := p.looseTree(id); sure {
		return true
	}
	_, err := p.run(ctx, "cat-file", "-e", id+"^{commit}")
	return err == nil
}

// unlike says why two prints cannot be compared; "" = they can.
func unlike(base, now belay.TreeState) string {
	switch {
	case base.Error != "":
		return "print before: " + base.Error
	case now.Error != "":
		return "print after: " + now.Error
	}
	return ""
}

// compare fills in the changes and commits, and says what is missing.
func compare(ctx context.Context, at place, e *belay.Evidence) string {
	var missing []string
	list, unkept, err := changes(ctx, at, e)
	switch {
	case errors.Is(err, errOutput): // it may be all in the eye
		e.After.Error = "more files are others than can be looked at"
		return unlike(e.Before, e.After)
	case err != nil:
		missing = append(missing, "compare files: "+err.Error())
	}
	for _, path := range unkept[:min(len(unkept), maxNamed)] {
		e.Unkept = append(e.Unkept, shown(path))
	}
	missing = append(missing, unkeptReasons(at.top, unkept)...)
	if e.Commits, err = newCommits(ctx, at, e.Before, e.After); err != nil {
		missing = append(missing, "list commits: "+err.Error())
	}
	if err == nil && len(missing) == 0 && onlySeenOtherwise(ctx, at, *e, list) {
		// git looks at other files now, or in another way: none is another one
		e.Files, e.Added, e.Deleted, e.Changed, e.Guards = 0, 0, 0, nil, nil
		e.After.Tree = e.Before.Tree
	}
	if err == nil && e.After.Tree != e.Before.Tree {
		var gone []string
		gone, e.TakenBack = at.takenBack(ctx, *e, list)
		for _, path := range gone[:min(len(gone), maxNamed)] {
			e.Gone = append(e.Gone, shown(path))
		}
	}
	if e.After.Tree == e.Before.Tree {
		e.After.At = e.Before.At // the files are as they were then
	}
	return strings.Join(missing, "; ")
}

// changes fills in the numbers and the first of the files, and gives all of
// them, and the paths of those that are not kept.
func changes(ctx context.Context, at place, e *belay.Evidence) ([]change, []string, error) {
	if e.Before.Tree == e.After.Tree {
		return nil, nil, nil
	}
	out, err := at.run(ctx, "diff-tree", "-r", "-z", "-M", "--raw", "--numstat", "--no-abbrev",
		"--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "--end-of-options", e.Before.Tree, e.After.Tree)
	if err != nil {
		return nil, nil, err
	}
	list := parseDiff(out)
	tell(e.Before.Tree, e.After.Tree, deltas(list))
	list, unkept := unstubbed(list)
	for _, c := range list {
		e.Files++
		e.Added += c.Added
		e.Deleted += c.Deleted
		guard := (Guard(c.Path) || c.old != "" && Guard(c.old)) && len(e.Guards) < maxGuards
		c.Path = shown(c.Path)
		if guard {
			e.Guards = append(e.Guards, c.FileChange)
		}
		if c.Sha = ""; len(e.Changed) < maxChanged {
			e.Changed = append(e.Changed, c.FileChange)
		}
	}
	return list, unkept, nil
}

// change is one file of a diff; of a renamed one, with its old path.
type change struct {
	belay.FileChange
	old    string
	commit [2]string // of a repository inside this one: before and now
	was    string    // "mode id" before
	now    string    // "mode id" after
	mode   bool      // its mode is another
}

// parseDiff reads the output of diff-tree with --raw, --numstat and -z: first
// all files with their kind and id, then all with their numbers.
func parseDiff(out string) []change {
	var list []change
	at := map[string]int{}
	f := strings.Split(out, "\x00")
	next := func() string {
		if len(f) == 0 {
			return ""
		}
		s := f[0]
		f = f[1:]
		return s
	}
	for len(f) > 0 {
		head := next()
		if raw, ok := strings.CutPrefix(head, ":"); ok {
			c, ok := rawChange(raw)
			if !ok {
				continue
			}
			if c.Change == belay.FileRenamed {
				c.old = next()
			}
			c.Path = next()
			at[c.Path] = len(list)
			list = append(list, c)
			continue
		}
		n := strings.SplitN(head, "\t", 3) // added, deleted, path; of a renamed file the paths follow
		if len(n) != 3 {
			continue
		}
		path := n[2]
		if path == "" {
			next()
			path = next()
		}
		if i, ok := at[path]; ok {
			list[i].Added, _ = strconv.Atoi(n[0]) // "-" of a binary file is no number: 0 lines
			list[i].Deleted, _ = strconv.Atoi(n[1])
		}
	}
	return list
}

// rawChange reads "oldmode newmode oldid newid kind".
func rawChange(raw string) (change, bool) {
	w := strings.Fields(raw)
	if len(w) != 5 {
		return change{}, false
	}
	c := change{FileChange: belay.FileChange{Sha: w[3], Change: belay.FileModified}, mode: w[0] != w[1], was: w[0] + " " + w[2], now: entryOf(w[1], w[3])}
	if w[0] == "160000" && w[1] == w[0] {
		c.commit = [2]string{w[2], w[3]}
	}
	switch w[4][0] {
	case 'A':
		c.Change = belay.FileAdded
	case 'D':
		c.Change, c.Sha = belay.FileDeleted, ""
	case 'R':
		c.Change = belay.FileRenamed
	}
	return c, true
}
