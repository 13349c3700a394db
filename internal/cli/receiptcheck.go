package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/check"
	"github.com/belay-run/belay/internal/hand"
	"github.com/belay-run/belay/internal/receipt"
	"github.com/belay-run/belay/internal/recheck"
	"github.com/belay-run/belay/redact"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/verdict"
	"github.com/belay-run/belay/worktree"
)

// checkAgain runs the recorded checks of a run again, one after the other, and
// judges the receipt by them.
func (a *app) checkAgain(ctx context.Context, s *runView, r *receipt.Receipt) error {
	exe, err := a.self()
	if err != nil {
		return err
	}
	checks := counting(s.Checks(s.steps()), r)
	jobs, err := s.jobsOf(checks)
	if err != nil {
		return err
	}
	started := s.Tree.Started()
	secrets := slices.Concat(hand.Hidden(s.Tree.Library()), started.Secrets)
	env := hand.WithSecrets(slices.Clone(a.environ), s.Tree.Library(), started.Secrets...)
	lab := recheck.Lab{Env: env, Self: []string{exe}, Run: started.Dir, Blob: s.view.BlobPath, Mask: redact.FromEnv(env, secrets)}
	ctx, at := attend(ctx, nil)
	if as, err := worktree.WithSettings(ctx, started.Dir, filepath.Join(string(s.view.Folder), gitFolder)); err == nil { // else as it is now
		ctx = as
	}
	trees := newTreeWatch(ctx, checks, redact.Values(lab.Mask).Finder())
	list := []receipt.Again{}
	for i := range r.Criteria {
		if c := &r.Criteria[i]; c.Verdict == receipt.Met && c.Check != "" && c.Exit != nil && *c.Exit == 0 {
			list = append(list, s.criterionAgain(ctx, lab, r, c))
		}
	}
	if r.Task != nil && r.Task.Tests != nil && r.Task.Tests.Passed {
		list = append(list, s.testsAgain(ctx, lab, r))
	}
	if r.Task != nil {
		for _, c := range r.Task.Cited {
			if c.Commit != "" {
				list = append(list, commitAgain(ctx, r.Dir, c))
				continue
			}
			again := receipt.Again{Step: fmt.Sprintf("citation %s:%d", c.Path, c.Line), Verdict: receipt.NotRun, Dir: r.Dir, Check: c.Quote}
			list = append(list, ranAgain(again, recheck.Cited(r.Dir, c.Path, c.Line, c.Quote)))
		}
	}
	for i, c := range checks {
		list = append(list, s.stepAgain(ctx, lab, r, c, jobs[i]))
	}
	if lost := s.lostWork(ctx, r); lost != nil {
		list = append(list, *lost)
	}
	changed := trees.changed(ctx)
	if sig := at.stop(); sig != nil {
		return quietly(sig.ExitCode())
	}
	r.Judge(list, changed)
	return nil
}

// commitAgain looks up a cited commit again.
func commitAgain(ctx context.Context, dir string, c receipt.Cited) receipt.Again {
	begun := time.Now()
	res := recheck.Result{Text: "it is in the history"}
	known, wrong, err := worktree.CommitIn(ctx, dir, "HEAD", c.Commit)
	if err == nil && wrong == "" {
		wrong = disagrees(ctx, known, []string{c.Quote}, nil)
	}
	switch res.Ran, res.Passed = err == nil, err == nil && wrong == ""; {
	case err != nil:
		res.Text = err.Error()
	case wrong != "":
		res.Text = wrong
	}
	res.Took = time.Since(begun)
	return ranAgain(receipt.Again{Step: fmt.Sprintf("citation commit %.12s", c.Commit), Verdict: receipt.NotRun, Dir: dir, Check: c.Quote}, res)
}

// lostWork is the commit of the work when no branch, tag or remote has it any more, and
// no branch has its files: git throws it away some day. nil = it is not lost.
func (s *runView) lostWork(ctx context.Context, r *receipt.Receipt) *receipt.Again {
	home := s.Tree.Started().Dir
	for _, t := range r.Changes.Trees {
		if !t.Settled || t.To == "" || t.To == t.From || worktree.Reached(ctx, home, t.To) {
			continue
		}
		head := worktree.CommitOf(ctx, home, "HEAD")
		if worktree.Holding(ctx, home, t.From, head, worktree.CommitOf(ctx, home, t.To)) != "" { // squashed
			continue
		}
		name := cmp.Or(t.Branch, "work-of-"+string(s.id))
		return &receipt.Again{
			Step: "the work", Dir: home, Verdict: receipt.Fails, Commit: t.To, Where: home,
			Text: fmt.Sprintf("commit %.12s is on no branch; to get it back: %s branch %s %.12s", t.To, gitAt(home), story.Quote(name), t.To),
		}
	}
	return nil
}

