package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/step"
	"github.com/belay-run/belay/worktree"
)

// aroundWithin bounds the look where a directory lies.
const aroundWithin = 10 * time.Second

// stays notes where a job is about to work, once for each place: other runs that
// judge an agent there must see that this one was at work.
func (w *drive) stays(ctx context.Context, j belay.Job) error {
	if w.Stay == nil || j.Dir == "" {
		return nil
	}
	var fresh []string
	for _, place := range noted(w.spotOf(ctx, j.Dir)) {
		if !w.stayed[place] {
			fresh = append(fresh, place)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if err := w.Stay(fresh); err != nil {
		return err
	}
	for _, place := range fresh {
		w.stayed[place] = true
	}
	return nil
}

// inner stands behind the top of a tree for the trees inside of it.
const inner = "/"

// noted are the names of the places in which a run is that works somewhere: its
// tree, the trees around that in which its changes are seen, and the repository.
func noted(s worktree.Spot) []string {
	places := []string{s.Top}
	for _, top := range s.Above {
		places = append(places, top+inner)
	}
	if s.Repo != "" {
		places = append(places, s.Repo)
	}
	return places
}

// asked are the names of the places in which a run is that can have changed what
// is seen of a tree: those who work in it, in one inside of it, or around it. Who
// works around a tree that was made to be apart leaves it alone. Where there are
// only commits that anybody in the repository can have made, all who work in that.
func asked(s worktree.Spot, anywhere bool) []string {
	places := []string{s.Top, s.Top + inner}
	if !s.Apart {
		places = append(places, s.Above...)
	}
	if anywhere && s.Repo != "" {
		places = append(places, s.Repo)
	}
	return places
}

// spotOf is where a directory lies, looked for once while it is the same
// directory.
func (w *drive) spotOf(ctx context.Context, dir string) worktree.Spot {
	spot, known := w.places[dir]
	if !known {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), aroundWithin)
		defer cancel()
		spot = worktree.Around(ctx, dir, w.Host.Skip)
		w.places[dir] = spot
	}
	return spot
}

// meets adds to the end of an agent's attempt which other runs worked in its
// tree meanwhile. It asks for times and not for what is there now, so that an
// attempt that ended while nobody drove the run is told the same.
func (w *drive) meets(ctx context.Context, j belay.Job, o *belay.Observation) error {
	if w.Beside == nil || o.Agent == nil || o.Started.IsZero() {
		return nil
	}
	runs, err := w.Beside(asked(w.spotOf(ctx, j.Dir), o.Agent.Evidence.Apart), measuredSince(j, *o), o.Ended)
	if err != nil {
		return fmt.Errorf("look who else worked there: %w", err)
	}
	o.Beside = runs
	return nil
}

// left adds to a lost attempt of an agent what its attendant saw, if that lived
// long enough to report: the next attempt is measured by it. Without, all that
// anybody did since the lost one began would look like its work.
func (w *drive) left(ctx context.Context, j belay.Job, started time.Time, e *belay.AttemptFound) error {
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
	err := w.meets(ctx, j, &o)
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

func (o *Open) stayIn(places []string) error {
	return o.local.State.Stay(o.ID, o.session.Tree, places...)
}

func (o *Open) besideIn(places []string, from, to time.Time) ([]belay.RunID, error) {
	return o.local.State.Beside(o.ID, o.session.Tree, places, from, to)
}
