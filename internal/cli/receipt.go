package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/receipt"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/worktree"
)

type receiptOptions struct {
	json  bool
	check bool
}

func (a *app) receiptCommand() *cobra.Command {
	var o receiptOptions
	cmd := command("receipt RUN", "print what a run did, on what evidence, and what is left", 1, 1,
		func(ctx context.Context, _ *cobra.Command, args []string) error {
			return a.readFiles(args[0], func(s *runView) error { return a.receipt(ctx, s, o) })
		})
	cmd.Long = `Print the receipt of a run as Markdown: its task, the criteria with the evidence for
each, the answer, what changed, what failed and was recovered, what is unproven, what it
cost, what is left, and the commands to look at the work, continue it and undo it.

--check runs again the checks that Belay ran and that passed. Checks of criteria run on
a copy of the commit that has the work. The verify commands and tests of steps run in
the original directory, where they may write files. The receipt says where each check
ran. The exit code is that of the run if all checks pass, 1 if one fails, and 5 if none
fails but not all could be run.`
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	cmd.Flags().BoolVar(&o.check, "check", false, "run the recorded checks again, and say whether they still pass")
	cmd.ValidArgsFunction = a.completeRun
	return cmd
}

func (a *app) receipt(ctx context.Context, s *runView, o receiptOptions) error {
	if o.check && s.lies != nil {
		return exit.New(exit.Invalid, "check again", &journal.ReadOnly{Run: s.lies.Run, Imported: s.lies.Imported},
			"what its records name is not run here; leave out --check")
	}
	r := s.receipt(ctx, a.name())
	if o.check {
		if err := a.checkAgain(ctx, s, r); err != nil {
			return err
		}
	}
	if o.json {
		a.object(r)
	} else {
		a.out.markdown(r.Markdown())
	}
	if o.check {
		return quietly(r.Check.Code)
	}
	return nil
}

// receipt is that of the run, with what can be seen on this machine now.
func (s *runView) receipt(ctx context.Context, program string) *receipt.Receipt {
	f := seenNow(ctx, program, s.view.ReadBlob)
	f.Alive, f.Beat, f.Work, f.Together = s.alive(), s.view.Beat().At, s.work, s.together
	names := tui.NewNames(s.Tree)
	f.Named, f.Typed = names.From(s.id), names.Typed
	if s.lies == nil && s.state != nil {
		f.Plan = planIn(s.state.Folder(s.id.Root()))
	}
	if f.Lies = s.lies != nil; f.Lies && s.lies.Imported {
		f = unseen(f)
	}
	return receipt.Of(s.Story, s.id, f)
}

// keeps tells whether a snapshot of an attempt is still there.
func (s *runView) keeps(ctx context.Context, k belay.Key, ref string) bool {
	imported := s.lies != nil && s.lies.Imported
	return ref != "" && !imported && s.commit(ctx, s.place(k), ref) != ""
}

// unseen is a receipt's view of a machine that is another one: nothing of what the
// run worked on is there, and no program looks at the paths that a stranger wrote.
func unseen(f receipt.Facts) receipt.Facts {
	f.There = func(string) bool { return false }
	f.Top = func(string) string { return "" }
	f.State = func(string) belay.TreeState { return belay.TreeState{Error: "it is on another machine"} }
	f.Commit = func(string, string) string { return "" }
	f.Between = func(string, string, string, string) (worktree.Range, error) {
		return worktree.Range{}, errors.New("it is on another machine")
	}
	f.Holding = func(string, string, string, string) string { return "" }
	return f
}

// seenNow is what a receipt has from the machine.
func seenNow(ctx context.Context, program string, blob func(sha string, most int64) ([]byte, error)) receipt.Facts {
	return receipt.Facts{
		Facts: story.Facts{Now: time.Now(), Text: blobs(blob), Watched: true}, Program: program, There: there, Top: worktree.Whole,
		State:  func(dir string) belay.TreeState { return worktree.Glance(ctx, dir) },
		Commit: func(dir, name string) string { return worktree.CommitOf(ctx, dir, name) },
		Between: func(dir, from, tip, tree string) (worktree.Range, error) {
			return worktree.Between(ctx, dir, from, tip, tree)
		},
		Holding: func(dir, from, to, tree string) string { return worktree.Holding(ctx, dir, from, to, tree) },
	}
}

// keepReceipt writes the receipt of a run that rests into its folder, while the
// run is still open. It can be made anew from the journal at any time: that it
// could not be written is worth a word, and does not change how the run ended.
// It gives the story that the receipt tells.
func (a *app) keepReceipt(ctx context.Context, st *journal.State, o *engine.Open) *story.Story {
	recs, err := o.Records()
	told := story.Tell(o.Tree, recs)
	if err == nil {
		err = a.writeReceipt(context.WithoutCancel(ctx), st, o, told)
	}
	if err != nil {
		a.complain(fmt.Errorf("keep the receipt: %w", err))
	}
	return told
}

func (a *app) writeReceipt(ctx context.Context, st *journal.State, o *engine.Open, told *story.Story) error {
	f := seenNow(ctx, a.name(), o.Blob)
	f.Plan = planIn(st.Folder(o.ID))
	names := tui.NewNames(told.Tree)
	f.Alive, f.Together, f.Named, f.Typed = true, together(st, o.ID), names.From(o.ID), names.Typed
	r := receipt.Of(told, o.ID, f)
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	dir := string(st.Folder(o.ID))
	if err := putFile(filepath.Join(dir, "receipt.json"), append(b, '\n')); err != nil {
		return err
	}
	return putFile(filepath.Join(dir, "receipt.md"), []byte(strings.Join(r.Markdown(), "\n")+"\n"))
}

// putFile puts a file in its place at once: a reader sees all of it or none.
func putFile(path string, b []byte) error {
	part := path + ".part"
	if err := os.WriteFile(part, b, 0o600); err != nil {
		return err
	}
	return os.Rename(part, path)
}
