package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/failpoint"
)

// maxReplayed is how many commits are made again on top of others; more arrive
// as changes.
const maxReplayed = 200

// commits makes the commits of the worktree ones of the run's branch, where they
// can stay commits: nothing was uncommitted when the worktree was made, the
// branch is the same and went on by commits only, and no file that they change
// has uncommitted changes. Otherwise the plan stays as it is: the work arrives as
// changes.
func (m *merger) commits(ctx context.Context, p *plan, ours, theirs belay.TreeState) error {
	base := *m.own.Base
	if !base.Clean || theirs.Head == base.Commit || ours.Branch != base.Branch || m.run.midway() != "" {
		return nil
	}
	for _, head := range []string{ours.Head, theirs.Head} {
		if ok, err := m.run.descends(ctx, base.Commit, head); err != nil || !ok {
			return err
		}
	}
	ids, err := m.run.chain(ctx, base.Commit, theirs.Head)
	if err != nil || len(ids) == 0 {
		return err
	}
	head, made := theirs.Head, ids // where nobody else committed, they are the same commits
	if ours.Head != base.Commit {
		if head, made, err = m.run.replay(ctx, ids, ours.Head); err != nil || head == "" {
			return err
		}
	}
	ok, err := m.fits(ctx, *p, head, theirs)
	if err != nil || !ok {
		return err
	}
	p.NewHead, p.Commits = head, made
	p.Next.Clean = !theirs.Dirty && head == theirs.Head
	return nil
}

// descends tells whether a commit is another one or came after it.
func (g git) descends(ctx context.Context, from, id string) (bool, error) {
	if from == id {
		return true, nil
	}
	_, err := g.run(ctx, "merge-base", "--is-ancestor", from, id)
	var no *GitError
	if errors.As(err, &no) && no.Code == 1 {
		return false, nil
	}
	return err == nil, err
}

// chain are the commits from one to another by their first parents, oldest
// first; none when these do not lead there, or are too many.
func (g git) chain(ctx context.Context, from, to string) ([]string, error) {
	out, err := g.run(ctx, "rev-list", "--first-parent", "--reverse", "--parents", "--end-of-options", to, "^"+from)
	if err != nil {
		return nil, err
	}
	var ids []string
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(ids) == 0 && (len(f) < 2 || f[1] != from) {
			return nil, nil
		}
		ids = append(ids, f[0])
	}
	if len(ids) > maxReplayed {
		return nil, nil
	}
	return ids, nil
}

// replay makes commits again on top of another one. Those that change nothing
// there are left out. No head: it cannot be done for one of them.
func (p place) replay(ctx context.Context, ids []string, onto string) (head string, made []string, err error) {
	head = onto
	for _, id := range ids {
		out, err := p.run(ctx, "rev-parse", id+"^{tree}", id+"^1^{tree}", head+"^{tree}")
		trees := strings.Fields(out)
		if err != nil || len(trees) != 3 {
			return "", nil, err
		}
		t := three{theirs: trees[0], base: trees[1], ours: trees[2]}
		w, err := p.threeWay(ctx, t)
		if err != nil || len(w.clashes) > 0 {
			return "", nil, err
		}
		if w.tree == t.ours && t.base != t.theirs {
			continue // all of it is there
		}
		if head, err = p.again(ctx, id, w.tree, head); err != nil {
			return "", nil, err
		}
		made = append(made, head)
	}
	if len(made) == 0 {
		return "", nil, nil
	}
	return head, made, nil
}

// again is a commit with another tree and parent, and otherwise as it was: author,
// times and message. A signature would be wrong for it.
func (g git) again(ctx context.Context, id, tree, parent string) (string, error) {
	raw, err := g.run(ctx, "cat-file", "commit", id)
	if err != nil {
		return "", err
	}
	head, message, _ := strings.Cut(raw, "\n\n")
	lines := []string{"tree " + tree, "parent " + parent}
	for line := range strings.SplitSeq(head, "\n") {
		for _, key := range []string{"author ", "committer ", "encoding "} {
			if strings.HasPrefix(line, key) {
				lines = append(lines, line)
			}
		}
	}
	out, err := g.feed(ctx, []byte(strings.Join(lines, "\n")+"\n\n"+message), "hash-object", "-t", "commit", "-w", "--stdin")
	return strings.TrimSpace(out), err
}

// fits tells whether a new HEAD goes with the files that the merge gives: what it
// changes has no uncommitted change, staged or not, and comes out the same way.
func (m *merger) fits(ctx context.Context, p plan, head string, theirs belay.TreeState) (bool, error) {
	was, err := m.run.treeOf(ctx, p.Head)
	if err != nil {
		return false, err
	}
	is, err := m.run.treeOf(ctx, head)
	if err != nil {
		return false, err
	}
	moved, err := m.run.edits(ctx, was, is)
	if err != nil {
		return false, err
	}
	dirty, err := m.run.edits(ctx, was, p.Ours)
	if err != nil {
		return false, err
	}
	touched := map[string]bool{}
	for _, e := range dirty {
		touched[e.path] = true
	}
	index, err := m.run.indexed(ctx, moved)
	if err != nil {
		return false, err
	}
	for _, e := range moved {
		if touched[e.path] || index[e.path] != e.was {
			return false, nil
		}
	}
	if theirs.Dirty {
		return true, nil
	}
	// nothing is uncommitted there: so the files must be those of the commits
	rest, err := m.run.edits(ctx, is, p.Result)
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(rest, func(e delta) bool { return !touched[e.path] }), nil
}

