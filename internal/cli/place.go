package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/worktree"
)

// placeCommand tells a script of a shipped recipe about the files that it works on.
//
//	own            prints the branch that was made for this run, or exits with 1
//	private        has the worktree of the run worked on with a branch of its own, and prints
//	               that; nothing where there is no worktree
//	home           prints the worktree of the run as JSON, {} where there is none
//	begin NAME TREE COMMIT TYPE HOME   tells as JSON where the work of a round begins, and lists
//	               the files that are not the run's alone; TREE and COMMIT are what the first
//	               round began with
//	there BEGUN HOME       looks whether the repository is the one that the round began with,
//	               and mends the worktree when somebody put another in its place
//	commit BASE    commits all files, with the message on stdin
//	judge NAME BEGUN TYPE HOME   makes the commit that is judged, and tells as JSON what it has
//	offer COMMIT LAST HOME ISSUE   puts the branch of the run at the commit, named for the issue;
//	               LAST is what was judged last
//	pushes DIGEST  fails where git would push to another place for origin
//	origin HOME there BRANCH   prints the commit that a branch has at origin
//	origin HOME push BRANCH COMMIT   pushes a commit to a new branch there
//	tests COMMIT ROUND    names the test files that are not as they were at the commit, and keeps
//	               them as they are
//	untested ROUND ITEMS  forgets those of workstreams, by a list of their numbers
//	cited COMMIT PATH LINE QUOTE CRITERION END   tells as JSON whether the line, or one of those
//	               up to END, has the words
//	known COMMIT QUOTE CRITERION CRITERIA SURE   tells as JSON whether a cited commit was there
//	               when the run began, and has what is said of it
//	list NAME      writes down which files there are, and what is in them
//	changed NAME   names the files that are not as they were then
//	same NAME      fails, and names them, when there are any
//	back NAME SEEN brings them back, and tells as JSON whether it could; SEEN is the list of
//	               the last look
//	edited         prints the plan in the folder of the run, where it is another than was reviewed
func (a *app) placeCommand() *cobra.Command {
	cmd := command("place WHAT [NAME]", "look at the files of a run (started by belay itself)", 1, 7,
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			run := belay.RunID(a.env("BELAY_RUN_ID")).Root()
			state, err := a.stateDir()
			if err != nil {
				return err
			}
			if run == "" {
				return exit.New(exit.Invalid, "look at the files", errors.New("this is not a step of a run"), "")
			}
			verb, rest := args[0], append(args[1:], "", "", "", "", "", "")
			at := runPlace{app: a, run: run, state: state}
			if ctx, err = at.asBefore(ctx); err != nil {
				return err
			}
			switch verb {
			case "own":
				return at.own(ctx)
			case "private":
				return at.private(ctx)
			case "home":
				return at.home(ctx)
			case "there":
				return at.there(ctx, rest[0], rest[1])
			case "commit":
				return at.commit(ctx, rest[0])
			case "offer":
				return at.offer(ctx, rest[0], rest[1], rest[2], rest[3])
			case "tests":
				return at.tests(ctx, rest[0], rest[1])
			case "untested":
				return at.untested(rest[0], rest[1])
			case "origin":
				return at.origin(ctx, rest[0], rest[1], rest[2], rest[3])
			case "pushes":
				return at.pushes(ctx, rest[0])
			case "cited":
				return at.cited(ctx, rest)
			case "known":
				return at.known(ctx, rest)
			case "edited":
				return a.editedPlan(at.folder())
			case "settle", "tree", "add", "aside", "named", "mend", "keep", "deleted":
				return at.gone(verb)
			}
			if !idForm().MatchString(rest[0]) {
				return usage(cmd, errors.New("it needs a name"))
			}
			switch verb {
			case "begin":
				return at.begin(ctx, rest[0], rest[1], rest[2], rest[3], rest[4])
			case "judge":
				return at.judge(ctx, rest[0], rest[1], rest[2], rest[3])
			case "back":
				return a.putBack(ctx, at.list(rest[0]), at.list(rest[1]), state)
			}
			if err = a.lookFor(ctx, verb, at.list(rest[0]), state); err != nil {
				return invalid("look at the files", err, "")
			}
			return nil
		})
	cmd.Hidden = true
	return cmd
}

var placeVerbs = []string{"own", "private", "home", "begin", "there", "commit", "judge", "offer", "pushes", "origin", "tests", "untested", "cited", "known", "list", "changed", "same", "back", "edited"}

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

		PutAway []string `json:"put_away,omitempty"` // the first of the files that are there
		Away    int      `json:"away,omitempty"`     // how many there are
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
			if got.PutAway, got.Away, err = someFiles(back.Aside, maxPutAway); err != nil {
				return exit.New(exit.Infra, "bring the files back", err, "")
			}
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
		return errors.Join(os.WriteFile(file, now.Bytes(), 0o600), os.WriteFile(headOf(file), []byte(worktree.HeadOf(ctx, ".")), 0o600))
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	list := now.Since(worktree.ReadListing(b))
	switch verb {
	case "changed":
		a.out.lines(seenHere(ctx, list))
		return nil
	case "same":
		if len(list) > 0 {
			return exit.New(exit.Failed, "", fmt.Errorf("nothing was to be changed, and %s changed meanwhile: %s", readable.Many(len(list), "file"), named(list)), "")
		}
		return nil
	}
	return fmt.Errorf("%q is none of %s", verb, strings.Join(placeVerbs, ", "))
}
