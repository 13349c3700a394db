package temporal

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/belay-run/belay/exit"
)

// Two workers with one name take what is meant for the other one: an attempt comes to a
// worker that has not seen its run. The server tells who asked a queue for work lately,
// and when. Who is there asks again within the time that the server lets it wait.
const (
	pollTime = 70 * time.Second // between two questions of one that is there, at most
	twinLook = time.Second
)

// behindState is what stands before the state directory in the identity of a worker.
const behindState = " state "

// identity is how the server knows the worker at its control queue.
func (w Worker) identity() string {
	if w.State == "" {
		return ""
	}
	return fmt.Sprintf("process %d on %s", os.Getpid(), w.Machine) + behindState + w.State
}

// single waits until it is known that no worker with this name and another state directory
// is there, and says so when one is.
func (w Worker) single(ctx context.Context) error {
	if w.State == "" {
		return nil
	}
	first := w.twins(ctx)
	if len(first) == 0 {
		return nil
	}
	who := slices.Sorted(maps.Keys(first))[0]
	if w.Warn != nil {
		w.Warn(fmt.Sprintf("%s was worker %s a short time ago, with another state directory: it takes up to %s to see whether it still is", who, w.Host, pollTime))
	}
	for end := time.Now().Add(pollTime); time.Now().Before(end); {
		select {
		case <-time.After(twinLook):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		for who, at := range w.twins(ctx) {
			if at.After(first[who]) {
				return exit.New(exit.Infra, "work", fmt.Errorf("%s is worker %s, with another state directory", who, w.Host),
					"each worker needs a name of its own: give this one another --host")
			}
		}
	}
	return nil
}

// twins are those who asked the control queue of this name for work lately, from another
// state directory, and when. Nobody is known while the server does not tell.
func (w Worker) twins(ctx context.Context) map[string]time.Time {
	all := map[string]time.Time{}
	got, err := w.Client.DescribeTaskQueue(ctx, controlQueue(w.Host), enumspb.TASK_QUEUE_TYPE_ACTIVITY)
	if err != nil {
		return all
	}
	for _, p := range got.GetPollers() {
		who, state, told := strings.Cut(p.GetIdentity(), behindState)
		if at := p.GetLastAccessTime().AsTime(); told && state != w.State && time.Since(at) < pollTime {
			all[who] = at
		}
	}
	return all
}
