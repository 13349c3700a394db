package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/worktree"
)

// inPlaceVar is the variable of a task whose changes are made in the directory itself.
const inPlaceVar = "in_place"

// workPlace is where a task is worked on.
type workPlace struct {
	isolate bool   // Development has a worktree and a branch of its own
	why     string // it has not: why
	dirty   int    // files that are not in that worktree
}

// placeOf decides where a task is worked on, or refuses before any agent starts:
// 8 for what is wrong with the machine, 65 for a directory that nobody can work in.
// Which of them it is never becomes known from the words of git.
func placeOf(g worktree.Ground, dir string, inPlace bool) (workPlace, error) {
	refuse := func(code int, cause, hint string) (workPlace, error) {
		return workPlace{}, exit.New(code, "look at "+dir, errors.New(cause), hint)
	}
	const orHere = "; or work in the directory itself with --in-place"
	switch g.Kind {
	case worktree.GroundNoGit:
		return refuse(exit.Infra, "it is in a git repository, and there is no git: "+g.Words, "install git, or put it on the PATH")
	case worktree.GroundUnreadable:
		return refuse(exit.Infra, "git does not read its repository: "+g.Words, "make this work first: git -C "+dir+" status")
	case worktree.GroundBare:
		return refuse(exit.Invalid, "it is a bare repository: there are no files to work on", "start in a clone: git clone "+dir+" FOLDER")
	case worktree.GroundInside:
		return refuse(exit.Invalid, "it is in the folder that git keeps for itself", "start in the working tree of the repository")
	case worktree.GroundUnfinished:
		return refuse(exit.Invalid, g.Words, "finish or abort it first: git status says how")
	case worktree.GroundNone:
		return workPlace{why: "it is in no git repository"}, nil
	case worktree.GroundEmpty, worktree.GroundUnlike:
		return workPlace{why: g.Words}, nil
	case worktree.GroundUncovered:
		if !inPlace {
			return refuse(exit.Invalid, g.Words+": a worktree would not have it", "commit something in it"+orHere)
		}
	case worktree.GroundUnfit:
		if !inPlace {
			return refuse(exit.Infra, g.Words+": there can be no worktree", "fix that"+orHere)
		}
	case worktree.GroundReady:
	}
	if inPlace {
		return workPlace{why: "--in-place"}, nil
	}
	return workPlace{isolate: true, dirty: g.Dirty}, nil
}

// settle has the run work there. What is only looked at and what is an operation is
// in the directory itself anyway: a worktree would be made for nothing.
func (a *app) settle(p workPlace, dir, kind string, o *doOptions) error {
	if o.planOnly {
		return nil
	}
	change := kind == "" || kind == development
	o.isolate = p.isolate && change
	if p.isolate || !change {
		a.announce(p, dir, kind)
		return nil
	}
	if o.publish != "none" {
		return exit.New(exit.Invalid, "", fmt.Errorf("--publish %s: there is no branch to publish, because changes are made in %s itself (%s)", o.publish, dir, p.why), "leave --publish out")
	}
	o.single, o.alone = true, dir
	a.announce(p, dir, kind)
	return nil
}

// announce says where a task is worked on, when that is not what everybody expects.
func (a *app) announce(p workPlace, dir, kind string) {
	ifSo := ""
	if kind == "" { // the classifying agent says it
		ifSo = " (this concerns Development tasks)"
	}
	switch {
	case kind != "" && kind != development:
	case !p.isolate:
		a.say("changes are made in %s itself (%s): one workstream at a time, no branch, no commit", dir, p.why)
	case p.dirty == 1:
		a.say("1 uncommitted file is not in the worktree: commit it, or use --in-place%s", ifSo)
	case p.dirty > 1:
		a.say("%d uncommitted files are not in the worktree: commit them, or use --in-place%s", p.dirty, ifSo)
	}
}

