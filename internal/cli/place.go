package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/worktree"
)

// placeCommand tells a script of a shipped recipe about the files that it works on.
//
//	own            exits with 0 where the branch that is checked out was made for this run
//	tree           prints the tree of the files as they are
//	add            adds all files to the index but those that git cannot take, which it names
//	begin NAME [TREE]  tells as JSON where the work begins, and lists the files that are not
//	                   the run's alone; TREE is what the first round began with
//	list NAME      writes down which files there are, and what is in them
//	changed NAME   names the files that are not as they were then
//	deleted NAME   warns of the files that are not there any more, and that nobody has
//	same NAME      fails, and names them, when there are any
//	keep NAME      keeps the content of the files that begin has listed
//	back NAME SEEN brings them back, and tells as JSON whether it could; SEEN is the list of
//	               the last look
//	edited         prints the plan in the folder of the run, where it is another than was reviewed
//	named TREE COMMIT  names the places in which what changed between them names the worktree
//	settle BRANCH COMMIT  brings the worktree to the commit, keeps what else is there and says so
//	mend TOP HOME  makes TOP a worktree of the repository of HOME again, when somebody put another in its place
//	aside          says which work was committed here on another branch, and left there
func (a *app) placeCommand() *cobra.Command {
	cmd := command("place own|tree|add|begin|aside|named|settle|mend|edited|list|changed|deleted|same|keep|back [NAME]", "look at the files of a run (started by belay itself)", 1, 3,
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			run := belay.RunID(a.env("BELAY_RUN_ID")).Root()
			state, err := a.stateDir()
			if err != nil {
				return err
			}
			if run == "" {
				return exit.New(exit.Invalid, "look at the files", errors.New("this is not a step of a run"), "")
			}
			switch args[0] {
			case "own":
				if !worktree.MadeFor(ctx, ".", run) {
					return quietly(exit.Failed)
				}
				return nil
			case "tree":
				c, err := worktree.CheckoutOf(ctx, ".", run)
				if err != nil {
					return exit.New(exit.Infra, "look at the files", err, "")
				}
				a.out.line("%s", c.Tree)
				return nil
			case "add":
				return a.addAll(ctx)
			case "aside":
				return a.asides(ctx)
			case "edited":
				return a.editedPlan(filepath.Join(state, "runs", string(run)))
			case "settle", "mend":
				if len(args) < 3 {
					return usage(cmd, errors.New("it needs two more words"))
				}
				if args[0] == "mend" {
					return a.mend(ctx, args[1], args[2])
				}
				return a.settleAt(ctx, run, args[1], args[2])
			case "named":
				if len(args) < 3 {
					return usage(cmd, errors.New("it needs a tree and a commit"))
				}
				list, err := worktree.OwnPath(ctx, ".", run, args[1], args[2])
				if err != nil {
					return exit.New(exit.Infra, "look at the files", err, "")
				}
				a.out.lines(list)
				return nil
			}
			if len(args) < 2 || !idForm().MatchString(args[1]) {
				return usage(cmd, errors.New("it needs a name"))
			}
			file := filepath.Join(state, "runs", string(run), "files-"+args[1])
			switch args[0] {
			case "begin":
				return a.beginIn(ctx, run, append(args, "")[2], file, state)
			case "keep":
				return keepListed(ctx, file)
			case "back":
				return a.putBack(ctx, file, filepath.Join(filepath.Dir(file), "files-"+append(args, "")[2]), state)
			}
			if err = a.lookFor(ctx, args[0], file, state); err != nil {
				return invalid("look at the files", err, "")
			}
			return nil
		})
	cmd.Hidden = true
	return cmd
}

// asides names work that was committed on another branch than the one that counts, and
// how to look at it.
func (a *app) asides(ctx context.Context) error {
	list, err := worktree.Asides(ctx, ".")
	if err != nil {
		return exit.New(exit.Infra, "look at the files", err, "")
	}
	for _, w := range list {
		where, tip := "on branch "+w.Branch, w.Branch
		if w.Branch == "" {
			where, tip = "on no branch", w.Commit[:12]
		}
		a.out.line("%d %s %s (%.12s) %s left out: the agent went back from it; look: git log -p %s",
			w.Commits, plural(w.Commits, "commit"), where, w.Commit, areOr(w.Commits), story.Quote(w.Base[:12]+".."+tip))
	}
	return nil
}

