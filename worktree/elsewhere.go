package worktree

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
)

// Limits of a look at the other work trees of a repository.
const (
	maxTrees = 2000 // work trees; where there are more nobody knows whose a commit is
	maxLogs  = 2000 // logs of branches; what is in others is not seen
)

// apart are commits that were made in work trees of this repository that are not
// this one and were not there at the first look: an agent that makes itself a
// work tree works there, and so do others.
type apart struct {
	own  []string // made where the agent's records tell that it made commits
	some []string // the agent may have made them, or anybody else who was at work in the repository
}

// madeApart lists such commits. A work tree that is gone again has left its
// commits in the log of a branch that was made since, and in no log of a work
// tree that is there. What Belay made for others is theirs.
func madeApart(ctx context.Context, at place, base, now belay.Print, own makings) (found apart, err error) {
	if base.At == 0 || !own.may() {
		return found, nil // nobody can tell what is new, or it is surely not the agent's
	}
	common, err := at.common(ctx)
	if err != nil {
		return found, err
	}
	logs := recentLogs(filepath.Join(common, "logs", "refs", "heads"), base.At)
	trees, whole := siblings(common, at.own, base.At)
	fresh := slices.ContainsFunc(trees, func(s sibling) bool { return s.fresh })
	if len(logs) == 0 && !fresh || !whole {
		return found, nil
	}
	marks, err := at.owners(ctx)
	if err != nil {
		return found, err
	}
	mine, some := share(trees, logs, marks, own)
	if accompanied(at.top, trees, marks, base.At) {
		some = nil
	}
	if found.own, err = part(ctx, at, mine, base, now); err != nil || len(found.own) > 0 {
		return found, err
	}
	found.some, err = part(ctx, at, some, base, now)
	return found, err
}

// share parts the moves in the logs of other work trees and of new branches:
// those where the agent is known to have made commits, and those of which nobody
// knows. What was made where somebody else works is in neither.
func share(trees []sibling, logs map[string][]move, marks map[string]owner, own makings) (mine, some []move) {
	ours := map[string]bool{} // made by Belay
	for _, m := range marks {
		ours[m.Path] = true
	}
	others := map[string]bool{} // commits
	for _, s := range trees {
		moves := parseLog(newLog(s.notes, max(0, logSize(s.notes)-maxLog)))
		switch {
		case s.fresh && !ours[s.path] && own.in(s.path):
			mine = append(mine, moves...)
		case s.fresh && !ours[s.path]:
			some = append(some, moves...)
		default:
			for _, m := range moves {
				others[m.to] = true
			}
		}
	}
	held := map[string]bool{} // commits of work trees that are there, and are not known to be the agent's
	for _, m := range some {
		held[m.to] = true
	}
	for _, branch := range slices.Sorted(maps.Keys(logs)) { // caps take the same ones each time
		if _, marked := marks[branch]; marked {
			continue
		}
		for _, m := range logs[branch] {
			if own.gone && !held[m.to] {
				mine = append(mine, m)
			}
			some = append(some, m)
		}
	}
	theirs := func(m move) bool { return others[m.to] }
	return slices.DeleteFunc(mine, theirs), slices.DeleteFunc(some, theirs)
}

// accompanied tells whether somebody else can have made a commit that nobody
// knows about: another step of the same run has a work tree here, or one that
// Belay made shows life since a moment.
func accompanied(top string, trees []sibling, marks map[string]owner, since int64) bool {
	runs := map[string]belay.RunID{}
	for _, m := range marks {
		runs[m.Path] = m.Run.Root()
	}
	return slices.ContainsFunc(trees, func(s sibling) bool {
		run, ours := runs[s.path]
		return ours && (run == runs[top] || s.lives(since))
	})
}

// makings are where an agent made commits, by its own records.
type makings struct {
	told   bool
	places []string // where a command stood that makes commits, however it ended
	gone   bool     // one ended well in a folder that is not there any more
	found  bool     // commits of it stand in a work tree that is not this one
	gained []string // commits on the way to HEAD that are new
}

// makings are those of an agent that worked in dir; of nil, of one that does not
// tell.
func (d *Doings) makings(dir string) makings {
	if d == nil {
		return makings{}
	}
	m := makings{told: true}
	for _, at := range slices.Sorted(maps.Keys(d.tried)) {
		m.places = append(m.places, placed(dir, at))
	}
	for c := range d.commits {
		_, err := os.Lstat(placed(dir, c.at))
		m.gone = m.gone || !strings.HasPrefix(c.at, somewhere) && os.IsNotExist(err)
	}
	return m
}

// placed is a place of a shell that began in dir; nowhere for one that nobody
// knows.
func placed(dir, at string) string {
	switch {
	case strings.HasPrefix(at, somewhere):
		return ""
	case filepath.IsAbs(at):
		return at
	}
	return filepath.Join(dir, at)
}

// may tells whether the agent can have made a commit.
func (m makings) may() bool { return !m.told || len(m.places) > 0 }

// in tells whether it did so in a work tree with this top.
func (m makings) in(top string) bool {
	return slices.ContainsFunc(m.places, func(at string) bool {
		_, ok := inside(resolved(top), filepath.Join(at, ".git")) // settles links on the way to it
		return ok && at != ""
	})
}

// sibling is another work tree of the repository.
type sibling struct {
	notes string // git's folder about it
	path  string
	fresh bool // it was made since
}

// lives tells whether git wrote something about it since a moment.
func (s sibling) lives(since int64) bool {
	return slices.ContainsFunc([]string{"HEAD", "index", filepath.Join("logs", "HEAD")}, func(name string) bool {
		fi, err := os.Stat(filepath.Join(s.notes, name))
		return err == nil && fi.ModTime().UnixNano() > since-int64(slack)
	})
}

// siblings are the work trees of a repository besides one, and whether those are
// all.
func siblings(common, own string, since int64) (list []sibling, whole bool) {
	if own != common {
		list = append(list, sibling{notes: common})
	}
	root := filepath.Join(common, "worktrees")
	entries, err := os.ReadDir(root)
	if err != nil {
		return list, os.IsNotExist(err) // there are none
	}
	if len(entries) > maxTrees {
		return list, false
	}
	for _, e := range entries {
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
	return list, true
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
