package engine

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/step"
	"github.com/belay-run/belay/worktree"
)

// stays notes where a job is about to work, once for each working tree: other
// runs that judge an agent there must see that this one was at work.
func (w *drive) stays(j belay.Job) error {
	if w.Stay == nil || j.Dir == "" {
		return nil
	}
	place := w.placeOf(j.Dir)
	if w.stayed[place] {
		return nil
	}
	if err := w.Stay(place); err != nil {
		return err
	}
	w.stayed[place] = true
	return nil
}

// placeOf is the working tree of a directory, looked for once while it is the
// same directory.
func (w *drive) placeOf(dir string) string {
	place, known := w.places[dir]
	if !known {
		place = worktree.Around(dir)
		w.places[dir] = place
	}
	return place
}

// meets adds to the end of an agent's attempt which other runs worked in its
// tree meanwhile. It asks for times and not for what is there now, so that an
// attempt that ended while nobody drove the run is told the same.
func (w *drive) meets(j belay.Job, o *belay.Observation) error {
	if w.Beside == nil || o.Agent == nil || o.Started.IsZero() {
		return nil
	}
	runs, err := w.Beside(w.placeOf(j.Dir), measuredSince(j, *o), o.Ended)
	if err != nil {
		return fmt.Errorf("look who else worked there: %w", err)
	}
	o.Beside = runs
	return nil
}

// left adds to a lost attempt of an agent what its attendant saw, if that lived
// long enough to report: the next attempt is measured by it. Without, all that
// anybody did since the lost one began would look like its work.
func (w *drive) left(j belay.Job, started time.Time, e *belay.AttemptFound) error {
	if j.Agent == nil {
		return nil
	}
	r, ok := step.Report(w.Store, j.Key)
	if !ok {
		return nil
	}
	o := belay.Observation{Began: true, Started: started, Ended: w.now(), Agent: &r}
	if at := r.Evidence.After.At; at > 0 {
		o.Ended = time.Unix(0, at)
	}
	err := w.meets(j, &o)
	e.Left, e.Beside = &r.Evidence, o.Beside
	return err
}

// measuredSince is since when a change counts as work of an attempt: its start,
// or that of the earlier one whose base it has. All that came between, also while
// nobody drove the run, is in what it is measured by.
func measuredSince(j belay.Job, o belay.Observation) time.Time {
	from := o.Started
	if a := j.Agent; a != nil && !a.Since.IsZero() && a.Since.Before(from) {
		from = a.Since
	}
	if at := o.Agent.Evidence.Before.At; at > 0 && time.Unix(0, at).Before(from) {
		from = time.Unix(0, at)
	}
	return from
}

func (o *Open) stayIn(place string) error {
	return o.local.State.Stay(o.ID, o.session.Tree, place)
}

func (o *Open) besideIn(place string, from, to time.Time) ([]belay.RunID, error) {
	return o.local.State.Beside(o.ID, o.session.Tree, place, from, to)
}
