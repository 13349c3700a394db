package hand

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/tracker"
	"github.com/belay-run/belay/worktree"
)

// worktreeFor makes the worktree of a run or of a step, or finds it again.
func (h *Hand) worktreeFor(ctx context.Context, q effect.AskWorktree, run belay.RunID) effect.AnswerWorktree {
	q.Text = h.Clean(q.Text)
	delete(h.taken, stepOf{run, q.Step})
	a, err := h.makeWorktree(ctx, q, run)
	if err != nil {
		return effect.AnswerWorktree{Error: h.Clean(err.Error())}
	}
	return a
}

func (h *Hand) makeWorktree(ctx context.Context, q effect.AskWorktree, run belay.RunID) (effect.AnswerWorktree, error) {
	ctx, cancel := context.WithTimeout(ctx, worktreeWithin)
	defer cancel()
	if q.Copy {
		c, err := worktree.CopyOf(ctx, q.Dir, h.copyOf(run, q.Step))
		return effect.AnswerWorktree{OK: true, Dir: c.Dir, Copy: true}, err
	}
	issue, _ := tracker.Named(q.Text)
	how := worktree.Options{
		Run: run, Step: q.Step, Branch: worktree.Branch(q.Text, "belay", issue, run),
		Root: h.Trees, Include: worktree.Include{Patterns: h.Include},
	}
	if q.Step == "" {
		how.Apart = h.apart(run)
	}
	if q.Merge {
		how.From, how.Skip, how.Secret = worktree.FromState, h.Host.Skip, h.secretIn()
	}
	var stood *belay.Value
	if q.Optional {
		if ok, why := worktree.CanIsolate(ctx, q.Dir, how.Root); !ok {
			return effect.AnswerWorktree{OK: true, Error: why}, ctx.Err()
		}
	}
	if q.Stand != "" {
		v, err := h.stood(ctx, run, q.Stand, q.Step == "" && run == run.Root())
		if err != nil {
			return effect.AnswerWorktree{}, err
		}
		stood = &v
	}
	made, err := worktree.Create(ctx, q.Dir, how)
	if err != nil {
		return effect.AnswerWorktree{}, err
	}
	below, err := worktree.Prefix(ctx, q.Dir)
	return effect.AnswerWorktree{OK: true, Dir: filepath.Join(made.Path, below), Ref: made.Branch, Merge: q.Merge, Stood: stood}, err
}

// apart tells whether a run works on another branch than its result is offered on: one
// that began to does so in a worktree that is made again.
func (h *Hand) apart(run belay.RunID) bool {
	var name string
	if s := h.Tree.Run(run); s != nil {
		_ = json.Unmarshal(s.Vars()["work_branch"].JSON, &name) // none: it did not begin to
	}
	return name != ""
}

// copyOf is where the copy is that a step looks at.
func (h *Hand) copyOf(run belay.RunID, p belay.Path) string {
	sum := sha256.Sum256([]byte(string(run) + ":" + string(p)))
	return filepath.Join(h.Trees, "copy-"+hex.EncodeToString(sum[:4]))
}

// standing is how a checkout stood, as it is kept beside the records.
type standing struct {
	Parts  worktree.Standing `json:"parts,omitempty"`
	Needed worktree.Needed   `json:"needed,omitzero"`
	Before *worktree.Before  `json:"before,omitempty"` // what was not committed; nil = its files are the run's own
	Error  string            `json:"error,omitempty"`  // why nobody knows
}

// stood looks how a checkout stands before anybody works beside it. Where all agents do,
// what is not committed there is kept: none of it is work of the run.
func (h *Hand) stood(ctx context.Context, run belay.RunID, dir string, keep bool) (belay.Value, error) {
	s := h.stands(ctx, dir)
	if s.Error == "" {
		var err error
		if s.Parts, err = s.Parts.Without(ctx, dir, run); err != nil {
			s.Error = h.Clean(err.Error())
		} else if s.Needed, err = worktree.NeededIn(ctx, dir, h.Include); err != nil {
			s.Error = h.Clean(err.Error())
		}
	}
	if keep && s.Error == "" {
		s.Before = h.keepBeside(ctx, run, dir)
	}
	if ctx.Err() != nil {
		return belay.Value{}, ctx.Err()
	}
	b, err := json.Marshal(s)
	if err != nil {
		return belay.Value{}, err
	}
	return h.Store.PutBlob(b)
}

