package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/worktree"
)

type gcOptions struct {
	run     string // "" = of all runs
	dry     bool
	yes     bool
	json    bool
	ignored bool
}

func (a *app) gcCommand() *cobra.Command {
	var o gcOptions
	cmd := command("gc [RUN]", "list what runs left behind, and with --yes remove what is safe to remove", 0, 1,
		func(ctx context.Context, cmd *cobra.Command, given []string) error {
			if o.dry && o.yes {
				return usage(cmd, errors.New("--dry-run and --yes say the opposite"))
			}
			o.dry = !o.yes
			if len(given) > 0 {
				o.run = given[0]
			}
			return a.gc(ctx, o)
		})
	cmd.Long = `gc lists every worktree, branch, snapshot and process that belay made, whose it is,
and whether it holds work that exists nowhere else; with RUN, those of one run. It
removes nothing unless --yes is given, and then only what is proven safe: of an
ended run, without uncommitted work, without commits that no other
branch, remote or tag has, without files that git ignores, and with no process in
it. A snapshot can be removed when all that it holds was committed since, file by file, on
a branch, a remote or a tag. The folder of a run that was killed before its first
record goes too, and the rest of one whose removal was cut off. Files that a run put away,
because an earlier round was better, stay until a person removes them. What each worktree takes on disk is in the list.
--ignored lets ignored files go; how many there are and how big is in the list.
A run that this state directory does not know may go on elsewhere: so its
things stay.`
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "remove nothing, only say what would go (the default)")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "remove what is safe to remove")
	cmd.Flags().BoolVar(&o.ignored, "ignored", false, "files that git ignores keep no worktree")
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object for each thing")
	return cmd
}

// leftover is one thing that a run left behind.
type leftover struct {
	Kind     string      `json:"kind"` // run, worktree, branch, snapshot, process or files
	Run      belay.RunID `json:"run"`
	Step     belay.Path  `json:"step,omitempty"`
	Status   string      `json:"status"` // of the run
	Path     string      `json:"path,omitempty"`
	Branch   string      `json:"branch,omitempty"`
	Ref      string      `json:"ref,omitempty"`
	Pid      int         `json:"pid,omitempty"`
	Dirty    bool        `json:"uncommitted,omitempty"`
	Unpushed int         `json:"unpushed,omitempty"`
	Ignored  int         `json:"ignored,omitempty"`       // files that git ignores
	Bytes    int64       `json:"ignored_bytes,omitempty"` // of them
	Safe     bool        `json:"safe"`
	Why      []string    `json:"why,omitempty"` // it is kept
	Removed  bool        `json:"removed"`
	Error    string      `json:"error,omitempty"`
	Missing  bool        `json:"missing,omitempty"`       // the folder of the worktree is gone
	Size     int64       `json:"size,omitempty"`          // of the folder, on disk
	AtLeast  bool        `json:"size_at_least,omitempty"` // there is more: not all was counted

	remove func(context.Context) error
}

func (a *app) gc(ctx context.Context, o gcOptions) (err error) {
	st, err := a.openState()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", st.Close)
	if !o.dry {
		if err := a.person(st, "gc", ""); err != nil {
			return err
		}
	}
	sums, err := a.listed(st)
	if err != nil {
		return err
	}
	empties, err := st.Empties()
	if err != nil {
		return err
	}
	remains, err := st.Remains()
	if err != nil {
		return err
	}
	archived, _, err := st.Archived() // what cannot be read is named by runs --archived
	if err != nil {
		return err
	}
	for _, lies := range archived {
		if !lies.Imported { // it cannot go on, and what it left in a repository can go like that of any other
			sums = append(sums, journal.Summary{ID: lies.Run, Dir: lies.Dir, Gone: true})
		}
	}
	list := append(append(halfRemoved(st, remains), emptyRuns(st, empties)...), a.leftovers(ctx, st, sums, o.ignored)...)
	if o.run != "" {
		if list, err = a.leftBy(st, list, o.run); err != nil {
			return err
		}
	}
	countSizes(ctx, list)
	failed := 0
	for i := range list {
		l := &list[i]
		if l.Safe && !o.dry {
			l.take(ctx)
		}
		if l.Error != "" {
			failed++
		}
		if o.json {
			a.object(*l)
		}
	}
	if !o.json {
		a.printLeft(list, o.dry)
	}
	if failed > 0 {
		return exit.New(exit.Infra, "gc", fmt.Errorf("%d of %d things could not be removed", failed, len(list)), "each line above says why")
	}
	return nil
}

// leftBy are the things of one run. It may be one that is in the archive, or gone.
func (a *app) leftBy(st *journal.State, list []leftover, arg string) ([]leftover, error) {
	id, err := runID(st, arg)
	switch {
	case err != nil:
		id = belay.RunID(arg)
	default:
		if err := a.wholeRun(st, "gc", id); err != nil {
			return nil, err
		}
	}
	list = slices.DeleteFunc(list, func(l leftover) bool { return l.Run.Root() != id })
	var lies *journal.ReadOnly
	if len(list) > 0 || errors.As(err, &lies) && id == id.Root() {
		err = nil
	}
	return list, err
}

// take removes a thing. One that is not safe any more, because of what went
// before it or of somebody else, is kept like any other.
func (l *leftover) take(ctx context.Context) {
	err := l.remove(ctx)
	var unsafe *worktree.Unsafe
	switch {
	case err == nil:
		l.Removed = true
	case errors.As(err, &unsafe):
		l.Safe = false
		for _, r := range unsafe.Why {
			l.Why = append(l.Why, string(r))
		}
	default:
		l.Error = err.Error()
	}
}

// countWithin bounds the counting of sizes, which nothing depends on.
const countWithin = 10 * time.Second