// counting are the checks of steps that count: those of rounds that were worse than
// another say nothing about the work, and tests on the way to a commit nothing that
// the tests of the commit do not say.
func counting(all []story.Check, r *receipt.Receipt) []story.Check {
	if r.Task == nil || r.Task.Round == 0 {
		return all
	}
	counts := fmt.Sprintf("rounds/round-%d/", r.Task.Round)
	return slices.DeleteFunc(all, func(c story.Check) bool {
		tests := c.Seen.Check != nil && len(c.Seen.Check.Tests) > 0
		return strings.HasPrefix(c.Name(), "rounds/round-") && (!strings.HasPrefix(c.Name(), counts) || tests && r.Task.Tests != nil)
	})
}

// site is where the work of a run is: a commit, and what that is, in words.
type site struct {
	commit string
	base   string // what the work began with
	where  string
	home   bool // the directory that the run was started in has it
}

// site finds the work of a tree: in the directory of the run when it was merged
// there, else in the commit that its branch, or the run, has left.
func (s *runView) site(ctx context.Context, r *receipt.Receipt, dir, recorded string) site {
	home := s.Tree.Started().Dir
	commit, base, where := recorded, "", "the commit that was checked"
	for _, t := range r.Changes.Trees {
		if t.Settled && t.To != "" && (t.Dir == dir || dir == "") {
			commit, base, where = t.To, t.From, "the commit of the work"
			if t.Branch != "" && worktree.CommitOf(ctx, home, "refs/heads/"+t.Branch) == t.To {
				where = "branch " + t.Branch
			}
		}
	}
	if commit == "" || worktree.CommitOf(ctx, home, commit) == "" {
		return site{}
	}
	if head := worktree.CommitOf(ctx, home, "HEAD"); head != "" && worktree.Contains(ctx, home, commit, head) {
		return site{head, base, fmt.Sprintf("HEAD of %s (%.12s), which has the work (%.12s)", home, head, commit), true}
	}
	return site{commit, base, fmt.Sprintf("%s (%.12s)", where, commit), false}
}

// criterionAgain runs the check of a criterion again: on a copy of the commit that
// has the work, or where the operation was done.
func (s *runView) criterionAgain(ctx context.Context, lab recheck.Lab, r *receipt.Receipt, c *receipt.Criterion) receipt.Again {
	again := receipt.Again{Step: "criterion " + c.ID, Check: c.Check, Verdict: receipt.NotRun, Dir: c.CheckDir}
	if again.Dir != "" {
		return ranAgain(again, lab.Command(ctx, c.Check, again.Dir))
	}
	return s.tried(ctx, lab, r, again, c.Commit, check.Trial{Args: []string{"bash", "-c", c.Check}, Within: checkWithin})
}

// testsAgain runs the tests again that the round was judged by. Of work in the directory
// itself no commit is recorded: the files there are what was judged.
func (s *runView) testsAgain(ctx context.Context, lab recheck.Lab, r *receipt.Receipt) receipt.Again {
	again := receipt.Again{Step: "tests", Verdict: receipt.NotRun}
	if r.Task.Tests.Commit == "" {
		again.Dir = r.Dir
	}
	return s.tried(ctx, lab, r, again, r.Task.Tests.Commit, check.Trial{Tests: true, Script: s.Tree.Started().TestScript, Within: testsWithin})
}

const (
	checkWithin = 10 * time.Minute
	testsWithin = time.Hour
)

// tried runs something on a copy of the commit that has the work, or in the directory where
// that was done itself.
func (s *runView) tried(ctx context.Context, lab recheck.Lab, r *receipt.Receipt, again receipt.Again, recorded string, t check.Trial) receipt.Again {
	t.Dir = r.Dir
	if again.Dir == "" {
		at := s.site(ctx, r, "", recorded)
		if at.commit == "" {
			again.Text = "the commit that was checked is gone"
			return again
		}
		again.Commit, again.Where = at.commit, "a copy of "+at.where
		t.Commit, t.Base = at.commit, at.base
	}
	room, err := os.MkdirTemp("", "belay-recheck-")
	if err != nil {
		again.Text = err.Error()
		return again
	}
	defer func() { _ = os.RemoveAll(room) }() // it is below the folder for temporary files
	t.Copy = filepath.Join(room, "copy")
	begun := time.Now()
	got, err := check.At(ctx, t, lab.Env, check.Streams{Out: io.Discard, Err: io.Discard}, verdict.Shortfall)
	res := recheck.Result{Passed: got.Passed, Ran: err == nil, Took: time.Since(begun), Text: "exit 0"}
	switch {
	case ctx.Err() != nil:
		res.Ran, res.Text = false, "it was interrupted"
	case err != nil:
		res.Text = err.Error()
	case !got.Passed:
		res.Text = got.Why
	case t.Tests:
		res.Text = "the tests passed"
	}
	res.Text = redact.New(lab.Mask).String(res.Text)
	return ranAgain(again, res)
}