func (h *Hand) stands(ctx context.Context, dir string) standing {
	ctx, cancel := context.WithTimeout(ctx, treeWithin)
	defer cancel()
	parts, err := worktree.Stands(ctx, dir, h.Host.Skip...)
	if err != nil {
		return standing{Error: h.Clean(err.Error())}
	}
	return standing{Parts: parts}
}

// mostInCheckout is how many names of what changed become a record.
const mostInCheckout = 50

// beside looks what is not as it stood in a checkout that nobody had to work in.
func (h *Hand) beside(ctx context.Context, q effect.AskLook) effect.AnswerLook {
	var was standing
	b, err := h.Store.ReadBlob(q.Stood.Sha, maxAskValue)
	if err == nil {
		err = json.Unmarshal(b, &was)
	}
	if err != nil {
		was.Error = err.Error()
	}
	now := h.stands(ctx, q.Dir)
	if was.Error == "" && now.Error != "" {
		now.Error = "git could look at it when the run began, and cannot now: " + now.Error
	}
	var needed []string
	if q.Files && was.Error == "" && now.Error == "" {
		if needed, err = was.Needed.Since(ctx, q.Dir, h.Include); err != nil {
			now.Error = err.Error()
		}
	}
	if why := cmp.Or(was.Error, now.Error); why != "" {
		return effect.AnswerLook{Error: h.Clean(why), UserCheckout: &effect.UserCheckout{Dir: q.Dir, Files: q.Files}}
	}
	if !q.Files {
		on := []string{was.Parts.Branch(), now.Parts.Branch()}
		was.Parts, now.Parts = was.Parts.Kept(on...), now.Parts.Kept(on...)
	}
	list := append(now.Parts.Since(was.Parts), needed...)
	u := &effect.UserCheckout{Dir: q.Dir, Files: q.Files}
	if q.Files && was.Before != nil {
		list = h.takenBeside(ctx, u, was.Before, list)
	}
	for i := range list {
		list[i] = h.Clean(list[i])
	}
	n := min(len(list), mostInCheckout)
	u.Changed, u.More = list[:n], len(list)-n
	return effect.AnswerLook{OK: true, UserCheckout: u}
}

// TakeAway takes away the worktree of a step whose work is in the run's tree, and the
// copy that a step looked at. One that cannot go now goes at the end of the run, or
// with gc.
func (h *Hand) TakeAway(ctx context.Context, run belay.RunID, p belay.Path) {
	s := h.Tree.Run(run)
	v, _ := s.Step(p)
	switch a := s.Home(p); {
	case a == nil || a.Dir == "" || v.Phase != flow.Done:
	case a.Copy:
		worktree.Throwaway{Root: h.copyOf(run, p)}.Remove()
		h.taken[stepOf{run, p}] = true
	case a.Merge:
		made := worktree.Made{Repo: s.Base(), Path: a.Dir, Branch: a.Ref, Run: run, Step: p}
		why := remove(ctx, made, worktree.ReasonDirty, worktree.ReasonUnpushed, worktree.ReasonIgnored) // the reasons are told at the end
		h.taken[stepOf{run, p}] = len(why) == 0
	}
}

// stepOf names a step of a run.
type stepOf struct {
	run  belay.RunID
	step belay.Path
}

// Carry is how the files of the run get to another machine.
func (h *Hand) Carry(dir string) worktree.Carry {
	return worktree.Carry{Dir: dir, Skip: h.Host.Skip, Secret: h.secretIn()}
}