// alone keeps a second task from changing the same directory in place.
func (a *app) alone(state, dir string) (func(), error) {
	release, free, err := worktree.Alone(filepath.Join(state, "in-place"), dir)
	switch {
	case err != nil:
		return nil, exit.New(exit.Infra, "", err, "")
	case !free:
		return nil, exit.New(exit.Busy, "", fmt.Errorf("another task changes %s in place", worktree.Whole(dir)),
			"wait until it is done (belay runs), or leave --in-place out where the directory is in a git repository with a commit")
	}
	return release, nil
}

// changesInPlace tells whether a run that was begun before does its work in the
// directory itself.
func changesInPlace(o *engine.Open) bool {
	v, ok := o.Tree.Started().Vars[inPlaceVar]
	var is bool
	return ok && v.Inline() && json.Unmarshal(v.JSON, &is) == nil && is && doesTask(o)
}

// beginTask starts the run of a task, and says at its end what it did to the user's files.
func (a *app) beginTask(ctx context.Context, cmd *cobra.Command, vars map[string]json.RawMessage, dir string, o doOptions) error {
	was := look{}
	o.ownRecipes, o.made = true, o.withWhole()
	if !o.planOnly && !o.detach && o.alone != "" {
		state, _ := a.stateDir() // begin says what is wrong with it
		was = lookAt(ctx, dir, state)
	}
	err := a.begin(ctx, cmd, doRecipe, vars, o.runOptions)
	if a.subject != "" {
		a.tellSince(ctx, was)
	}
	return err
}

// sayReplaced says which recipe is not the shipped one, and which file that could be
// taken for one is not.
func (a *app) sayReplaced(set *library.Set) {
	for _, r := range set.Replaced {
		if r.Taken {
			a.say("recipe %s: using %s instead of the shipped one", r.Name, r.File)
		} else {
			a.say("recipe %s: using the shipped one; to use %s of the project, add -R %s", r.Name, r.File, filepath.Dir(r.File))
		}
	}
}

// tellBeside says at the end what changed in the user's own checkout while agents
// worked in worktrees.
func (a *app) tellBeside(b *story.UserCheckout) {
	switch {
	case b.Warns():
		a.warn(b.Words(shownPaths))
	case b != nil && len(b.Changed) > 0:
		a.say("%s", readable.Clean(b.Words(shownPaths)))
	}
	for _, words := range b.Taken() {
		if b.Warns() {
			a.warn(words)
		} else {
			a.say("%s", readable.Clean(words))
		}
	}
}

// look is how the user's own files stood when a task in place began.
type look struct {
	dir, state string
	files      worktree.Listing
	head       string // the commit that was checked out
}

// standWithin bounds the look at the user's own files.
const standWithin = time.Minute

// lookAt looks at the user's own files. What cannot be seen is not missed: the look
// is for a line at the end.
func lookAt(ctx context.Context, dir, state string) look {
	ctx, cancel := context.WithTimeout(ctx, standWithin)
	defer cancel()
	l := look{dir: dir, state: state}
	l.files, _ = worktree.ListFiles(ctx, dir, state) // nothing is known, and nothing is said
	l.head = worktree.HeadOf(ctx, dir)
	return l
}

// tellSince says at the end of work in place what changed.
func (a *app) tellSince(ctx context.Context, was look) {
	if was.files == nil {
		return
	}
	now := lookAt(context.WithoutCancel(ctx), was.dir, was.state)
	if now.files == nil {
		return
	}
	list := now.files.Since(was.files)
	if len(list) == 0 {
		a.say("no file in %s was changed", was.dir)
		return
	}
	for _, path := range now.files.Gone(was.files) {
		list[slices.Index(list, path)] += " (deleted)"
	}
	committed := "nothing was committed"
	if now.head != was.head {
		committed = "something was committed or checked out there"
	}
	a.say("%s changed in %s, and %s: %s", readable.Many(len(list), "file"), was.dir, committed, named(list))
}

// shownPaths is how many paths are named in a line.
const shownPaths = 5

func named(list []string) string {
	more := ""
	if len(list) > shownPaths {
		list, more = list[:shownPaths], fmt.Sprintf(" and %d more", len(list)-shownPaths)
	}
	return readable.Clean(strings.Join(list, ", ")) + more
}
