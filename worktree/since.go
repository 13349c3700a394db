package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	maxTests   = 50  // commands; the last ones
)

// Since is what happened in the working tree between two prints, and what the
// tools of the agent tell about it.
func (t Tree) Since(ctx context.Context, base, now belay.Print, tools []belay.ToolCall) belay.Evidence {
	e := belay.Evidence{Before: base, After: now, Tests: testRuns(tools), PR: pullRequest(tools)}
	top, err := realPath(t.Dir)
	if at, bad := find(ctx, t.Git, t.Dir); bad == nil {
		top, err = at.top, nil
		e.Error = t.compare(ctx, at, &e)
	} else {
		e.Error = unlike(base, now)
	}
	if err == nil { // a folder that is gone has no inside
		e.Outside = outside(t.Dir, top, tools)
	}
	return e
}

// unlike says why two prints cannot be compared; "" = they can.
func unlike(base, now belay.Print) string {
	switch {
	case base.Error != "":
		return "print before: " + base.Error
	case now.Error != "":
		return "print after: " + now.Error
	case base.Repo && !now.Repo:
		return "the repository is gone"
	case !base.Repo && now.Repo:
		return "there was no repository before"
	}
	return ""
}

// compare fills in the changes and commits, and says what is missing.
func (t Tree) compare(ctx context.Context, at place, e *belay.Evidence) string {
	if why := unlike(e.Before, e.After); why != "" || !e.Before.Repo {
		return why
	}
	var missing []string
	if err := changes(ctx, at, e); err != nil {
		missing = append(missing, "compare files: "+err.Error())
	}
	commits, err := newCommits(ctx, at, e.Before, e.After)
	if err != nil {
		missing = append(missing, "list commits: "+err.Error())
	}
	e.Commits = commits
	return strings.Join(missing, "; ")
}

// changes fills in the numbers and the first of the files.
func changes(ctx context.Context, at place, e *belay.Evidence) error {
	if e.Before.Tree == e.After.Tree {
		return nil
	}
	out, err := at.run(ctx, "diff-tree", "-r", "-z", "-M", "--raw", "--numstat", "--no-abbrev",
		"--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "--end-of-options", e.Before.Tree, e.After.Tree)
	if err != nil {
		return err
	}
	for _, c := range parseDiff(out) {
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
	return nil
}

// change is one file of a diff; of a renamed one, with its old path.
type change struct {
	belay.FileChange
	old string
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
	c := change{FileChange: belay.FileChange{Sha: w[3], Change: belay.FileModified}}
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

// newCommits are the commits that were made since: those that HEAD has gained,
// and those that were made here on another branch. The log of this work tree's
// HEAD tells the latter; commits of other work trees of the same repository
// are somebody else's.
func newCommits(ctx context.Context, at place, base, now belay.Print) ([]string, error) {
	made, err := madeHere(ctx, at, base)
	if err != nil {
		return nil, err
	}
	var tips []string
	if now.Head != "" && now.Head != base.Head {
		tips = append(tips, now.Head)
	}
	var list []string
	if len(tips) > 0 {
		args := []string{"rev-list", "--max-count=" + strconv.Itoa(maxCommits), now.Head}
		if base.Head != "" {
			args = append(args, "^"+base.Head)
		}
		out, err := at.run(ctx, append(args, "--")...)
		if err != nil {
			return nil, err
		}
		list = strings.Fields(out)
	}
	for _, id := range made {
		if len(list) < maxCommits && id != base.Head && !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list, nil
}

// maxLog is how much of the log of HEAD is read.
const maxLog = 1 << 20

// madeHere lists the commits that the new part of HEAD's log shows being made.
// A commit that was made then has the time of its line; one that was only
// checked out or fetched is older.
func madeHere(ctx context.Context, at place, base belay.Print) ([]string, error) {
	if base.Log == 0 && base.Head != "" {
		return nil, nil // no log was kept then, so it cannot be told what is new in it
	}
	when := map[string]int64{}
	var ids []string
	for line := range strings.Lines(newLog(at.own, base.Log)) {
		who, _, _ := strings.Cut(line, "\t")
		f := strings.Fields(who) // old new name... time zone
		if len(f) < 4 || len(ids) >= 1000 {
			continue
		}
		sec, err := strconv.ParseInt(f[len(f)-2], 10, 64)
		if err != nil || when[f[1]] != 0 {
			continue
		}
		when[f[1]] = sec
		ids = append(ids, f[1])
	}
	if len(ids) == 0 {
		return nil, nil
	}
	out, err := at.feed(ctx, []byte(strings.Join(ids, "\n")+"\n"), "rev-list", "--no-walk=unsorted", "--ignore-missing", "--timestamp", "--stdin")
	if err != nil {
		return nil, err
	}
	var made []string
	for line := range strings.Lines(out) {
		var sec int64
		var id string
		if _, err := fmt.Sscan(line, &sec, &id); err != nil {
			continue // git's own note on a missing commit
		}
		if d := when[id] - sec; d >= -2 && d <= 2 {
			made = append(made, id)
		}
	}
	slices.Reverse(made)
	return made, nil
}

// newLog is what the log of HEAD has gained since it had a length. A log that
// is shorter now was cleaned up, and tells nothing.
func newLog(own string, from int64) string {
	f, err := os.Open(filepath.Join(own, "logs", "HEAD"))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // only read
	fi, err := f.Stat()
	if err != nil || fi.Size() <= from {
		return ""
	}
	b := make([]byte, min(fi.Size()-from, maxLog))
	n, _ := f.ReadAt(b, from) // what could be read is what is known
	return string(b[:n])
}