// countSizes counts what the worktrees take on disk.
func countSizes(ctx context.Context, list []leftover) {
	ctx, cancel := context.WithTimeout(ctx, countWithin)
	defer cancel()
	for i := range list {
		if l := &list[i]; l.Kind == string(worktree.KindWorktree) && !l.Missing {
			n, whole := worktree.Size(ctx, l.Path)
			l.Size, l.AtLeast = n, !whole
		}
	}
}

// leftovers looks at the folders of all runs and at the repositories that they
// worked in.
func (a *app) leftovers(ctx context.Context, st *journal.State, sums []journal.Summary, ignored bool) []leftover {
	status := map[belay.RunID]runLine{}
	repos, seen, asked := []string{}, map[string]bool{}, map[string]bool{}
	known := map[string]bool{} // folders of worktrees
	var list []leftover
	alive, err := proc.TakeCensus()
	if err != nil {
		a.say("warning: %v", err)
	}
	for _, sum := range sums {
		if !sum.Gone {
			l := lineOf(sum)
			if l.Crashed {
				l = l.mended(st, sum.Beat)
			}
			status[sum.ID] = l
			list = append(list, processesOf(st, alive, sum.ID, l)...)
			list = append(list, putAway(st, sum, l)...)
		} else {
			status[sum.ID] = runLine{Status: gone}
		}
		if sum.Dir == "" || asked[sum.Dir] { // none: of a run that cannot be read, and not the folder that we are in
			continue
		}
		asked[sum.Dir] = true
		if top, err := worktree.Top(ctx, sum.Dir); err == nil && !seen[top] {
			seen[top] = true
			repos = append(repos, top)
		}
	}
	for _, repo := range repos {
		owned, err := worktree.List(ctx, repo)
		if err != nil {
			a.say("warning: %s: %v", repo, err)
			continue
		}
		for _, o := range owned {
			known[o.Path] = true
			list = append(list, ownedBy(o, status, ignored))
		}
	}
	for _, sum := range sums {
		if sum.Gone {
			continue
		}
		strays, err := worktree.Strays(ctx, filepath.Join(string(st.Folder(sum.ID)), "trees"), known)
		if err != nil {
			a.say("warning: %s: %v", sum.ID, err)
		}
		for _, o := range strays {
			if o.Run == "" { // nothing but the place says whose it is
				o.Run = sum.ID
			}
			list = append(list, ownedBy(o, status, ignored))
		}
	}
	return list
}

// emptyRuns are the folders of runs that were killed before their first record.
func emptyRuns(st *journal.State, ids []belay.RunID) []leftover {
	var list []leftover
	for _, id := range ids {
		list = append(list, leftover{
			Kind: "run", Run: id, Status: "never began", Path: string(st.Folder(id)), Safe: true,
			remove: func(context.Context) error { return st.Clear(id) },
		})
	}
	return list
}

// halfRemoved are the folders of runs that somebody was killed in removing.
func halfRemoved(st *journal.State, remains map[string]belay.RunID) []leftover {
	var list []leftover
	for _, dir := range slices.Sorted(maps.Keys(remains)) {
		list = append(list, leftover{
			Kind: "run", Run: remains[dir], Status: "removed in part", Path: dir, Safe: true,
			remove: func(context.Context) error { return st.Finish(dir) },
		})
	}
	return list
}

// gone is what gc calls a run whose folder was removed: it cannot go on.
const gone belay.Status = "gone"

// ownedBy is a thing of a repository with the run that it belongs to. What an
// unended run has is kept whatever is in it: the run may go on. So may one that
// another state directory has.
func ownedBy(o worktree.Owned, runs map[belay.RunID]runLine, ignored bool) leftover {
	l := leftover{
		Kind: string(o.Kind), Run: o.Run, Step: o.Step, Path: o.Path, Branch: o.Branch, Ref: o.Ref,
		Dirty: o.Dirty, Unpushed: o.Unpushed, Ignored: o.Ignored, Bytes: o.IgnoredBytes, Status: "unknown",
		Missing: o.Kind == worktree.KindWorktree && !o.Exists,
	}
	var aside []worktree.Reason
	if ignored {
		aside = append(aside, worktree.ReasonIgnored)
	}
	l.remove = func(ctx context.Context) error { return o.Remove(ctx, aside...) }
	for _, r := range o.Why {
		if !slices.Contains(aside, r) {
			l.Why = append(l.Why, string(r))
		}
	}
	run, known := runs[o.Run.Root()]
	switch {
	case !known:
		l.Why = append(l.Why, "run unknown here")
	case run.Status != gone && !run.Status.Terminal():
		l.Why = append(l.Why, "the run has not ended")
	}
	if known {
		l.Status = string(run.Status)
	}
	l.Safe = len(l.Why) == 0
	return l
}

// processesOf are the processes of a run whose keeper is gone.
func processesOf(st *journal.State, alive proc.Census, id belay.RunID, run runLine) []leftover {
	dir := string(st.Folder(id))
	ids, held, err := alive.Left(dir, id)
	if err != nil {
		return nil // its folder cannot be read: runs and show tell why
	}
	var list []leftover
	for _, p := range ids {
		l := leftover{Kind: "process", Run: id, Status: string(run.Status), Pid: p.Pid, Path: program(p.Pid), Safe: !held,
			remove: func(context.Context) error { return proc.Sweep(dir, id) }}
		if held {
			l.Why = []string{"its keeper holds it"}
		}
		list = append(list, l)
	}
	return list
}

// program is the path of what a process runs, "" when it cannot be told.
func program(pid int) string {
	path, err := os.Readlink(filepath.Join("/proc", fmt.Sprint(pid), "exe"))
	if err != nil {
		return ""
	}
	return path
}
