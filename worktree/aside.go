package worktree

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Aside is work that was committed in a worktree and left there for another branch.
type Aside struct {
	Branch  string // "" = none has it
	Commit  string
	Base    string // where it parted from what is checked out
	Commits int
}

// maxAside is how much such work is told.
const maxAside = 5

// Asides are the branches whose commits were made in the worktree of a directory, as
// the log of its HEAD tells, and that are not part of what is checked out now, neither
// as they are nor as the same change. Commits that were made on no branch are told
// where somebody went away from them; what was reset or amended was taken back.
func Asides(ctx context.Context, dir string) ([]Aside, error) {
	at, err := find(ctx, "", dir)
	if err != nil {
		return nil, fmt.Errorf("look for other branches: %w", err)
	}
	log := parseLog(newLog(at.own, 0))
	made, _ := sorted(log)
	if len(made) == 0 {
		return nil, nil
	}
	out, err := at.feed(ctx, []byte(strings.Join(made, "\n")+"\n"), "rev-list", "--ignore-missing", "--stdin", "--not", "HEAD")
	if err != nil {
		return nil, fmt.Errorf("look for other branches: %w", err)
	}
	missing := map[string]bool{}
	for id := range strings.FieldsSeq(out) {
		missing[id] = true
	}
	var list []Aside
	told := map[string]bool{}
	for _, id := range slices.Backward(made) {
		if !missing[id] || len(list) == maxAside {
			continue
		}
		name, tip, err := at.branchWith(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("look for other branches: %w", err)
		}
		if name == "" && !slices.ContainsFunc(log, func(m move) bool { return m.from == id && strings.HasPrefix(m.message, "checkout: moving from "+id) }) || told[tip] {
			continue
		}
		told[tip] = true
		if a, ok := at.aside(ctx, name, tip); ok {
			list = append(list, a)
		}
	}
	return list, nil
}

// branchWith is the first branch that has a commit, and its tip; without one the tip
// is the commit.
func (p place) branchWith(ctx context.Context, id string) (name, tip string, err error) {
	out, err := p.line(ctx, "for-each-ref", "--count=1", "--contains="+id, "--format=%(objectname) %(refname:lstrip=2)", "refs/heads")
	if err != nil || out == "" {
		return "", id, err
	}
	tip, name, _ = strings.Cut(out, " ")
	return name, tip, nil
}

// aside counts what a tip has over HEAD; false when that is nothing new.
func (p place) aside(ctx context.Context, name, tip string) (Aside, bool) {
	out, err := p.line(ctx, "rev-list", "--count", "--cherry-pick", "--right-only", "--no-merges", "HEAD..."+tip)
	n, _ := strconv.Atoi(out) // 0 = nothing is told
	if err != nil || n == 0 {
		return Aside{}, false
	}
	base, err := p.line(ctx, "merge-base", "HEAD", tip)
	return Aside{Branch: name, Commit: tip, Base: base, Commits: n}, err == nil
}
