package worktree

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
)

// Limits of a look at the other work trees of a repository.
const (
	maxTrees = 500  // work trees
	maxLogs  = 2000 // logs of branches
)

// madeApart lists the commits that were made in work trees of this repository
// that are not this one and were not there at the first look: an agent that makes
// itself a work tree works there. One that is gone again has left its commits in
// the log of a branch that was made since, and in no log of a work tree that is
// there. What Belay made for others is theirs.
func madeApart(ctx context.Context, at place, base, now belay.Print) ([]string, error) {
	if base.At == 0 {
		return nil, nil // nobody can tell what is new
	}
	common, err := at.common(ctx)
	if err != nil {
		return nil, err
	}
	logs := recentLogs(filepath.Join(common, "logs", "refs", "heads"), base.At)
	trees := siblings(common, at.own, base.At)
	fresh := slices.ContainsFunc(trees, func(s sibling) bool { return s.fresh })
	if len(logs) == 0 && !fresh {
		return nil, nil
	}
	marks, err := at.owners(ctx)
	if err != nil {
		return nil, err
	}
	ours := map[string]bool{}
	for _, m := range marks {
		ours[m.Path] = true
	}
	var log []move
	others := map[string]bool{} // commits that were made where somebody else works
	for _, s := range trees {
		moves := parseLog(newLog(s.notes, max(0, logSize(s.notes)-maxLog)))
		if s.fresh && !ours[s.path] {
			log = append(log, moves...)
			continue
		}
		for _, m := range moves {
			others[m.to] = true
		}
	}
	for branch, moves := range logs {
		if _, marked := marks[branch]; !marked {
			log = append(log, moves...)
		}
	}
	log = slices.DeleteFunc(log, func(m move) bool { return others[m.to] })
	return part(ctx, at, log, base, now)
}

// sibling is another work tree of the repository.
type sibling struct {
	notes string // git's folder about it
	path  string
	fresh bool // it was made since
}

// siblings are the work trees of a repository besides one.
func siblings(common, own string, since int64) []sibling {
	var list []sibling
	if own != common {
		list = append(list, sibling{notes: common})
	}
	root := filepath.Join(common, "worktrees")
	entries, err := os.ReadDir(root)
	if err != nil {
		return list // there are none
	}
	for _, e := range entries[:min(len(entries), maxTrees)] {
		notes := filepath.Join(root, e.Name())
		if notes == own {
			continue
		}
		gitdir, _ := os.ReadFile(filepath.Join(notes, "gitdir")) // without one, nobody knows where it is
		path := filepath.Dir(joined(notes, strings.TrimSuffix(string(gitdir), "\n")))
		// this file is written when the work tree is made, and never again
		fi, err := os.Stat(filepath.Join(notes, "commondir"))
		list = append(list, sibling{notes: notes, path: path, fresh: err == nil && newer(fi, since)})
	}
	return list
}

// newer tells whether a file was written since a moment: only its mode or owner
// may have changed if one of its times is older.
func newer(fi os.FileInfo, since int64) bool {
	_, changed := touched(fi)
	return changed > since && fi.ModTime().UnixNano() > since
}

// recentLogs are the logs of the branches that were made since a moment.
func recentLogs(root string, since int64) map[string][]move {
	logs := map[string][]move{}
	left := maxLogs
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error { // no log, nothing told
		if left--; left < 0 {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() {
			return nil
		}
		fi, err := d.Info()
		if err != nil || !fi.Mode().IsRegular() || !newer(fi, since) || fi.Size() > maxLog {
			return nil
		}
		// Git tells whole seconds, and may write an old log anew: both must be young.
		made := madeAt(path)
		moves := parseLog(readLog(path, 0))
		if len(moves) > 0 && strings.Trim(moves[0].from, "0") == "" && moves[0].at >= since/int64(time.Second) && (made == 0 || made > since) {
			name, _ := filepath.Rel(root, path) // it is below
			logs[name] = moves
		}
		return nil
	})
	return logs
}
