package temporal

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/belay-run/belay"
)

const (
	queryTries = 5 // one that no worker takes waits for ten seconds
	queryPause = 50 * time.Millisecond
)

// query asks the workflow of a tree something, a few times if need be. A worker that
// can answer may just be starting. And a worker that has the workflow not at hand
// replays it for the answer: the server reads how far the workflow came, and after that
// its history, so that one which went on in between does not fit, and the query fails.
// The next one fits.
func query(ctx context.Context, c client.Client, root belay.RunID, to any, name string, args ...any) error {
	pause := queryPause
	for try := 1; ; try++ {
		v, err := c.QueryWorkflow(ctx, workflowID(root), "", name, args...)
		if err == nil {
			return v.Get(to)
		}
		if ctx.Err() != nil || !askAgain(err) {
			return err
		}
		if try == queryTries {
			if mute(err) {
				return errSilent
			}
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
		pause *= 2
	}
}

// errSilent says that a query was asked again and again, and no worker answered.
var errSilent = errors.New("no worker answered")

// askAgain tells whether the same query may be answered the next time.
func askAgain(err error) bool {
	var failed *serviceerror.QueryFailed
	return mute(err) || errors.As(err, &failed)
}

// mute tells whether nobody answered.
func mute(err error) bool {
	var late *serviceerror.DeadlineExceeded
	var away *serviceerror.Unavailable
	var dropped *serviceerror.Canceled          // by the server: the worker died, or its workflow went over to a new history
	var nobody *serviceerror.FailedPrecondition // no worker asked for work of late
	return errors.As(err, &late) || errors.As(err, &away) || errors.As(err, &dropped) || errors.As(err, &nobody) ||
		errors.Is(err, context.DeadlineExceeded)
}
