package engine

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/internal/hand"
	"github.com/belay-run/belay/internal/step"
	"github.com/belay-run/belay/proc"
)

// graceOf is the time from TERM to KILL. An attendant keeps that of its start:
// it has a tree to end and a report to write.
func (w *drive) graceOf(k belay.Key) time.Duration {
	if job, ok := w.Tree.Job(k); ok && job.Agent != nil {
		return 0
	}
	return w.Hand.Limits.Grace
}

// readNotes takes in what the attendants of open agents learned since the last
// time.
func (w *drive) readNotes() error {
	for _, key := range w.Tree.OpenAgents() {
		facts, err := w.Hand.NotesOf(key)
		if err != nil {
			return err
		}
		w.facts = append(w.facts, facts...)
	}
	return nil
}

// skip are the files and folders that Belay itself writes to.
func (o *Open) skip() []string { return append(ownOutputs(), o.local.State.Dir()) }

// hands is the hand of this run.
func (o *Open) hands() *hand.Hand {
	if o.hand == nil {
		o.hand = hand.New(hand.Hand{
			Tree: o.Tree, Store: o.run, Limits: o.local.Limits, Host: o.host(), Path: pathOf(o.local.Env), Mask: o.masked(),
			State: o.local.State.Dir(), Trees: filepath.Join(string(o.run.Folder), "trees"), Include: o.local.Include, Stage: o.local.Stage,
		})
	}
	return o.hand
}

// Tidy takes away what is left of an ended run and cannot be lost, and says what
// is kept.
func (o *Open) Tidy(ctx context.Context) []hand.Kept {
	if o.local.Elsewhere != nil {
		return o.keptAway(ctx)
	}
	return o.hands().Tidy(ctx)
}

// host is the machine's host with what belongs to this run.
func (o *Open) host() step.Host {
	h := o.local.Host
	h.State, h.Tree, h.Tally = o.books.state.Dir(), o.session.Tree, o.books.prefix()
	h.Kept = proc.Kept{Dir: string(o.run.Folder), Socket: o.local.State.Socket(o.ID)}
	h.Skip, h.Merges = o.skip(), filepath.Join(string(o.run.Folder), "merges")
	h.Secrets = slices.Concat(hand.Hidden(o.Tree.Library()), o.local.Secrets, o.Tree.Started().Secrets)
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

// LookAt is the state of the files of a directory, without what Belay itself writes.
func (o *Open) LookAt(ctx context.Context, dir string) belay.TreeState {
	a, _ := o.hands().Answer(ctx, effect.Ask{Question: effect.AskLook{Dir: dir}})
	look, _ := a.(effect.AnswerLook)
	if look.Seen == nil {
		return belay.TreeState{Error: cmp.Or(look.Error, "nobody looked")}
	}
	return look.Seen.After
}
