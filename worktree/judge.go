package worktree

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// Begun is where a round of work began.
type Begun struct {
	Checkout
	Origin string `json:"origin"` // the tree that the first round began with
	First  string `json:"first"`  // a commit of that; "" = there is no repository
	Mine   bool   `json:"mine"`   // it is a worktree that was made for the run
	Home   *Home  `json:"home,omitempty"`
}

// Judged is what a round is judged by: a commit, and how it differs from where the work
// began.
type Judged struct {
	Commit  string   `json:"commit"`
	Changed []string `json:"changed"`        // paths that the round changed
	Old     []string `json:"changed_before"` // paths that the work changed or deleted, and that were there before it
	Named   []string `json:"own_path"`       // places that name the worktree, and links that lead out of the repository
	Pushed  []string `json:"-"`              // branches of remotes that have commits of it
	Inside  []string `json:"-"`              // repositories inside, of which the commit has no file
	Bare    []string `json:"-"`              // such repositories without a commit
	Left    string   `json:"-"`              // the branch that the work was left on; "detached HEAD" = on none
	Home    Home     `json:"-"`
	Dropped string   `json:"-"` // what the work was left at, which does not come after where it began

	IgnoreRules bool `json:"-"` // the work changed a .gitignore, and something is ignored
}

// Judge commits all that is in the worktree of a run, puts the commit on the branch that
// is worked on, and tells what it has. Doing it again gives the same commit.
func Judge(ctx context.Context, dir string, run belay.RunID, from Begun, message string) (Judged, error) {
	j, err := judge(ctx, dir, run, from, message)
	if err != nil {
		return j, fmt.Errorf("commit the work: %w", err)
	}
	return j, nil
}

func judge(ctx context.Context, dir string, run belay.RunID, from Begun, message string) (j Judged, err error) {
	p, err := find(ctx, "", dir)
	if err != nil {
		return j, err
	}
	if j.Home, err = p.homeAs(ctx, run, from.Home); err != nil {
		return j, err
	}
	c, err := p.commitAll(ctx, j.Home, message)
	if err != nil {
		return j, err
	}
	j.Commit, j.Bare, j.Inside = c.Commit, c.Bare, c.Inside
	if c.branch != j.Home.Work {
		if j.Left = c.branch; j.Left == "" {
			j.Left = "a detached HEAD"
		}
	}
	if err := j.settle(ctx, p, from, message); err != nil {
		return j, err
	}
	if err := j.compare(ctx, p, dir, run, from); err != nil {
		return j, err
	}
	j.Pushed, err = p.pushed(ctx, from.Commit, j.Commit)
	return j, err
}

