package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/attend"
	"github.com/belay-run/belay/internal/step"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/redact"
	"github.com/belay-run/belay/worktree"
)

// maxNotes is how many notes of one attempt become records.
const maxNotes = 60

// worktreeWithin bounds the making of a worktree.
const worktreeWithin = 10 * time.Minute

// prepare makes the process of a job.
func (w *drive) prepare(j belay.Job) (proc.Spawn, error) {
	if j.Role == belay.RoleMerge {
		return step.PrepareMerge(j, w.Store, w.Limits, w.mask(j), w.Host)
	}
	if j.Agent != nil {
		return step.PrepareAgent(j, w.Store, w.Limits, w.mask(j), w.Host)
	}
	if j.Check != nil {
		return step.PrepareCheck(j, w.Store, w.Limits, w.mask(j), w.Host.Self, w.Tree.Started().Dir)
	}
	return step.Prepare(j, w.Store, w.Limits, w.mask(j))
}

// graceOf is the time from TERM to KILL. An attendant keeps that of its start:
// it has a tree to end and a report to write.
func (w *drive) graceOf(k belay.Key) time.Duration {
	if job, ok := w.Tree.Job(k); ok && job.Agent != nil {
		return 0
	}
	return w.Limits.Grace
}

// readNotes takes in what the attendants of open agents learned since the last
// time.
func (w *drive) readNotes() error {
	for _, key := range w.Tree.Open() {
		job, ok := w.Tree.Job(key)
		if !ok || job.Agent == nil {
			continue
		}
		facts, err := w.notesOf(job)
		if err != nil {
			return err
		}
		w.facts = append(w.facts, facts...)
	}
	return nil
}

// notesOf are the notes of one attempt that are not records yet.
func (w *drive) notesOf(job belay.Job) ([]flow.Fact, error) {
	if job.Agent == nil {
		return nil, nil
	}
	mark, known := w.notes[job.Key]
	if !known {
		mark.count = w.Tree.Run(job.Run).Noted(job.Path)
		mark.skip = mark.count
	}
	notes, offset, err := attend.ReadNotes(step.NotesPath(w.Store, job.Key), mark.offset)
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
		facts = append(facts, flow.Fact{Run: job.Run, Event: belay.AttemptNoted{Key: job.Key, What: n.What, Text: n.Text, Base: n.Base}})
	}
	w.notes[job.Key] = mark
	return facts, nil
}

// noteMark is how far the notes of an attempt were read.
type noteMark struct {
	offset int64
	count  int // records so far
	skip   int // notes that were records before this driver came
}

// permit asks for one more agent: the budget first, then the service that it
// calls.
func (w *drive) permit(q belay.Question) belay.Answer {
	if a := w.afford(q.Agent); !a.OK {
		return a
	}
	return w.gate(q)
}

// afford counts one more agent where all sessions of the tree see it.
func (w *drive) afford(k belay.Key) belay.Answer {
	now := w.now()
	p, err := w.Ledger.Permit(k, now)
	if err != nil {
		return belay.Answer{Error: "the budget could not be read: " + err.Error()}
	}
	const all = ", with all runs that belong to this one"
	switch p.Short(now) {
	case journal.ShortStarts:
		return belay.Answer{Error: fmt.Sprintf("%d of %d agent starts are used%s", p.Starts-1, p.MaxStarts, all)}
	case journal.ShortTokens:
		return belay.Answer{Error: fmt.Sprintf("%d of %d tokens are used%s", p.Tokens, p.MaxTokens, all)}
	case journal.ShortMoney:
		return belay.Answer{Error: fmt.Sprintf("$%.2f of $%.2f are spent%s", float64(p.Micros)/1e6, float64(p.MaxMicros)/1e6, all)}
	case journal.ShortTime:
		return belay.Answer{Error: "the time for agents was over at " + p.Until.Local().Format("2006-01-02 15:04:05 MST") + all}
	case journal.ShortNothing:
	}
	return belay.Answer{OK: true}
}

// house makes a worktree, or finds it again.
func (w *drive) house(ctx context.Context, q belay.Worktree, key belay.Key) belay.Answer {
	if w.House == nil {
		return belay.Answer{Error: "there is no place for worktrees"}
	}
	q.Text = w.clean(q.Text)
	a, err := w.House(ctx, q, w.asker(key))
	if err != nil {
		return belay.Answer{Error: w.clean(err.Error())}
	}
	return a
}

// houseOf makes the worktree of a run or of a step below the run's folder.
func (o *Open) houseOf(ctx context.Context, q belay.Worktree, run belay.RunID) (belay.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, worktreeWithin)
	defer cancel()
	how := worktree.Options{
		Run: run, Step: q.Step, Branch: worktree.Branch(q.Text, "belay", 0, run),
		Root:    filepath.Join(string(o.run.Folder), "trees"),
		Include: worktree.Include{Patterns: o.local.Include},
	}
	if q.Merge {
		how.From, how.Skip = worktree.FromState, o.skip()
		how.Secret = redact.Values(append(given(o.Tree), o.masked()...)).Finder()
	}
	if q.Wish {
		if ok, why := worktree.CanIsolate(ctx, q.Dir, how.Root); !ok {
			return belay.Answer{OK: true, Error: why}, ctx.Err()
		}
	}
	made, err := worktree.Create(ctx, q.Dir, how)
	if err != nil {
		return belay.Answer{}, err
	}
	below, err := worktree.Prefix(ctx, q.Dir)
	return belay.Answer{OK: true, Dir: filepath.Join(made.Path, below), Ref: made.Branch, Merge: q.Merge}, err
}

// skip are the files and folders that Belay itself writes to.
func (o *Open) skip() []string { return append(ownOutputs(), o.local.State.Dir()) }

// host is the machine's host with what belongs to this run.
func (o *Open) host() step.Host {
	h := o.local.Host
	h.State, h.Tree, h.Tally = o.books.state.Dir(), o.session.Tree, o.books.prefix()
	h.Kept = proc.Kept{Dir: string(o.run.Folder), Socket: o.local.State.Socket(o.ID)}
	h.Skip, h.Merges = o.skip(), filepath.Join(string(o.run.Folder), "merges")
	h.Secrets = slices.Concat(hidden(o.Tree.Library()), o.local.Secrets, o.Tree.Started().Secrets)
	h.Persona = func(ref string) string {
		sha := o.Tree.Started().Personas[ref]
		if sha == "" {
			return ""
		}
		b, err := o.run.ReadBlob(sha, maxPersona)
		if err != nil {
			return "" // the prompt works without it
		}
		return string(b)
	}
	return h
}

// maxPersona is the biggest text of a persona.
const maxPersona = 1 << 20

// ownOutputs are the files that this process prints to: in a working tree they
// grow while an agent works, and are nobody's work.
func ownOutputs() []string {
	var files []string
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		info, err := f.Stat()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd())); err == nil {
			files = append(files, path)
		}
	}
	return files
}
