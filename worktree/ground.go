package worktree

import (
	"context"
	"errors"
	"os/exec"
	"strings"
)

// Ground is what a directory is to git, as work that is to begin there needs to know.
type Ground struct {
	Kind  GroundKind
	Words string // what git says, or what is in the way, in a plain sentence
	Dirty int    // files that differ from the commit, or are not in it
}

// GroundKind is the closed list of what a directory can be.
type GroundKind string

const (
	GroundReady      GroundKind = "ready"      // a worktree can show its files as they are committed
	GroundNone       GroundKind = "none"       // no repository
	GroundNoGit      GroundKind = "no_git"     // a repository, and no git to read it
	GroundUnreadable GroundKind = "unreadable" // a repository that git does not read
	GroundBare       GroundKind = "bare"       // a repository without files
	GroundInside     GroundKind = "inside"     // in the folder that git keeps for itself
	GroundUnfinished GroundKind = "unfinished" // a merge or the like is under way
	GroundEmpty      GroundKind = "empty"      // no commit yet
	GroundUncovered  GroundKind = "uncovered"  // the folder is in no commit
	GroundUnlike     GroundKind = "unlike"     // a worktree would lack files: submodules, a sparse checkout
	GroundUnfit      GroundKind = "machine"    // the machine cannot: an old git, a full disk
)

// Survey looks at a directory before work begins there. root is where a worktree
// would be made.
func Survey(ctx context.Context, dir, root string) Ground {
	if _, err := exec.LookPath("git"); err != nil {
		if IsTop(Whole(dir)) {
			return Ground{Kind: GroundNoGit, Words: err.Error()}
		}
		return Ground{Kind: GroundNone}
	}
	g := git{dir: dir}
	out, err := g.line(ctx, "rev-parse", "--is-bare-repository", "--is-inside-git-dir", "--is-inside-work-tree")
	if err != nil {
		return unread(dir, err)
	}
	switch said := strings.Fields(out); {
	case len(said) == 3 && said[2] == "true":
	case len(said) > 0 && said[0] == "true":
		return Ground{Kind: GroundBare}
	default:
		return Ground{Kind: GroundInside}
	}
	p, err := find(ctx, "", dir)
	if err != nil {
		return unread(dir, err)
	}
	found := p.ground(ctx, dir, root)
	found.Dirty = p.uncommitted(ctx)
	return found
}

// unread is a directory that git gave no answer about: there is no repository,
// or one that git does not read.
func unread(dir string, err error) Ground {
	if !IsTop(Whole(dir)) {
		return Ground{Kind: GroundNone}
	}
	words := err.Error()
	var said *GitError
	if errors.As(err, &said) && strings.TrimSpace(said.Talk) != "" {
		words = strings.TrimSpace(said.Talk)
	}
	return Ground{Kind: GroundUnreadable, Words: words}
}

// ground looks at a working tree, the gravest first.
func (p place) ground(ctx context.Context, dir, root string) Ground {
	var need int64
	for _, look := range []struct {
		kind GroundKind
		look func() (string, error)
	}{
		{GroundUnfinished, func() (string, error) { return p.unfinished(ctx) }},
		{GroundUnfit, func() (string, error) { return p.tooOld(ctx) }},
		{GroundEmpty, func() (string, error) { return p.noCommit(ctx) }},
		{GroundUnlike, func() (string, error) { return p.sparse(ctx) }},
		{GroundUnlike, func() (why string, err error) { why, need, err = p.sized(ctx); return why, err }},
		{GroundUncovered, func() (string, error) { return p.uncovered(ctx, dir) }},
		{GroundUnfit, func() (string, error) { return tooLittleRoom(need, root) }},
	} {
		why, err := look.look()
		if err != nil {
			return Ground{Kind: GroundUnreadable, Words: err.Error()}
		}
		if why != "" {
			return Ground{Kind: look.kind, Words: why}
		}
	}
	return Ground{Kind: GroundReady}
}

// uncovered looks whether the directory is in the commit that a worktree begins at.
func (p place) uncovered(ctx context.Context, dir string) (string, error) {
	below, err := Prefix(ctx, dir)
	if err != nil || below == "" {
		return "", err
	}
	if kind, err := p.line(ctx, "cat-file", "-t", "HEAD:"+below); err == nil && kind == "tree" {
		return "", nil
	}
	return "the directory " + shown(below) + " is in no commit", ctx.Err()
}

// uncommitted counts the files that are not as committed; it counts none where git does
// not tell.
func (p place) uncommitted(ctx context.Context) int {
	out, err := p.run(ctx, "status", "--porcelain=v2", "-z", "--untracked-files=normal", "--no-renames")
	if err != nil {
		return 0
	}
	return len(parseStatus(out).entries)
}