// compare fills in how the commit differs from where the work began.
func (j *Judged) compare(ctx context.Context, p place, dir string, run belay.RunID, from Begun) error {
	tree, err := p.treeOf(ctx, j.Commit)
	if err != nil {
		return err
	}
	all, err := p.edits(ctx, from.Origin, tree)
	if err != nil {
		return err
	}
	for _, e := range all {
		if e.was != "" {
			j.Old = append(j.Old, e.path)
		}
		if linkedTree(e.now) && !slices.Contains(j.Inside, e.path) {
			j.Inside = append(j.Inside, e.path)
		}
		j.IgnoreRules = j.IgnoreRules || e.path == ".gitignore" || strings.HasSuffix(e.path, "/.gitignore")
	}
	if j.IgnoreRules {
		out, err := p.run(ctx, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
		if err != nil {
			return err
		}
		j.IgnoreRules = out != ""
	}
	now, err := p.edits(ctx, from.Tree, tree)
	if err != nil {
		return err
	}
	below, err := Prefix(ctx, dir)
	if err != nil {
		return err
	}
	for _, e := range now {
		if linkedTree(e.was) || linkedTree(e.now) { // the commit of a repository inside is none of its files
			continue
		}
		j.Changed = append(j.Changed, seenFrom(below, e.path)...)
	}
	if len(j.Changed) == 0 {
		return nil
	}
	j.Named, err = p.ownPath(ctx, run, from.Origin, tree, all)
	return err
}

// seenFrom is a path from the top, and as who works in a folder says it.
func seenFrom(below, path string) []string {
	if rest, ok := strings.CutPrefix(path, below+"/"); ok && below != "" {
		return []string{path, rest}
	}
	return []string{path}
}

// linkedTree tells whether an entry is the commit of a repository inside.
func linkedTree(entry string) bool { return strings.HasPrefix(entry, "160000 ") }

// Committed is a commit of all files.
type Committed struct {
	Commit string
	New    bool     // there was something to commit
	Bare   []string // repositories inside that git has nothing to put there for
	Inside []string // repositories inside of which git would put only the commit there, that nobody else has
	Pushed []string // branches of remotes that have commits of it

	branch string // that is checked out; "" = none
}

// CommitAll commits all files in the worktree of a run whose work began at a commit. No
// hook and no key is asked. A branch that is none of the run's is not moved: then the
// commit is on none.
func CommitAll(ctx context.Context, dir string, run belay.RunID, message, base string) (c Committed, err error) {
	p, err := find(ctx, "", dir)
	if err != nil {
		return c, fmt.Errorf("commit the work: %w", err)
	}
	h, _, err := p.home(ctx, run)
	if err == nil && h.Branch == "" {
		err = errNoHome
	}
	if err == nil {
		c, err = p.commitAll(ctx, h, message)
	}
	if err == nil {
		c.Pushed, err = p.pushed(ctx, base, c.Commit)
	}
	if err != nil {
		return c, fmt.Errorf("commit the work: %w", err)
	}
	return c, nil
}

func (p place) commitAll(ctx context.Context, h Home, message string) (c Committed, err error) {
	err = p.unlock() // an agent that was ended may have left one
	var parents []string
	if err == nil {
		parents, err = p.finish(ctx)
	}
	if err == nil {
		err = p.unflag(ctx)
	}
	if err == nil {
		c.Bare, err = p.addAll(ctx)
	}
	if err == nil {
		c.Inside, err = p.leaveOut(ctx)
	}
	if err != nil {
		return c, err
	}
	tree, err := p.line(ctx, "write-tree")
	if err != nil {
		return c, err
	}
	at, err := p.standsAt(ctx)
	if err != nil {
		return c, err
	}
	c.Commit, c.branch = at.Commit, at.Branch
	was, err := p.treeOf(ctx, at.Commit)
	if err != nil || was == tree {
		return c, err
	}
	if c.Commit, err = p.commitOf(ctx, tree, message, append([]string{at.Commit}, parents...)...); err != nil {
		return c, err
	}
	c.New = true
	subject, _, _ := strings.Cut(message, "\n")
	args := []string{"update-ref", "-m", "commit: " + shown(subject)}
	if at.Branch != h.Work {
		args = append(args, "--no-deref")
	}
	return c, p.patient(ctx, append(args, "--end-of-options", "HEAD", c.Commit, at.Commit)...)
}

// settle makes the commit one that comes after where the work began, whatever became of the
// history of that, and puts it on the branch that is worked on.
func (j *Judged) settle(ctx context.Context, p place, from Begun, message string) error {
	base := from.Commit
	if from.First != "" {
		part, err := p.descends(ctx, from.First, base)
		if err != nil {
			return err
		}
		if !part { // somebody was at it between two rounds
			base = from.First
		}
	}
	has, err := p.descends(ctx, cmp.Or(from.First, base), j.Commit)
	if err == nil && !has {
		j.Dropped = j.Commit
		j.Commit, err = p.after(ctx, base, j.Dropped, message)
	}
	if err != nil || has && j.Left == "" {
		return err
	}
	return p.bring(ctx, j.Home.Work, j.Commit)
}

// after is a commit that has the files of another one and comes after base alone; base,
// where it has these files itself.
func (p place) after(ctx context.Context, base, other, message string) (string, error) {
	tree, err := p.treeOf(ctx, other)
	if err != nil {
		return "", err
	}
	was, err := p.treeOf(ctx, base)
	if err != nil || was == tree {
		return base, err
	}
	return p.commitOf(ctx, tree, message, base)
}

// bring puts the branch that is worked on at a commit, and checks it out: the files are
// those of the commit already.
func (p place) bring(ctx context.Context, work, commit string) error {
	tip, err := p.tip(ctx, work)
	if err != nil {
		return err
	}
	const why = "belay: the work of a round"
	if err := p.patient(ctx, "update-ref", "-m", why, "--end-of-options", "refs/heads/"+work, commit, cmp.Or(tip, p.zero)); err != nil {
		return err
	}
	return p.patient(ctx, "symbolic-ref", "-m", why, "HEAD", "refs/heads/"+work)
}

// finish ends a merge or the like that is under way, and gives what was to be merged.
func (p place) finish(ctx context.Context) (parents []string, err error) {
	if p.midway() == "" {
		return nil, nil
	}
	b, _ := os.ReadFile(filepath.Join(p.own, "MERGE_HEAD")) // none: it is no merge
	for id := range strings.FieldsSeq(string(b)) {
		if isID(id) {
			parents = append(parents, id)
		}
	}
	for _, what := range []string{"merge", "rebase", "cherry-pick", "revert"} {
		_, _ = p.run(ctx, what, "--quit") // it is none of these
	}
	return parents, nil
}

// commitOf makes a commit as the user, or as Belay where git does not know who that is.
func (p place) commitOf(ctx context.Context, tree, message string, parents ...string) (string, error) {
	args := []string{"commit-tree", "--no-gpg-sign", tree}
	for _, id := range parents {
		args = append(args, "-p", id)
	}
	out, err := p.signed(ctx).feed(ctx, []byte(strings.TrimRight(message, "\n")+"\n"), args...)
	return strings.TrimSpace(out), err
}

// FirstOf is a commit of what the first round begins with: in a directory that is not the
// run's one on no branch, because not all that is there need be committed. kept is a ref
// with what was not committed there; "" for none.
func FirstOf(ctx context.Context, dir string, run belay.RunID, c Checkout, kept string) (string, error) {
	if c.Own && c.Apart || c.Tree == "" {
		return c.Commit, nil
	}
	p, err := find(ctx, "", dir)
	if err != nil {
		return "", fmt.Errorf("commit what the work begins with: %w", err)
	}
	for _, there := range []string{c.Commit, kept} { // a commit that nothing names may be thrown away meanwhile
		if there == "" {
			continue
		}
		if tree, err := p.treeOf(ctx, there); err == nil && tree == c.Tree { // one that is not there is no such
			return p.line(ctx, "rev-parse", "--verify", "--end-of-options", there+"^{commit}")
		}
	}
	return commitTree(ctx, p.with(author("")...), c.Tree, c.Commit, "what run "+string(run)+" begins with")
}

// JudgedHere makes a commit that is on no branch of all files in a directory that is not
// the run's, and tells what it has. What changed there is for a listing to say.
func JudgedHere(ctx context.Context, dir string, run belay.RunID, from Begun) (j Judged, err error) {
	p, err := find(ctx, "", dir)
	if err != nil {
		return j, fmt.Errorf("commit what is judged: %w", err)
	}
	c, err := p.checkout(ctx)
	if err == nil {
		j.Commit, err = commitTree(ctx, p.with(author("")...), c.Tree, c.Commit, "what run "+string(run)+" is judged by")
	}
	if err == nil {
		err = j.compare(ctx, p, dir, run, from)
	}
	if err != nil {
		return j, fmt.Errorf("commit what is judged: %w", err)
	}
	return j, nil
}

// Has tells whether a directory is in the tree with a top, and its repository has a commit;
// "" = it need not.
func Has(ctx context.Context, dir, top, commit string) bool {
	p, err := find(ctx, "", dir)
	if err != nil || p.top != top {
		return false
	}
	if _, ok := p.looseTree(commit); ok || commit == "" {
		return true
	}
	_, err = p.run(ctx, "cat-file", "-e", commit+"^{tree}")
	return err == nil
}

// Uncommitted are the paths that are not as they are committed.
func Uncommitted(ctx context.Context, dir string) ([]string, error) {
	p, err := find(ctx, "", dir)
	if err != nil {
		return nil, nil //nolint:nilerr // without a repository nothing is committed
	}
	out, err := p.run(ctx, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames")
	if err != nil {
		return nil, fmt.Errorf("look for changes: %w", err)
	}
	var list []string
	for _, rec := range records(out) {
		if len(rec) > 3 {
			list = append(list, rec[3:])
		}
	}
	return list, nil
}

// IgnoredPaths are the files that git ignores in the tree of a directory; a folder of which
// it ignores all stands for its files.
func IgnoredPaths(ctx context.Context, dir string) ([]string, error) {
	p, err := find(ctx, "", dir)
	if err != nil {
		return nil, nil //nolint:nilerr // without a repository nothing is ignored
	}
	out, err := p.run(ctx, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
	if err != nil {
		return nil, fmt.Errorf("list ignored files: %w", err)
	}
	return records(out), nil
}
