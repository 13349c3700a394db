package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/journal"
)

// stopRounds is how often stop --all looks for runs that have begun meanwhile.
const stopRounds = 5

// stopAll stops every run that has not ended or come to rest, the oldest first: a
// run inside a step of another ends with that. It looks again until there is none.
func (a *app) stopAll(ctx context.Context, why string, asJSON bool) (err error) {
	ws, err := a.open()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", ws.close)
	if err := a.person(ws.state, "stop", ""); err != nil {
		return err
	}
	var failed []error
	tried := map[belay.RunID]bool{}
	for range stopRounds {
		ids, err := unrested(ws.state, tried)
		if err != nil {
			return err
		}
		for _, id := range ids {
			tried[id] = true
			err := a.endRun(ctx, ws, id, event.RequestStop, why, asJSON)
			if err != nil && leaving(ws.state, id) {
				continue // it came to its end by itself
			}
			if err != nil {
				a.complain(fmt.Errorf("run %s: %w", id, err))
				failed = append(failed, err)
			}
		}
		if len(ids) == 0 {
			break
		}
	}
	switch {
	case len(failed) > 0:
		worst := failed[0]
		for _, err := range failed[1:] {
			if exit.Worse(exit.Code(worst), exit.Code(err)) != exit.Code(worst) {
				worst = err
			}
		}
		return exit.New(exit.Code(worst), "stop", fmt.Errorf("%d of %d runs could not be stopped", len(failed), len(tried)),
			"see which with "+a.name()+" runs, then type the same again")
	case len(tried) == 0:
		a.say("no run is there to be stopped")
	}
	return nil
}

// unrested are the runs that have not ended or come to rest, but for those that
// were tried, the oldest first.
func unrested(st *journal.State, tried map[belay.RunID]bool) ([]belay.RunID, error) {
	sums, err := st.Runs(belay.Running, belay.Parked)
	slices.SortStableFunc(sums, func(x, y journal.Summary) int { return x.Started.Compare(y.Started) })
	var ids []belay.RunID
	for _, sum := range sums {
		if !sum.Gone && !tried[sum.ID] && (sum.Beginning || st.Begun(sum.ID)) {
			ids = append(ids, sum.ID)
		}
	}
	return ids, err
}

// awaitLeave waits a little until the driver of a run that has come to rest is gone,
// too: whoever looks at the processes then finds none.
func awaitLeave(ctx context.Context, st *journal.State, id belay.RunID) {
	s, err := glance(st, id)
	if err != nil {
		return // it cannot be told who that was
	}
	driver := driverOf(s.Driver().RunAttached)
	tick := time.NewTicker(leaveEvery)
	defer tick.Stop()
	for end := time.Now().Add(leaveWithin); driver.Alive() && time.Now().Before(end); {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
