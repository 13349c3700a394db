package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/failpoint"
)

// mergeWait is how long a merge waits for another git, where nobody says more.
const mergeWait = 10 * time.Second

// maxReplans is how often a merge is worked out again because somebody changed
// files meanwhile.
const maxReplans = 3

// MergeOrder asks for the work of a worktree to be brought into the tree of its
// run.
type MergeOrder struct {
	Key  string // names this merge: asking again with it goes on where it was left
	Dir  string // the folder for its plan; it is made when it is needed
	Tree string // a folder in the run's tree
	Run  belay.RunID
	Step belay.Path    // with Run: whose worktree it is, as it was made with FromState
	Skip []string      // files and folders that are not looked at, as in Tree
	Wait time.Duration // for another git that works in the tree; 0 = 10 seconds
	Git  string        // the program; "" = git

	Secret func(io.Reader) bool `json:"-"` // as in Tree
}

// Outcome is the closed list of ends of a merge.
type Outcome string

const (
	OutcomeMerged   Outcome = "merged"
	OutcomeNothing  Outcome = "nothing"  // the worktree has nothing that the run's tree has not
	OutcomeConflict Outcome = "conflict" // the run's tree is as it was
)

// MergeResult is what became of a merge.
type MergeResult struct {
	Outcome   Outcome            `json:"outcome"`
	Count     int                `json:"count,omitempty"`   // files that were changed in the run's tree
	Files     []belay.FileChange `json:"files,omitempty"`   // the first of them
	Commits   []string           `json:"commits,omitempty"` // on the run's branch, oldest first; none: the work arrived as changes
	Conflicts []Clash            `json:"conflicts,omitempty"`
	Left      []string           `json:"left,omitempty"`     // the first files of uncommitted work that were taken back in the worktree, and stay
	Replaced  []string           `json:"replaced,omitempty"` // the first files in which the resolution of a conflict has less than the run's tree had
	Before    string             `json:"before,omitempty"`   // the ref under which the run's tree is kept as it was before that
}

// Clash is one file that could not be merged.
type Clash struct {
	Path   string `json:"path"`
	Why    string `json:"why"`              // in a few words
	Unkept bool   `json:"unkept,omitempty"` // what is in the way in the run's tree is in no commit: git merge would write over it
}

// Busy is the fault of a git command that works in the tree for longer than a
// merge waits, or that left its lock behind.
type Busy struct{ Lock string }

func (e *Busy) Error() string {
	return "another git command works in the tree, or left its lock behind: " + e.Lock
}

// Merge brings the work of a step's worktree into the tree of its run: three-way
// over the files, from the state that the worktree began at. Nothing but the
// files that come out otherwise is written; other uncommitted work and the index
// stay as they are. On a conflict nothing of that is changed: the step's own work
// is put on the branch of its worktree.
//
// What it is about to do is on disk before the first file is touched. After a
// death at any moment the same call does the rest, and when all is done it gives
// the same result again.
func Merge(ctx context.Context, o MergeOrder) (MergeResult, error) {
	m, err := openMerge(ctx, o, "")
	if err == nil {
		defer m.release()
		var r MergeResult
		if r, err = m.merge(ctx); err == nil && r.Outcome == OutcomeConflict {
			err = m.hold(ctx)
		}
		if err == nil {
			return r, nil
		}
	}
	return MergeResult{}, fmt.Errorf("merge: %w", err)
}

// merger is one merge under way, under the repository's lock.
type merger struct {
	o       MergeOrder
	run     place // the run's tree
	step    place // the worktree
	branch  string
	own     owner
	file    string // of the plan
	seen    sight  // the files that the plan changes, as they were when it was made
	release func()
}

// openMerge finds the two trees, and keeps other Belays out.
func openMerge(ctx context.Context, o MergeOrder, suffix string) (*merger, error) {
	if o.Key == "" || o.Dir == "" {
		return nil, errors.New("it needs a key and a folder for its plan")
	}
	if o.Wait == 0 {
		o.Wait = mergeWait
	}
	run, err := find(ctx, o.Git, o.Tree)
	if err != nil {
		return nil, err
	}
	common, err := run.common(ctx)
	if err != nil {
		return nil, err
	}
	release, err := lock(ctx, common)
	if err != nil {
		return nil, err
	}
	m := &merger{o: o, run: run, release: release, file: filepath.Join(o.Dir, planName(o.Key)+suffix+".json")}
	if err := m.findStep(ctx); err != nil {
		release()
		return nil, err
	}
	return m, nil
}

