package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Reason is the closed list of reasons not to remove something.
type Reason string

const (
	ReasonDirty      Reason = "dirty"      // uncommitted or untracked work
	ReasonUnpushed   Reason = "unpushed"   // commits that no other branch, remote or tag has
	ReasonIgnored    Reason = "ignored"    // files that git ignores: no commit and no snapshot holds them
	ReasonBusy       Reason = "busy"       // a process works in it
	ReasonLocked     Reason = "locked"     // somebody locked it with git
	ReasonSubmodules Reason = "submodules" // it has repositories of its own inside, or inside its git folder
	ReasonElsewhere  Reason = "elsewhere"  // the branch is checked out at another place
	ReasonForeign    Reason = "foreign"    // it does not carry our mark, or is not what the mark says
	ReasonUnknown    Reason = "unknown"    // it could not be looked at
)

// Unsafe is the refusal to remove or to reuse something that may hold work or
// belong to somebody else.
type Unsafe struct {
	Path, Branch string
	Why          []Reason
}

func (e *Unsafe) Error() string {
	var why []string
	for _, r := range e.Why {
		why = append(why, string(r))
	}
	return fmt.Sprintf("worktree %s (branch %s) is left alone: %s", e.Path, e.Branch, strings.Join(why, ", "))
}

// stubborn are the reasons that force does not overrule: it speaks about work
// of ours, never about what is somebody else's.
var stubborn = []Reason{ReasonElsewhere, ReasonForeign}

// Remove takes away a worktree and its branch when it is proven that nothing is
// lost by it; otherwise it gives *Unsafe. Reasons that somebody said do not
// matter are left aside; with force only what is not ours is refused. What is
// gone already is no error.
func Remove(ctx context.Context, m Made, force bool, aside ...Reason) error {
	if err := remove(ctx, m, force, aside, false); err != nil {
		return fmt.Errorf("remove worktree: %w", err)
	}
	return nil
}

// RemoveMerged takes away a worktree of a step, and its branch, when all that was
// done in it is merged: nothing in it is otherwise than at its last merge, or
// than it began. Files that git ignores go with it. Otherwise it gives *Unsafe. how
// says how it is looked at, wherever it is.
func RemoveMerged(ctx context.Context, m Made, how Tree) error {
	g := git{dir: m.Repo}
	marks, err := g.owners(ctx)
	if err != nil {
		return fmt.Errorf("remove worktree: %w", err)
	}
	branch, ours := markOf(marks, m.Run, m.Step)
	own := marks[branch]
	if ours && exists(own.Path) {
		how.Dir = own.Path
		p := how.State(ctx)
		busy, err := occupied(ctx, own.Path)
		switch {
		case p.Error != "" || own.Base == nil || err != nil:
			err = &Unsafe{Path: own.Path, Branch: branch, Why: []Reason{ReasonUnknown}}
		case p.Tree != own.Base.Tree || p.Head != own.Base.Commit:
			err = &Unsafe{Path: own.Path, Branch: branch, Why: []Reason{ReasonDirty}}
		case busy:
			err = &Unsafe{Path: own.Path, Branch: branch, Why: []Reason{ReasonBusy}}
		}
		if err != nil {
			return fmt.Errorf("remove worktree: %w", err)
		}
	}
	return Remove(ctx, m, true)
}

// remove is Remove; one that was found to have nothing uncommitted that other
// commits do not have is looked at in that way again.
func remove(ctx context.Context, m Made, force bool, aside []Reason, committed bool) error {
	g := git{dir: m.Repo}
	common, err := g.common(ctx)
	if err != nil {
		return err
	}
	release, err := lock(ctx, common)
	if err != nil {
		return err
	}
	defer release()
	marks, err := g.owners(ctx)
	if err != nil {
		return err
	}
	list, err := g.worktrees(ctx)
	if err != nil {
		return err
	}
	branch, ours := markOf(found(marks, list), m.Run, m.Step)
	own := marks[branch]
	if !ours {
		if tip, err := g.tip(ctx, m.Branch); err == nil && tip == "" && !exists(m.Path) {
			return nil
		}
		return &Unsafe{Path: m.Path, Branch: m.Branch, Why: []Reason{ReasonForeign}}
	}
	if !own.offers(m.Branch) { // agents can change a mark: a branch of the user goes with no worktree
		return &Unsafe{Path: m.Path, Branch: own.Offer, Why: []Reason{ReasonForeign}}
	}
	o := g.assess(ctx, branch, own, list, aside...)
	if committed {
		g.forgive(ctx, []*Owned{&o})
	}
	if m.Result && !slices.Contains(o.Why, ReasonUnpushed) && !g.arrived(ctx, own.Start, o.tips[0], m.Local) {
		o.Why = append(o.Why, ReasonUnpushed)
	}
	if why := o.keeps(force, aside); len(why) > 0 {
		return &Unsafe{Path: own.Path, Branch: branch, Why: why}
	}
	if o.committed && !force {
		if own, o, err = g.lastLook(ctx, branch, own, aside); err != nil {
			return err
		}
	}
	_, known := at(list, marks[branch].Path)
	o.committed = o.committed || slices.Contains(aside, ReasonDirty)
	return g.take(ctx, branch, own, o, known, force)
}

// arrived tells whether the commits of a branch are where its user works, or, unless
// that does not count, on a remote. That another local branch has them, too, is chance: two runs can make the
// same commit.
func (g git) arrived(ctx context.Context, start, tip string, local bool) bool {
	if tip == "" || tip == start {
		return true
	}
	args := []string{"rev-list", "--count", tip, "--not", "HEAD"}
	if !local {
		args = append(args, "--remotes")
	}
	out, err := g.line(ctx, args...)
	return err == nil && out == "0"
}

