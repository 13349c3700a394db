// Package hand does for the attempts of one run what touches the world and is the
// same for every driver: it makes a job a process and its end an observation,
// reads what an agent's attendant notes, answers questions about values, the
// machine and working trees, makes worktrees and takes them away, and hides
// secrets. It keeps no record, asks nobody for leave and starts nothing by itself.
package hand

import (
	"context"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/check"
	"github.com/belay-run/belay/internal/step"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/proc"
)

// Store is where the files of a run lie.
type Store interface {
	step.Files
	step.Blobs
	ReadBlob(sha string, most int64) ([]byte, error)
}

// Hand is the hand of one run.
type Hand struct {
	Tree    *flow.Tree // as the records have it
	Store   Store
	Limits  step.Limits
	Host    step.Host
	Path    string                      // the PATH of all steps
	Mask    []string                    // secrets of the run
	State   string                      // the directory of the state: its disk may be full
	Trees   string                      // where worktrees are made
	Include []string                    // ignored files that a worktree gets
	Stage   func(effect.Job) effect.Job // changes a job on its way to its process; nil = none
	Look    func(ctx context.Context, q effect.AskProbe) effect.Probe

	notes map[belay.Key]noteMark
	seen  seen
	taken map[stepOf]bool // worktrees that were taken away: nobody has to look for them again
}

// New is the hand with what it must remember. It looks at the machine from now
// on: kills for want of memory are those that come after.
func New(h Hand) *Hand {
	h.notes, h.taken = map[belay.Key]noteMark{}, map[stepOf]bool{}
	if h.Look == nil {
		before := OOMKills()
		h.Look = func(ctx context.Context, q effect.AskProbe) effect.Probe {
			p := Look(q.Dir, h.State, before)
			lookNamed(ctx, q, &p)
			return p
		}
	}
	return &h
}

// maxNotes is how many notes of one attempt become records.
const maxNotes = 60

// worktreeWithin bounds the making of a worktree.
const worktreeWithin = 10 * time.Minute

// Prepare makes the process of a job.
func (h *Hand) Prepare(ctx context.Context, j effect.Job) (proc.Spawn, error) {
	if h.Stage != nil {
		j = h.Stage(j)
	}
	if err := h.pose(ctx, j); err != nil {
		return proc.Spawn{}, &step.Fault{Kind: fault.Disk, Err: err}
	}
	if j.Role == belay.RoleMerge {
		return step.PrepareMerge(j, h.Store, h.Limits, h.mask(j), h.Host)
	}
	if j.Agent != nil {
		return step.PrepareAgent(j, h.Store, h.Limits, h.mask(j), h.Host)
	}
	if j.Check != nil {
		return step.PrepareCheck(j, h.Store, h.Limits, h.mask(j), h.Host.Self, h.Tree.Started().Dir)
	}
	return step.Prepare(j, h.Store, h.Limits, h.mask(j))
}

// Observe is what the end of a process amounts to, as facts.
func (h *Hand) Observe(j effect.Job, e proc.Exit) effect.Observation {
	return step.Observe(j, e, h.Store, h.Limits, h.mask(j))
}

// Left is what the attendant of a lost agent saw, if that lived long enough to
// report: the next attempt is measured by it. nil = it did not.
func (h *Hand) Left(j effect.Job) *belay.Evidence {
	if j.Agent == nil {
		return nil
	}
	r, ok := step.Report(h.Store, j.Key)
	if !ok {
		return nil
	}
	return &r.Evidence
}

// Notes are the notes of one attempt that are not records yet.
func (h *Hand) Notes(job effect.Job) ([]flow.Fact, error) {
	if job.Agent == nil {
		return nil, nil
	}
	return h.NotesOf(job.Key)
}

// NotesOf does so for an attempt that is an agent's, by its key alone: drivers ask
// for all that are open, several times a second.
func (h *Hand) NotesOf(key belay.Key) ([]flow.Fact, error) {
	run, path := key.Step()
	mark, known := h.notes[key]
	if !known {
		mark.count = h.Tree.Run(run).Noted(path)
		mark.skip = mark.count
	}
	notes, offset, err := supervise.ReadNotes(step.NotesPath(h.Store, key), mark.offset)
	if err != nil {
		return nil, err
	}
	mark.offset = offset
	var facts []flow.Fact
	for _, n := range notes {
		if mark.skip > 0 { // it is a record already
			mark.skip--
			continue
		}
		if mark.count++; mark.count > maxNotes {
			continue
		}
		facts = append(facts, flow.Fact{Run: run, Event: event.AttemptNoted{Key: key, What: n.What, Text: n.Text, Base: n.Base}})
	}
	h.notes[key] = mark
	return facts, nil
}

// noteMark is how far the notes of an attempt were read.
type noteMark struct {
	offset int64
	count  int // records so far
	skip   int // notes that were records before this driver came
}

// findTests looks for the tests of a directory that was not known before.
func (h *Hand) findTests(dir string) *effect.TestPlan {
	plan := check.Find(dir, check.Top(dir, h.Tree.Started().Dir), h.Path)
	return &plan
}
