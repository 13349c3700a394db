package cli

import (
	"context"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
)

const (
	leaveWithin = 10 * time.Second // for a driver that is done with its run to be gone
	leaveEvery  = 20 * time.Millisecond
)

// takeRun is the right to go on with a run. A driver that has written down the
// end of its work is about to go: whoever was told so, and types the next
// command, waits for it.
func takeRun(ctx context.Context, ws *workshop, id belay.RunID) (*engine.Open, error) {
	until := time.Now().Add(leaveWithin)
	tick := time.NewTicker(leaveEvery)
	defer tick.Stop()
	for {
		open, err := ws.local.Resume(id)
		if err == nil || !isBusy(err) || time.Now().After(until) || !leaving(ws.state, id) {
			return open, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, err
		}
	}
}

// leaving tells whether the driver of a run has nothing left to do in it. The
// last of the root's own records says so: a run that goes on has others.
func leaving(st *journal.State, id belay.RunID) bool {
	s, err := glance(st, id)
	return err == nil && s.Run(id).Rests
}

// glance is the story of a run as its records are now, without how its steps
// stand.
func glance(st *journal.State, id belay.RunID) (*story.Story, error) {
	view, err := st.View(id)
	if err != nil {
		return nil, err
	}
	defer func() { _ = view.Close() }() // read only: nothing to lose
	recs, err := view.Load()
	return story.Tell(nil, recs), err
}