// findStep finds the worktree by its mark.
func (m *merger) findStep(ctx context.Context) error {
	marks, err := m.run.owners(ctx)
	if err != nil {
		return err
	}
	list, err := m.run.worktrees(ctx)
	if err != nil {
		return err
	}
	marks = found(marks, list)
	name, ours := markOf(marks, m.o.Run, m.o.Step)
	if !ours {
		return fmt.Errorf("there is no worktree of step %s", m.o.Step)
	}
	m.branch, m.own = name, marks[name]
	if m.own.Base == nil {
		return fmt.Errorf("the worktree of step %s began at a commit: it has a branch to merge", m.o.Step)
	}
	m.step, err = find(ctx, m.o.Git, m.own.Path)
	return err
}

// merge does what the plan says, after making one where there is none.
func (m *merger) merge(ctx context.Context) (MergeResult, error) {
	p, there, err := readPlan(m.file, m.o.Key)
	switch {
	case err != nil:
		return MergeResult{}, err
	case there && p.Done:
		return p.Answer, nil
	case !there:
		if err := m.quiet(ctx); err != nil {
			return MergeResult{}, err
		}
		var answer MergeResult
		var ours belay.TreeState
		if p, ours, answer, err = m.plan(ctx); err != nil || answer.Outcome != "" {
			return answer, err
		}
		if err := m.keepReplaced(ctx, &p, ours); err != nil {
			return MergeResult{}, err
		}
		failpoint.Hit("worktree.merge_before_plan")
		if err := p.write(m.file); err != nil {
			return MergeResult{}, err
		}
		failpoint.Hit("worktree.merge_after_plan")
	}
	return m.finish(ctx, p)
}

// looks are the two trees as they are now.
func (m *merger) looks(ctx context.Context) (ours, theirs belay.TreeState, err error) {
	for _, l := range []struct {
		dir string
		to  *belay.TreeState
	}{{m.run.top, &ours}, {m.step.top, &theirs}} {
		*l.to = Tree{Dir: l.dir, Git: m.o.Git, Skip: m.o.Skip, Secret: m.o.Secret}.State(ctx)
		if l.to.Error != "" {
			return ours, theirs, fmt.Errorf("look at %s: %s", l.dir, l.to.Error)
		}
	}
	return ours, theirs, nil
}

// plan works out what the merge comes to. An answer ends it.
func (m *merger) plan(ctx context.Context) (plan, belay.TreeState, MergeResult, error) {
	ours, theirs, err := m.looks(ctx)
	if err != nil {
		return plan{}, ours, MergeResult{}, err
	}
	base := *m.own.Base
	if theirs.Tree == base.Tree && theirs.Head == base.Commit {
		p, r, err := m.nothing(plan{Answer: MergeResult{Outcome: OutcomeNothing}})
		return p, ours, r, err
	}
	left, err := m.unresolved(ctx, theirs.Tree)
	if err != nil || len(left) > 0 {
		return plan{}, ours, conflicted(left), err
	}
	t, big, err := m.run.threeTrees(ctx, base.Tree, ours.Tree, theirs.Tree)
	if err != nil || len(big) > 0 {
		return plan{}, ours, conflicted(big), err
	}
	f, err := m.carried(ctx, base, theirs.Head, t)
	if err != nil {
		return plan{}, ours, MergeResult{}, err
	}
	w, err := m.run.threeWay(ctx, f.three)
	if err != nil || len(w.clashes) > 0 {
		return plan{}, ours, conflicted(w.clashes), err
	}
	p := plan{Key: m.o.Key, Ours: t.ours, Result: w.tree, Head: ours.Head, Branch: ours.Branch}
	p.Next = Base{Tree: theirs.Tree, Commit: theirs.Head, Head: theirs.Head, Branch: base.Branch}
	if err := m.commits(ctx, &p, ours, theirs); err != nil {
		return plan{}, ours, MergeResult{}, err
	}
	if p.Answer, err = m.answer(ctx, p); err != nil { // it tells the edits too
		return plan{}, ours, MergeResult{}, err
	}
	edits, err := m.run.edits(ctx, p.Ours, p.Result)
	if err != nil {
		return plan{}, ours, MergeResult{}, err
	}
	stuck, seen, err := m.run.blocked(ctx, edits)
	if err != nil || len(stuck) > 0 {
		return plan{}, ours, conflicted(stuck), err
	}
	m.seen = seen
	p.Answer.Left = f.left
	if p.Answer.Outcome == OutcomeNothing {
		p, r, err := m.nothing(p)
		return p, ours, r, err
	}
	return p, ours, MergeResult{}, nil
}