// keeps are the reasons that keep it, less those that somebody said do not
// matter.
func (o *Owned) keeps(force bool, aside []Reason) []Reason {
	return slices.DeleteFunc(slices.Clone(o.Why), func(r Reason) bool {
		return (force || slices.Contains(aside, r)) && !slices.Contains(stubborn, r)
	})
}

// take removes the folder that git knows, then the branch, then the mark: after
// a crash the mark still says whose the rest is.
func (g git) take(ctx context.Context, branch string, own owner, o Owned, known, force bool) error {
	if known {
		args := []string{"worktree", "remove", own.Path}
		if force || !o.Exists || !own.Ready {
			args = []string{"worktree", "remove", "--force", "--force", own.Path}
		} else if o.committed { // one that is locked stays
			args = []string{"worktree", "remove", "--force", own.Path}
		}
		if err := g.patient(ctx, args...); err != nil {
			return err
		}
	}
	refs := ""
	for i, name := range own.branches(branch) {
		tip, err := g.tip(ctx, name)
		if err != nil {
			return err
		}
		if tip != "" && o.tips[i] != "" {
			refs += "delete refs/heads/" + name + " " + o.tips[i] + "\n"
		}
	}
	if own.Base != nil {
		refs += "delete " + baseRef(own.Run, own.Step) + "\n"
	}
	if refs != "" {
		if err := g.patientFeed(ctx, refs, "update-ref", "--stdin"); err != nil {
			return err
		}
	}
	return g.unmark(ctx, branch)
}

// assess looks at what a mark stands for. What somebody said does not matter is not
// looked for.
func (g git) assess(ctx context.Context, branch string, own owner, list []linked, aside ...Reason) Owned {
	o := Owned{Kind: KindWorktree, Repo: g.dir, Path: own.Path, Branch: own.home(branch).Branch, Run: own.Run, Step: own.Step}
	why := func(r Reason) {
		if !slices.Contains(o.Why, r) {
			o.Why = append(o.Why, r)
		}
	}
	w, known := at(list, own.Path)
	o.Exists = exists(own.Path)
	if !known {
		o.Kind = KindBranch
		if o.Exists { // files that git does not know as a worktree
			why(ReasonForeign)
		}
	}
	if known && o.Exists && own.Ready { // else it was never handed out
		g.assessFolder(ctx, &o, why, aside)
	}
	if w.locked && own.Ready {
		why(ReasonLocked)
	}
	var err error
	for _, name := range own.branches(branch) {
		if _, taken := elsewhere(list, name, own.Path); taken {
			why(ReasonElsewhere)
		}
		tip, bad := g.tip(ctx, name)
		if bad != nil {
			why(ReasonUnknown)
		}
		o.tips = append(o.tips, tip)
	}
	if !slices.Contains(aside, ReasonUnpushed) {
		if o.Unpushed, err = g.alone(ctx, own.branches(branch), o.tips, w); err != nil {
			why(ReasonUnknown)
		}
	}
	if o.Unpushed > 0 {
		why(ReasonUnpushed)
	}
	o.Safe = len(o.Why) == 0
	return o
}

// assessFolder looks into the folder of a worktree.
func (g git) assessFolder(ctx context.Context, o *Owned, why func(Reason), aside []Reason) {
	busy, err := occupied(ctx, o.Path)
	if err != nil {
		why(ReasonUnknown)
	}
	if o.Busy = busy; busy {
		why(ReasonBusy)
	}
	at, err := find(ctx, g.program, o.Path)
	if err != nil || at.top != o.Path {
		why(ReasonUnknown)
		return
	}
	if !slices.Contains(aside, ReasonDirty) {
		if o.Dirty, err = at.dirty(ctx); err != nil {
			why(ReasonUnknown)
		}
	}
	if o.Dirty {
		why(ReasonDirty)
	}
	if !slices.Contains(aside, ReasonIgnored) {
		if o.Ignored, o.IgnoredBytes, err = at.ignored(ctx); err != nil {
			why(ReasonUnknown)
		}
	}
	if o.Ignored > 0 {
		why(ReasonIgnored)
	}
	if fi, err := os.Stat(filepath.Join(at.own, "modules")); err == nil && fi.IsDir() {
		why(ReasonSubmodules)
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		why(ReasonUnknown)
	}
	inside, err := at.fromIndex(ctx, func(r rawEntry) bool { return r.mode == 0o160000 })
	if err != nil {
		why(ReasonUnknown)
	}
	if slices.ContainsFunc(inside, func(e indexed) bool { return exists(filepath.Join(at.top, e.path, ".git")) }) {
		why(ReasonSubmodules) // a commit names it, and nothing else has its files
	}
}

// dirty tells whether a file is not as committed, whatever the flags of the
// index say about it.
func (p place) dirty(ctx context.Context) (bool, error) {
	own, done, err := p.apart(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	out, err := own.run(ctx, "status", "--porcelain", "-z", "--untracked-files=all", "--ignore-submodules=none", "--no-renames")
	return out != "", err
}

// unpushed counts the commits that only these branches of ours, or the HEAD of their
// worktree, have.
func (g git) unpushed(ctx context.Context, branches, tips []string, head string) (int, error) {
	args := []string{"rev-list", "--count"}
	for _, id := range append(slices.Clone(tips), head) {
		if strings.Trim(id, "0") != "" {
			args = append(args, id)
		}
	}
	if len(args) == 2 {
		return 0, nil
	}
	out, err := g.line(ctx, append(append(args, others(branches)...), "--")...)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(out)
}

// others leave out what any branch, remote or tag has but these branches.
func others(branches []string) []string {
	args := []string{"--not"}
	for _, name := range branches {
		args = append(args, "--exclude="+name)
	}
	return append(args, "--branches", "--remotes", "--tags")
}