// stepAgain runs the check of a step again: in the directory of the run when that
// has the work, else where it ran, else on a copy of the commit that has the work.
func (s *runView) stepAgain(ctx context.Context, lab recheck.Lab, r *receipt.Receipt, c story.Check, j effect.Job) receipt.Again {
	job := placed(j, c)
	again := receipt.Again{Step: c.Name(), Dir: job.Dir, Verdict: receipt.NotRun}
	if job.Dir != j.Dir || !s.isOwn(c.Tree) {
		return ranAgain(again, lab.Do(ctx, job))
	}
	rel, err := filepath.Rel(c.Tree, job.Dir)
	at := s.site(ctx, r, c.Tree, "")
	switch {
	case err != nil || strings.HasPrefix(rel, "..") || at.commit == "":
	case at.home:
		job.Dir = filepath.Join(r.Dir, rel)
		again.Dir, again.Commit, again.Where = job.Dir, at.commit, job.Dir+", which has the work"
	case !there(job.Dir):
		again.Commit, again.Where = at.commit, "a copy of "+at.where
		room, err := os.MkdirTemp("", "belay-recheck-")
		if err != nil {
			again.Text = err.Error()
			return again
		}
		defer func() { _ = os.RemoveAll(room) }() // it is below the folder for temporary files
		tree, err := worktree.ThrowawayOf(ctx, r.Dir, at.commit, at.base, filepath.Join(room, "copy"))
		if err != nil {
			again.Text = err.Error()
			return again
		}
		defer tree.Remove()
		job.Dir = filepath.Join(tree.Dir, rel)
	}
	return ranAgain(again, lab.Do(ctx, job))
}

// isOwn tells whether a directory is in the worktree that was made for the run.
func (s *runView) isOwn(dir string) bool {
	return slices.ContainsFunc(s.Work(s.id).Trees, func(t story.Worktree) bool { return t.Step == "" && t.Dir == dir })
}

func ranAgain(again receipt.Again, res recheck.Result) receipt.Again {
	again.Text, again.WallMS = res.Text, res.Took.Milliseconds()
	switch {
	case res.Passed:
		again.Verdict = receipt.Passes
	case res.Ran:
		again.Verdict = receipt.Fails
	}
	return again
}

// jobsOf are the jobs of checks, each as it was when it was started: with the
// values that were there then.
func (s *runView) jobsOf(checks []story.Check) ([]effect.Job, error) {
	order := make([]int, len(checks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return checks[a].Told - checks[b].Told })
	jobs := make([]effect.Job, len(checks))
	var tree *flow.Tree
	var err error
	told := 0
	for _, i := range order {
		upTo := checks[i].Told
		if tree == nil {
			tree, err = engine.Fold(s.id.Root(), s.recs[:upTo], s.view)
		} else {
			err = tree.Follow(s.recs[told:upTo])
		}
		if err != nil {
			return nil, err
		}
		told = upTo
		jobs[i], _ = tree.Job(checks[i].Key) // its start was the last record: it is open
	}
	return jobs, nil
}

// placed is the job in the place where the work is now: where it ran, or, if that
// worktree is gone because its work was merged, in the tree that it was merged into.
func placed(j effect.Job, c story.Check) effect.Job {
	if !c.Merge || there(c.Tree) {
		return j
	}
	rel, err := filepath.Rel(c.Tree, j.Dir)
	if err != nil || strings.HasPrefix(rel, "..") {
		return j
	}
	j.Dir = filepath.Join(c.Home, rel)
	return j
}

// treeWatch tells whether checks changed the trees that they ran in.
type treeWatch struct {
	was    map[string]string
	secret func(io.Reader) bool
}

func newTreeWatch(ctx context.Context, checks []story.Check, secret func(io.Reader) bool) treeWatch {
	w := treeWatch{map[string]string{}, secret}
	for _, c := range checks {
		for _, dir := range []string{c.Tree, c.Home} {
			if _, known := w.was[dir]; !known && there(dir) {
				w.was[dir] = worktree.Tree{Dir: dir, Secret: secret}.State(ctx).Tree
			}
		}
	}
	return w
}

func (w treeWatch) changed(ctx context.Context) []string {
	var list []string
	for dir, was := range w.was {
		if was != "" && (worktree.Tree{Dir: dir, Secret: w.secret}).State(ctx).Tree != was {
			list = append(list, dir)
		}
	}
	slices.Sort(list)
	return list
}
