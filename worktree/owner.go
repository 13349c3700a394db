package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/belay-run/belay"
)

// ownerKey marks a branch as made by Belay. The mark is in the repository's
// configuration, beside the branch's other settings: it outlives the worktree,
// follows the branch when it is renamed, and goes when git deletes the branch.
const ownerKey = "belay-owner"

// owner is the mark. It is written before the branch is made.
type owner struct {
	Run   belay.RunID `json:"run"`
	Step  belay.Path  `json:"step,omitempty"`
	Path  string      `json:"path"`
	Offer string      `json:"offer,omitempty"` // the branch of the result, where the marked one is only worked on
	Start string      `json:"start"`           // the commit it began at
	Ready bool        `json:"ready,omitempty"` // the worktree was whole once: there may be work in it
	Base  *Base       `json:"base,omitempty"`  // what its work is measured from; nil = the commit

	going bool // the path is not the one of the mark: see lastLook
}

// owners are the marks by branch.
func (g git) owners(ctx context.Context) (map[string]owner, error) {
	texts, err := g.marks(ctx)
	if err != nil || len(texts) == 0 {
		return nil, err
	}
	marks := map[string]owner{}
	for name, text := range texts {
		var o owner
		if json.Unmarshal([]byte(text), &o) == nil { // else it is not a mark of ours, so nothing of ours
			marks[name] = o
		}
	}
	return marks, nil
}

// marks are the texts of the marks by branch.
func (g git) marks(ctx context.Context) (map[string]string, error) {
	if p, err := find(ctx, g.program, g.dir); err == nil {
		if marks, sure := p.readMarks(); sure {
			return marks, nil
		}
	}
	return g.toldMarks(ctx)
}

// toldMarks are the marks as git tells them.
func (g git) toldMarks(ctx context.Context) (map[string]string, error) {
	out, err := g.run(ctx, "config", "--local", "-z", "--get-regexp", `^branch\..*\.`+ownerKey+`$`)
	var none *GitError
	if errors.As(err, &none) && none.Code == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read marks: %w", err)
	}
	marks := map[string]string{}
	for rec := range strings.SplitSeq(out, "\x00") {
		key, value, _ := strings.Cut(rec, "\n")
		if name, ok := strings.CutPrefix(strings.TrimSuffix(key, "."+ownerKey), "branch."); ok {
			marks[name] = value
		}
	}
	return marks, nil
}

// mark writes the mark of a branch.
func (g git) mark(ctx context.Context, branch string, o owner) error {
	b, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("write mark: %w", err)
	}
	if err := g.patient(ctx, "config", "--local", "--replace-all", "branch."+branch+"."+ownerKey, string(b)); err != nil {
		return fmt.Errorf("write mark: %w", err)
	}
	return nil
}

// unmark takes the mark away, and with it the section when nothing else is in it.
func (g git) unmark(ctx context.Context, branch string) error {
	const noSuchKey = 5
	err := g.patient(ctx, "config", "--local", "--unset-all", "branch."+branch+"."+ownerKey)
	var none *GitError
	if err == nil || errors.As(err, &none) && none.Code == noSuchKey {
		return nil
	}
	return fmt.Errorf("take mark away: %w", err)
}

// markOf is the branch that was made for a step of a run. There are two marks while a branch
// to work on is made: then it is that one.
func markOf(marks map[string]owner, run belay.RunID, step belay.Path) (name string, ok bool) {
	for branch, o := range marks {
		if o.Run == run && o.Step == step && (!ok || o.Offer != "") {
			name, ok = branch, true
		}
	}
	return name, ok
}

// tip is the commit of a branch; "" when there is no such branch.
func (g git) tip(ctx context.Context, branch string) (string, error) {
	if p, err := find(ctx, g.program, g.dir); err == nil {
		if id, sure := p.readRef(branch); sure {
			return id, nil
		}
	}
	out, err := g.line(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch)
	var none *GitError
	if errors.As(err, &none) && none.Code == 1 {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look for branch: %w", err)
	}
	return out, nil
}

// HasWork tells whether a branch is there, and is not where it began if Belay made it.
func HasWork(ctx context.Context, repo, branch string) bool {
	g := git{dir: repo}
	marks, err := g.owners(ctx)
	tip, bad := g.tip(ctx, branch)
	start := marks[branch].Start
	for _, own := range marks {
		if own.Offer == branch {
			start = own.Start
		}
	}
	return err == nil && bad == nil && tip != "" && tip != start
}

// IsMerged tells whether the commits of a branch are in what is checked out in a tree.
func IsMerged(ctx context.Context, dir, branch string) bool {
	g := git{dir: dir}
	_, err := g.line(ctx, "merge-base", "--is-ancestor", "refs/heads/"+branch, "HEAD")
	return err == nil
}

// linked is one worktree as git knows it.
type linked struct {
	path   string
	head   string
	branch string // "" = detached
	locked bool
}

// worktrees lists the worktrees of the repository, the main one first.
func (g git) worktrees(ctx context.Context) ([]linked, error) {
	if p, err := find(ctx, g.program, g.dir); err == nil {
		if list, sure := p.readWorktrees(); sure {
			return list, nil
		}
	}
	return g.toldWorktrees(ctx)
}

// toldWorktrees are the worktrees as git lists them.
func (g git) toldWorktrees(ctx context.Context) ([]linked, error) {
	out, err := g.run(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, fmt.Errorf("list worktrees: %w", err)
	}
	var list []linked
	for rec := range strings.SplitSeq(out, "\x00\x00") {
		var w linked
		for line := range strings.SplitSeq(rec, "\x00") {
			key, value, _ := strings.Cut(line, " ")
			switch key {
			case "worktree":
				w.path = value
			case "HEAD":
				w.head = value
			case "branch":
				w.branch = strings.TrimPrefix(value, "refs/heads/")
			case "locked":
				w.locked = true
			}
		}
		if w.path != "" {
			list = append(list, w)
		}
	}
	return list, nil
}

// at is the worktree with a path.
func at(list []linked, path string) (linked, bool) {
	for _, w := range list {
		if w.path == path {
			return w, true
		}
	}
	return linked{}, false
}

// elsewhere is a worktree that has the branch checked out at another path.
func elsewhere(list []linked, branch, path string) (linked, bool) {
	for _, w := range list {
		if branch != "" && w.branch == branch && w.path != path { // "" is no branch: HEAD is detached
			return w, true
		}
	}
	return linked{}, false
}