// indexed are the entries of the index for the paths of a list, "mode id" by path.
func (p place) indexed(ctx context.Context, list []delta) (map[string]string, error) {
	wanted := map[string]bool{}
	for _, e := range list {
		wanted[e.path] = true
	}
	found, err := p.fromIndex(ctx, func(r rawEntry) bool { return wanted[string(r.path)] })
	if err != nil {
		return nil, err
	}
	is := map[string]string{}
	for _, e := range found {
		is[e.path] = e.entry()
	}
	return is, nil
}

// move moves the branch and lets the index follow. The index comes first: to who
// looks in between, the work is staged. A branch that somebody moved meanwhile
// stays where it is: then the work has arrived as changes.
func (m *merger) move(ctx context.Context, p *plan) error {
	if p.NewHead == "" {
		return nil
	}
	head, branch, err := m.run.head(ctx)
	if err != nil {
		return err
	}
	if branch == p.Branch && (head == p.Head || head == p.NewHead) {
		if err := m.follow(ctx, p.Head, p.NewHead); err != nil {
			return err
		}
		failpoint.Hit("worktree.merge_after_index")
		if head == p.NewHead {
			return nil
		}
		err := m.run.patient(ctx, "update-ref", "-m", "belay: merge of step "+string(m.o.Step), "HEAD", p.NewHead, p.Head)
		if err == nil {
			return nil
		}
		if now, _, bad := m.run.head(ctx); bad != nil || now == p.Head {
			return err // it can be done later
		}
		if err := m.follow(ctx, p.NewHead, p.Head); err != nil {
			return err
		}
	}
	p.NewHead, p.Commits, p.Answer.Commits, p.Next.Clean = "", nil, nil, false
	return p.write(m.file)
}

// head is the commit and the branch that are checked out.
func (p place) head(ctx context.Context) (id, branch string, err error) {
	out, err := p.run(ctx, "rev-parse", "HEAD^{commit}", "--symbolic-full-name", "HEAD")
	id, ref, _ := strings.Cut(strings.TrimSuffix(out, "\n"), "\n")
	if err != nil || ref == "HEAD" { // no branch
		return id, "", err
	}
	return id, strings.TrimPrefix(ref, "refs/heads/"), nil
}

// follow gives the files that differ between two commits their new entries in the
// real index, where they have the old ones.
func (m *merger) follow(ctx context.Context, from, to string) error {
	was, err := m.run.treeOf(ctx, from)
	if err != nil {
		return err
	}
	is, err := m.run.treeOf(ctx, to)
	if err != nil {
		return err
	}
	moved, err := m.run.edits(ctx, was, is)
	if err != nil {
		return err
	}
	for end := time.Now().Add(m.o.Wait); ; {
		if err := m.quiet(ctx); err != nil {
			return err
		}
		is, err := m.run.indexed(ctx, moved)
		if err != nil {
			return err
		}
		var info strings.Builder
		for _, e := range moved {
			switch {
			case is[e.path] != e.was || e.was == e.now:
			case e.now == "":
				info.WriteString("0 " + m.run.zero + "\t" + e.path + "\x00")
			default:
				info.WriteString(e.now + "\t" + e.path + "\x00")
			}
		}
		if info.Len() == 0 {
			return nil
		}
		_, err = m.run.feed(ctx, []byte(info.String()), "update-index", "--add", "--replace", "-z", "--index-info")
		if err == nil {
			// so that no command takes the new files for changed ones; what is changed makes it fail
			_, _ = m.run.run(ctx, "update-index", "-q", "--refresh")
			return nil
		}
		if !exists(m.indexLock()) || time.Now().After(end) {
			return err
		}
	}
}

// indexLock is the file with which git keeps other gits from the index.
func (m *merger) indexLock() string { return filepath.Join(m.run.own, "index.lock") }

// quiet waits until no other git works in the run's tree, or gives *Busy.
func (m *merger) quiet(ctx context.Context) error {
	for end := time.Now().Add(m.o.Wait); exists(m.indexLock()); {
		if time.Now().After(end) {
			return &Busy{Lock: m.indexLock()}
		}
		if err := pause(ctx, lockPause); err != nil {
			return err
		}
	}
	return nil
}

// midway is what is under way in the tree: a merge or the like that is not done.
func (p place) midway() string {
	for _, s := range []struct{ file, what string }{
		{"MERGE_HEAD", "a merge"}, {"rebase-merge", "a rebase"}, {"rebase-apply", "a rebase"},
		{"CHERRY_PICK_HEAD", "a cherry-pick"}, {"REVERT_HEAD", "a revert"}, {"sequencer", "a cherry-pick or revert"},
	} {
		if _, err := os.Lstat(filepath.Join(p.own, s.file)); err == nil {
			return s.what
		}
	}
	return ""
}
