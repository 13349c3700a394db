package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/worktree"
)

func (a *app) rmCommand() *cobra.Command {
	var asJSON bool
	cmd := command("rm RUN", "remove a run that has ended, with its records and logs", 1, 1,
		func(ctx context.Context, _ *cobra.Command, given []string) error { return a.rm(ctx, given[0], asJSON) })
	cmd.Long = `rm removes a run that has ended: its journal, receipt, outputs and logs. Nothing of
them is kept; belay prune keeps them in one small file instead.

A run that somebody drives, one that has not ended, and one with processes left are
refused. What the run left in a repository goes only with the proof that belay gc
asks for: while a worktree must stay, so does the run, and so while it has files that it
put away because an earlier round was better, which may be nowhere else; a branch or a snapshot with
work that exists nowhere else is kept, and named.`
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object for each thing that was removed or kept")
	return cmd
}

func (a *app) rm(ctx context.Context, arg string, asJSON bool) (err error) {
	st, err := a.openState()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", st.Close)
	if st.Still() != nil {
		return st.Still()
	}
	id, err := runID(st, arg)
	if err != nil {
		return err
	}
	if err := a.person(st, "rm", id); err != nil {
		return err
	}
	if err := a.wholeRun(st, "rm", id); err != nil {
		return err
	}
	old, err := a.endedRun(ctx, st, id)
	if err != nil {
		return err
	}
	leaves := false
	for i := range old.things {
		l := &old.things[i]
		if l.Safe {
			l.take(ctx)
		}
		if l.Error != "" {
			return exit.New(exit.Infra, "rm", fmt.Errorf("%s %s: %s", l.Kind, l.what(), l.Error), "the run is still there; nothing of its records was removed")
		}
		leaves = leaves || !l.Removed
	}
	if why := old.stays(); len(why) > 0 { // one of them is not safe any more
		return old.notRemoved(why)
	}
	err = st.Remove(id, leaves, func(v *journal.View) error {
		_, tree, err := a.describe(v, id)
		if err == nil && !tree.Status().Terminal() {
			err = &journal.InUse{Why: "it has not ended"}
		}
		return err
	})
	var used *journal.InUse
	if errors.As(err, &used) {
		return old.notRemoved([]string{used.Why})
	}
	if err != nil {
		return err
	}
	a.sayRemoved(old, st.Folder(id), asJSON)
	return nil
}

// endedRun is a run that may be removed, with what it left behind.
func (a *app) endedRun(ctx context.Context, st *journal.State, id belay.RunID) (*oldRun, error) {
	sums, err := st.RunsNamed(id)
	if err != nil {
		return nil, err
	}
	if len(sums) == 0 {
		return nil, journal.NeverBegan(id)
	}
	l := lineOf(sums[0])
	if l.Crashed {
		l = l.mended(st, sums[0].Beat)
	}
	old := &oldRun{line: l, last: heardOf(sums[0])}
	for _, thing := range a.leftovers(ctx, st, sums, false) {
		if thing.Run.Root() == id {
			old.things = append(old.things, thing)
		}
	}
	if l.Pid != 0 || sums[0].Beginning {
		return nil, exit.New(exit.Busy, "rm", fmt.Errorf("run %s is not removed: process %d drives it", id, l.Pid), fmt.Sprintf("belay cancel %s ends it for good", id))
	}
	if why := old.stays(); len(why) > 0 {
		return nil, old.notRemoved(why)
	}
	return old, nil
}

func (r *oldRun) notRemoved(why []string) error {
	id := r.line.ID
	hint := fmt.Sprintf("belay cancel %s ends it for good; belay gc %s lists what it left behind", id, id)
	if r.line.Status.Terminal() {
		hint = fmt.Sprintf("belay gc %s lists what it left behind", id)
		for i := range r.things {
			if l := &r.things[i]; l.Kind == filesKind {
				return exit.New(exit.Invalid, "rm", fmt.Errorf("run %s is not removed: %s", id, strings.Join(why, "; ")), putAwayCure(l.Path)+"; then belay rm "+string(id))
			}
		}
		for _, c := range cures() {
			if slices.ContainsFunc(r.things, func(l leftover) bool { return !l.Removed && slices.Contains(l.Why, string(c.reason)) }) {
				hint = fmt.Sprintf("%s; then belay gc %s --yes, and belay rm %s", c.cure, id, id)
				break
			}
		}
	}
	return exit.New(exit.Invalid, "rm", fmt.Errorf("run %s is not removed: %s", id, strings.Join(why, "; ")), hint)
}

// sayRemoved says what is gone with a run, and what is still there.
func (a *app) sayRemoved(old *oldRun, folder journal.Folder, asJSON bool) {
	if asJSON {
		a.object(leftover{Kind: "run", Run: old.line.ID, Status: string(old.line.Status), Path: string(folder), Safe: true, Removed: true})
		for _, l := range old.things {
			a.object(l)
		}
		return
	}
	a.out.line("removed: run %s (%s, %s, %s), its records and logs", old.line.ID, readable.Clean(old.line.Recipe), old.line.Status, old.last.Local().Format(time.DateTime))
	for _, l := range old.things {
		if l.Removed {
			a.out.line("removed: %s %s", l.Kind, readable.Clean(l.what()))
		}
	}
	for _, l := range old.things {
		if l.Removed {
			continue
		}
		cure := "git branch -D " + story.Quote(l.Branch)
		if l.Kind == string(worktree.KindSnapshot) {
			cure = "git update-ref -d " + story.Quote(l.Ref)
		}
		a.out.line("kept: %s %s (%s); to remove it: %s", l.Kind, readable.Clean(l.what()), strings.Join(l.Why, ", "), cure)
	}
}