// nothing ends a merge in which there is nothing to do. After a conflict that means
// that the step's own work is gone: then it is not done.
func (m *merger) nothing(p plan) (plan, MergeResult, error) {
	gone, err := m.thrownAway()
	if err != nil || len(gone) > 0 {
		return plan{}, conflicted(gone), err
	}
	if p.Key == "" {
		return p, p.Answer, nil
	}
	return p, MergeResult{}, nil
}

// answer is what the merge will have done.
func (m *merger) answer(ctx context.Context, p plan) (MergeResult, error) {
	e := belay.Evidence{Before: belay.TreeState{Tree: p.Ours}, After: belay.TreeState{Tree: p.Result}}
	if _, _, err := changes(ctx, m.run, &e); err != nil {
		return MergeResult{}, err
	}
	r := MergeResult{Outcome: OutcomeMerged, Count: e.Files, Files: e.Changed, Commits: p.Commits}
	if r.Count == 0 && len(r.Commits) == 0 {
		r.Outcome = OutcomeNothing
	}
	return r, nil
}

// conflicted is the result of a conflict; of none it is no result.
func conflicted(list []Clash) MergeResult {
	if len(list) == 0 {
		return MergeResult{}
	}
	for i := range list {
		list[i].Path = shown(unlabelled(list[i].Path))
	}
	return MergeResult{Outcome: OutcomeConflict, Conflicts: list}
}

// finish does a plan that is on disk.
func (m *merger) finish(ctx context.Context, p plan) (MergeResult, error) {
	for n := 0; !p.Undo; n++ {
		others, err := m.run.apply(ctx, p.Ours, p.Result, m.o, m.seen, false)
		if err != nil {
			return MergeResult{}, err
		}
		if len(others) == 0 {
			return p.Answer, m.settle(ctx, &p)
		}
		if n >= maxReplans {
			return MergeResult{}, fmt.Errorf("the files change while they are merged, %s for one", shown(others[0].path))
		}
		if err := m.replan(ctx, &p, others); err != nil {
			return MergeResult{}, err
		}
	}
	return m.undo(ctx, p)
}

// settle brings branch, index and marks up to a merge whose files are written.
func (m *merger) settle(ctx context.Context, p *plan) error {
	failpoint.Hit("worktree.merge_after_files")
	if err := m.move(ctx, p); err != nil {
		return err
	}
	failpoint.Hit("worktree.merge_after_head")
	m.own.Base = &p.Next
	if err := m.run.mark(ctx, m.branch, m.own); err != nil {
		return err
	}
	if err := m.resolved(); err != nil {
		return err
	}
	failpoint.Hit("worktree.merge_before_done")
	p.Done = true
	return p.write(m.file)
}

// replan takes up what somebody changed since the plan was made: the change of
// the plan is merged into the files as they are now. Where that is a conflict,
// or something that no look sees is in the way, the plan is undone.
func (m *merger) replan(ctx context.Context, p *plan, others []delta) error {
	now := Tree{Dir: m.run.top, Git: m.o.Git, Skip: m.o.Skip, Secret: m.o.Secret}.State(ctx)
	if now.Error != "" {
		return errors.New(now.Error)
	}
	t, big, err := m.run.threeTrees(ctx, p.Ours, now.Tree, p.Result)
	if err != nil {
		return err
	}
	w, err := m.run.threeWay(ctx, t)
	if err != nil {
		return err
	}
	stuck := append(big, w.clashes...)
	if len(stuck) == 0 {
		edits, err := m.run.edits(ctx, t.ours, w.tree)
		if err != nil {
			return err
		}
		if stuck, m.seen, err = m.run.blocked(ctx, edits); err != nil {
			return err
		}
	}
	failpoint.Hit("worktree.merge_before_replan")
	if len(stuck) > 0 {
		p.Undo, p.Answer = true, conflicted(stuck)
		return p.write(m.file)
	}
	p.Ours, p.Result = t.ours, w.tree
	return p.write(m.file)
}

// undo takes back what a plan wrote, and nothing else, and the plan itself.
func (m *merger) undo(ctx context.Context, p plan) (MergeResult, error) {
	if _, err := m.run.apply(ctx, p.Result, p.Ours, m.o, sight{}, true); err != nil {
		return MergeResult{}, err
	}
	failpoint.Hit("worktree.merge_after_undo")
	return p.Answer, removePlan(m.file)
}
