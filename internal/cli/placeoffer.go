package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/check"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/worktree"
)

// home prints the worktree of the run as JSON: the steps after it are given that, because
// the mark in the repository is a text that agents can change.
func (r runPlace) home(ctx context.Context) error {
	h, _ := worktree.HomeOf(ctx, ".", r.run)
	r.object(h)
	return nil
}

// homeIn reads what home printed; nil = it is not on record.
func homeIn(text string) (*worktree.Home, error) {
	var h worktree.Home
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		return nil, invalid("read where the run works", err, "")
	}
	if h.Work == "" {
		return nil, nil
	}
	return &h, nil
}

// offer puts the branch of the run at what was judged best, and says what is in the
// worktree beside what was judged last.
func (r runPlace) offer(ctx context.Context, commit, last, home, issue string) error {
	h, err := homeIn(home)
	if err != nil {
		return err
	}
	if h == nil { // an earlier Belay began the run
		if of, ok := worktree.HomeOf(ctx, ".", r.run); ok {
			h = &of
		}
	}
	number, _ := strconv.Atoi(issue) // without one the branch keeps its name
	branch, err := worktree.Offer(ctx, ".", r.run, h, commit, number)
	if err != nil {
		return infra("offer the result", err)
	}
	o := struct {
		Branch   string   `json:"branch"`
		Commit   string   `json:"commit"`
		Warnings []string `json:"warnings,omitempty"`
	}{Branch: branch, Commit: commit}
	if h != nil && branch != h.Branch && worktree.ForIssue(h.Branch, number, r.run) == h.Branch { // else that one was not wanted any more
		o.Warnings = append(o.Warnings, fmt.Sprintf("the branch %s was moved, checked out or made by somebody else; the result is on %s", h.Branch, branch))
	}
	look, err := worktree.After(ctx, ".", cmp.Or(last, commit))
	if err != nil {
		return infra("offer the result", err)
	}
	if look != "" {
		o.Warnings = append(o.Warnings, "the worktree was changed after the work was judged, by somebody else; that is not part of the result: git -C "+story.Quote(here())+" "+look)
	}
	r.object(o)
	return nil
}

// pushes looks whether origin leads where it led before the first agent began: agents can
// change that, and what is published goes where the user said.
func (r runPlace) pushes(ctx context.Context, want string) error {
	if check.PushesTo(ctx, ".", r.environ) == want {
		return nil
	}
	return exit.New(exit.Failed, "", errors.New("nothing was pushed: the remote origin does not lead where it led when the run began; an agent or somebody else changed the settings of git. Look: git remote -v, git config --show-origin --get-regexp '^(remote|url)'; put it back, and resume the run"), "")
}

// gitFolder is the folder of a run with the settings of git as they were before its first
// agent.
const gitFolder = "git"

// asBefore has git set as it was when the run of a step began.
func (r runPlace) asBefore(ctx context.Context) (context.Context, error) {
	ctx, err := worktree.WithSettings(ctx, ".", filepath.Join(r.folder(), gitFolder))
	return ctx, infra("read the settings of git", err)
}

// asBegun is asBefore for a command that need not be a step.
func (a *app) asBegun(ctx context.Context, dir string) (context.Context, error) {
	run := belay.RunID(a.env("BELAY_RUN_ID")).Root()
	state, err := a.stateDir()
	if run == "" || err != nil {
		return ctx, nil //nolint:nilerr // it is the step of no run
	}
	ctx, err = worktree.WithSettings(ctx, dir, filepath.Join(runPlace{app: a, run: run, state: state}.folder(), gitFolder))
	return ctx, infra("read the settings of git", err)
}

// keepGit keeps how git is set before the first agent of a task begins.
func keepGit(ctx context.Context, dir string, folder journal.Folder) error {
	return infra("keep the settings of git", worktree.KeepSettings(ctx, dir, filepath.Join(string(folder), gitFolder)))
}

// origin looks at a branch of origin, or pushes a commit to one, with git as it was set when
// the run began: no setting that came since says where that is, or by which program.
func (r runPlace) origin(ctx context.Context, home, verb, branch, commit string) error {
	top, err := worktree.MainTop(ctx, ".", home)
	if err != nil {
		return infra("find origin", err)
	}
	o := check.Origin{Dir: top, Env: r.environ}
	if kept := filepath.Join(r.folder(), gitFolder); there(kept) {
		room, err := os.MkdirTemp(r.folder(), "origin-")
		if err != nil {
			return infra("find origin", err)
		}
		defer func() { _ = os.RemoveAll(room) }() // it lies in the folder of the run
		o.Git, o.Set = filepath.Join(room, "git"), worktree.SettingsEnv(kept)
		if err := worktree.Apart(ctx, ".", o.Git); err != nil {
			return infra("find origin", err)
		}
	}
	if verb == "push" {
		if err := o.Push(ctx, commit, branch, check.Streams{Out: r.std.Err, Err: r.std.Err}); err != nil {
			return exit.New(exit.Failed, "", err, "")
		}
		return nil
	}
	id, err := o.At(ctx, branch, r.std.Err)
	if err != nil {
		return exit.New(exit.Failed, "", err, "")
	}
	r.out.line("%s", id)
	return nil
}