func areOr(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// addAll adds all files to the index, and names what is no part of the work.
func (a *app) addAll(ctx context.Context) error {
	left, err := worktree.AddAll(ctx, ".")
	if err != nil {
		return exit.New(exit.Infra, "add the files", err, "")
	}
	for _, path := range left {
		a.out.line("warning: %s is a git repository of its own, without a commit: no file in it is part of the work; make them part of it: rm -r %s", story.Quote(path), story.Quote(filepath.Join(path, ".git")))
	}
	return nil
}

// mend puts the .git of a worktree back that somebody replaced.
func (a *app) mend(ctx context.Context, top, home string) error {
	aside, err := worktree.Relink(ctx, home, top)
	if err != nil {
		return exit.New(exit.Infra, "mend the worktree", err, "")
	}
	if aside != "" {
		aside = "; what was there is in " + aside
	}
	a.out.line("warning: an agent took away the .git of the worktree: it was put back, and the work is judged by its files%s", aside)
	return nil
}

// settleAt brings the worktree of a run to a commit. What else is there is somebody's: it
// is kept, and told.
func (a *app) settleAt(ctx context.Context, run belay.RunID, branch, commit string) error {
	refs, err := worktree.Settle(ctx, ".", run, belay.Path(a.env("BELAY_STEP")), branch, commit)
	if err != nil {
		return exit.New(exit.Infra, "bring the worktree back", err, "")
	}
	for _, ref := range refs {
		a.out.line("warning: %s", afterWords(commit, ref))
	}
	return nil
}

// afterWords say where that is kept which came into a worktree after it was judged.
func afterWords(commit, ref string) string {
	return fmt.Sprintf("the worktree was changed after the work was judged, by somebody else; that is not part of the result, and is kept: git diff %.12s %s", commit, ref)
}

// beginIn tells where the work of a round begins.
func (a *app) beginIn(ctx context.Context, run belay.RunID, origin, file, state string) error {
	c, err := worktree.CheckoutOf(ctx, ".", run)
	if err != nil {
		return exit.New(exit.Infra, "look at the files", err, "")
	}
	mine := c.Own && c.Apart
	if !mine { // the directory is somebody else's
		if err := a.lookFor(ctx, "list", file, state); err != nil {
			return invalid("look at the files", err, "")
		}
	}
	a.object(struct {
		worktree.Checkout
		Origin string `json:"origin"`
		Mine   bool   `json:"mine"`
	}{c, cmp.Or(origin, c.Tree), mine})
	return nil
}

// keptFiles and laterFiles are folders of a run that works in a directory itself: the
// contents of files as rounds left them, and the files of later rounds that a better
// one replaced.
const (
	keptFiles  = "kept"
	laterFiles = "later"
)

// keepListed keeps the files of a list; without one there is nothing to keep.
func keepListed(ctx context.Context, file string) error {
	b, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = worktree.KeepFiles(ctx, ".", worktree.ReadListing(b), filepath.Join(filepath.Dir(file), keptFiles))
	}
	if err != nil {
		return exit.New(exit.Infra, "keep the files", err, "")
	}
	return nil
}

// putBack brings the files of a directory back to a list. That it cannot be is an
// answer, and no failure: then nothing was touched.
func (a *app) putBack(ctx context.Context, file, seen, state string) error {
	folder := filepath.Dir(file)
	got := struct {
		Kept  bool   `json:"kept"`
		Why   string `json:"why,omitempty"`
		Files int    `json:"files"`
		Aside string `json:"aside,omitempty"`
	}{}
	back := worktree.Back{Dir: ".", Store: filepath.Join(folder, keptFiles), Aside: filepath.Join(folder, laterFiles), Skip: []string{state}}
	to, err := os.ReadFile(file)
	last, also := os.ReadFile(seen)
	if err = errors.Join(err, also); err != nil {
		got.Why = "nobody listed them"
		a.object(got)
		return nil
	}
	back.To, back.Seen = worktree.ReadListing(to), worktree.ReadListing(last)
	paths, err := worktree.PutBack(ctx, back)
	var not *worktree.NotBack
	switch {
	case errors.As(err, &not):
		got.Why = not.Error()
	case err != nil:
		return exit.New(exit.Infra, "bring the files back", err, "")
	default:
		if got.Kept, got.Files = true, len(paths); there(back.Aside) {
			got.Aside = back.Aside
		}
		_ = os.RemoveAll(back.Store) // what is left of it is of no use, and harms nobody
	}
	a.object(got)
	return nil
}

func (a *app) lookFor(ctx context.Context, verb, file, state string) error {
	now, err := worktree.ListFiles(ctx, ".", state)
	if err != nil {
		return exit.New(exit.Infra, "look at the files", err, "")
	}
	if verb == "list" {
		return os.WriteFile(file, now.Bytes(), 0o600)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	list := now.Since(worktree.ReadListing(b))
	switch verb {
	case "changed":
		below, _ := worktree.Prefix(ctx, ".") // "" where there is no repository
		for _, path := range list {
			a.out.line("%s", path)
			if rest, ok := strings.CutPrefix(path, below+"/"); ok && below != "" {
				a.out.line("%s", rest) // as who works there says it
			}
		}
		return nil
	case "deleted":
		if gone := now.Gone(worktree.ReadListing(b)); len(gone) > 0 {
			a.out.line("warning: deleted in %s, which is in no git repository, so that Belay has no copy to bring back: %s", here(), named(gone))
		}
		return nil
	case "same":
		if len(list) > 0 {
			return exit.New(exit.Failed, "", fmt.Errorf("nothing was to be changed, and %d %s changed meanwhile: %s", len(list), plural(len(list), "file"), named(list)), "")
		}
		return nil
	}
	return fmt.Errorf("%q is none of own, tree, add, begin, aside, named, settle, mend, edited, list, changed, deleted, same, keep, back", verb)
}
