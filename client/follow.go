package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/story"
)

const (
	followEvery  = 100 * time.Millisecond
	attachWithin = time.Minute // for a driver to take a run that was just made
)

var (
	errLeft  = errors.New("the loop was left")
	errQuiet = errors.New("nothing was written")
	errHeard = errors.New("something was written")
)

// Follow gives all records of a run, those of its child runs among them, in
// order: first what is there, then what is written, whichever process drives the
// run. It ends when the run ends, is held, paused or stopped. The last pair has an
// error when ctx is cancelled, when the run cannot be read, or when its driver died
// and nobody has resumed it.
func (c *Client) Follow(ctx context.Context, id belay.RunID) iter.Seq2[event.Record, error] {
	return func(yield func(event.Record, error) bool) {
		if err := c.follow(ctx, id, yield); err != nil && !errors.Is(err, errLeft) {
			yield(event.Record{}, err)
		}
	}
}

func (c *Client) follow(ctx context.Context, id belay.RunID, yield func(event.Record, error) bool) (err error) {
	state, err := c.stateDir()
	if err != nil {
		return err
	}
	st, err := journal.LookState(state)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	view, err := st.View(id.Root())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	live := story.Live(nil)
	for began := time.Now(); ; {
		there := driven(live, began)
		step, cancel := context.WithTimeoutCause(ctx, followEvery, errQuiet)
		err := view.Follow(step, live.Seq, followEvery/2, func(recs []event.Record) error {
			live.Add(recs...)
			for _, r := range recs {
				if !yield(r, nil) {
					return errLeft
				}
			}
			return errHeard
		})
		cancel()
		switch {
		case errors.Is(err, errHeard):
			if live.Rest != nil && live.Rest.Status != belay.Parked {
				return nil
			}
		case !errors.Is(err, errQuiet):
			return err
		case !there:
			return exit.New(exit.Failed, "follow", fmt.Errorf("nobody drives run %s any more", id.Root()), "go on with Resume")
		}
	}
}

// driven tells whether somebody may still write: the last driver lives, the run
// is parked, or it was just made.
func driven(s *story.Story, began time.Time) bool {
	if s.Rest != nil { // parked
		return true
	}
	if len(s.Drivers) == 0 {
		return time.Since(began) < attachWithin
	}
	last := s.Drivers[len(s.Drivers)-1]
	return proc.Identity{Pid: last.Pid, Start: last.Start, Boot: last.Boot}.Alive()
}
