package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/hand"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/worktree"
)

func (a *app) printLeft(list []leftover, dry bool) {
	if len(list) == 0 {
		a.say("nothing is left behind")
		return
	}
	rows := [][]string{{"KIND", "RUN", "RUN STATUS", "WHERE", "UNSAVED", "SIZE", "ACTION"}}
	safe := 0
	for _, l := range list {
		if l.Safe {
			safe++
		}
		rows = append(rows, []string{l.Kind, string(l.Run) + stepOf(l.Step), l.Status, readable.Clean(l.what()), l.work(), l.size(), l.fate(dry)})
	}
	a.table(rows, 3)
	a.sayCures(list)
	a.saySizes(list, dry)
	switch {
	case dry && safe > 0:
		a.say("of these %d, %d can be removed; nothing was removed yet: type %s gc --yes", len(list), safe, a.name())
	case dry:
		a.say("nothing was removed: %s gc only lists until --yes is given, and of these %d nothing can be removed as it is", a.name(), len(list))
	}
}

// sayCures says what lets things go that are kept, for the reasons that a person
// can do something about.
func (a *app) sayCures(list []leftover) {
	for _, l := range list {
		if l.Kind == filesKind {
			a.say("%s: %s", l.Run, putAwayCure(l.Path))
		}
	}
	for _, c := range cures() {
		n := 0
		for _, l := range list {
			if !l.Removed && slices.Contains(l.Why, string(c.reason)) {
				n++
			}
		}
		if n > 0 {
			a.say("%d kept (%s): %s", n, cmp.Or(keptBecause[c.reason], string(c.reason)), c.cure)
		}
	}
}

// cure is what lets a thing go that is kept for a reason.
type cure struct {
	reason worktree.Reason
	cure   string
}

func cures() []cure {
	return []cure{
		{worktree.ReasonUnpushed, "push or merge the branch (git push REMOTE BRANCH), or delete what you do not want"},
		{worktree.ReasonDirty, "commit those files, or delete a snapshot that you do not want: git update-ref -d REF"},
		{worktree.ReasonIgnored, "belay gc --ignored lets files go that git ignores"},
		{worktree.ReasonSubmodules, "move the repositories inside it to another place, or delete them"},
		{worktree.ReasonLocked, "git worktree unlock PATH"},
	}
}

// saySizes says what the worktrees take on disk, and how much of it goes.
func (a *app) saySizes(list []leftover, dry bool) {
	var goes, stays sizes
	for _, l := range list {
		switch {
		case l.Kind != string(worktree.KindWorktree):
		case l.Safe && (dry || l.Removed):
			goes.add(l)
		default:
			stays.add(l)
		}
	}
	verb := "were removed"
	if dry {
		verb = "can be removed"
	}
	if goes.n+stays.n > 0 {
		a.say("worktrees: %s are kept, %s %s", stays, goes, verb)
	}
}

// sizes is a sum of what worktrees take on disk.
type sizes struct {
	n     int
	bytes int64
	more  bool
}

func (s *sizes) add(l leftover) {
	s.n++
	s.bytes += l.Size
	s.more = s.more || l.AtLeast
}

func (s sizes) String() string {
	return fmt.Sprintf("%d with %s", s.n, onDisk(s.bytes, s.more))
}

func onDisk(bytes int64, more bool) string {
	if more {
		return "at least " + readable.Size(bytes)
	}
	return readable.Size(bytes)
}

// keptBecause explains why a worktree is still there.
var keptBecause = map[worktree.Reason]string{
	worktree.ReasonDirty:    "it has files that are in no commit",
	worktree.ReasonUnpushed: "its commits are not merged or pushed",
	worktree.ReasonIgnored:  "it has files that git ignores",
	worktree.ReasonBusy:     "a process works in it",
	worktree.ReasonUnknown:  "it could not be looked at",

	worktree.ReasonLocked:     "it is locked with git",
	worktree.ReasonSubmodules: "it has repositories inside",
	worktree.ReasonElsewhere:  "its branch is checked out at another place",
	worktree.ReasonForeign:    "it is not what belay made",
}

// tellKept says which worktrees of an ended run are still there, and why.
func (a *app) tellKept(kept []hand.Kept) {
	for _, k := range kept {
		if slices.Contains(k.Why, worktree.ReasonUnknown) && !there(k.Dir) {
			continue // there is nothing to look at
		}
		var why []string
		for _, r := range k.Why {
			text := string(r)
			if words := keptBecause[r]; words != "" {
				text += " (" + words + ")"
			}
			why = append(why, text)
		}
		if len(why) == 0 {
			a.say("worktree %s (branch %s)", k.Dir, k.Branch)
			continue
		}
		a.say("worktree %s (branch %s): %s", k.Dir, k.Branch, strings.Join(why, ", "))
		if slices.Contains(k.Why, worktree.ReasonUnpushed) {
			a.say("to merge the work: git merge %s", k.Branch)
		}
	}
}

// tellHoused says where the files are of an ended run that had a checkout of its own on
// another host, and how to get the work.
func (a *app) tellHoused(s *story.Story, id belay.RunID) {
	d := s.Housed()
	if d == nil {
		return
	}
	a.say("the files of the run are in %s on host %s", readable.Clean(d.Dir), readable.Clean(d.Host))
	if from := s.Cloned(); from != "" {
		a.say("they are a clone: %s", readable.Clean(from))
		return
	}
	a.say("to get the work from the remote of --snapshots-to: git fetch REMOTE refs/belay/%s/files; its branches are refs/belay/%s/heads/NAME", id, id)
}

func stepOf(p belay.Path) string {
	if p == "" {
		return ""
	}
	return ":" + string(p)
}

func (l leftover) what() string {
	switch {
	case l.Pid != 0:
		return fmt.Sprintf("%d %s", l.Pid, l.Path)
	case l.Ref != "":
		return l.Ref
	case l.Path != "" && l.Branch == "":
		return l.Path
	case l.Path != "" && l.Missing:
		return l.Branch + ", its folder is gone"
	case l.Path != "" && l.Kind == string(worktree.KindWorktree):
		return l.Branch + " in " + l.Path
	}
	return l.Branch
}

func (l leftover) size() string {
	if l.Kind != string(worktree.KindWorktree) || l.Missing {
		return "-"
	}
	return onDisk(l.Size, l.AtLeast)
}

func (l leftover) work() string {
	var parts []string
	if l.Dirty {
		parts = append(parts, "uncommitted")
	}
	if l.Unpushed > 0 {
		parts = append(parts, fmt.Sprintf("%d unpushed", l.Unpushed))
	}
	if l.Ignored > 0 {
		parts = append(parts, fmt.Sprintf("%d ignored, %s", l.Ignored, readable.Size(l.Bytes)))
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}

func (l leftover) fate(dry bool) string {
	switch {
	case l.Error != "":
		return "failed: " + l.Error
	case l.Removed:
		return "removed"
	case l.Safe && dry:
		return "can be removed"
	}
	var why []string
	for _, w := range l.Why {
		why = append(why, cmp.Or(keptBecause[worktree.Reason(w)], w))
	}
	return "kept: " + strings.Join(why, ", ")
}
