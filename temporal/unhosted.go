package temporal

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
)

const (
	// changeUnhosted is the name of a change in histories: a run can end without a host.
	changeUnhosted = "ends without a host"
	answersWithin  = time.Second // a host that is there, before a run ends without it
)

// unhosted waits for what a host is to answer, and tells whether the run came to rest
// meanwhile: a person who wants that does not wait for a host that has nothing to do for
// it. first are facts that wait for the host, too.
func (w *drive) unhosted(ctx workflow.Context, f workflow.Future, first []flow.Fact) (bool, error) {
	wants, tried := wantsEnd(first), 0
	for {
		err := workflow.Await(ctx, func() bool { return f.IsReady() || wants || w.ending() > tried })
		if err != nil || f.IsReady() {
			return false, err
		}
		if workflow.GetVersion(ctx, changeUnhosted, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
			return false, workflow.Await(ctx, f.IsReady)
		}
		if answered, err := workflow.AwaitWithTimeout(ctx, answersWithin, f.IsReady); err != nil || answered {
			return false, err
		}
		wants, tried = false, w.ending()
		if ended, err := w.endHere(ctx, first); err != nil || ended {
			return ended, err
		}
	}
}

// wantsEnd tells whether a person wants the run to come to rest.
func wantsEnd(facts []flow.Fact) bool {
	return slices.ContainsFunc(facts, func(f flow.Fact) bool {
		r, ok := f.Event.(event.RequestReceived)
		return ok && (r.Request.Ask == event.RequestCancel || r.Request.Ask == event.RequestStop)
	})
}

// ending is how many who want that are in the inbox.
func (w *drive) ending() (n int) {
	for _, in := range w.inbox {
		if wantsEnd(in.facts) {
			n++
		}
	}
	return n
}

// endHere lets the run come to rest as those want who are in the inbox, if nothing has to
// be done on a host for that.
func (w *drive) endHere(ctx workflow.Context, first []flow.Fact) (bool, error) {
	facts := slices.Clone(first)
	for _, in := range w.inbox {
		if wantsEnd(in.facts) {
			facts = append(facts, in.facts...)
		}
	}
	var can bool
	now := workflow.Now(ctx)
	if err := workflow.SideEffect(ctx, func(workflow.Context) any { return w.restsBy(now, facts) }).Get(&can); err != nil || !can {
		return false, err
	}
	if err := w.take(ctx, facts, false); err != nil {
		return false, err
	}
	w.inbox = slices.DeleteFunc(w.inbox, func(in input) bool {
		if wantsEnd(in.facts) && in.done != nil {
			*in.done = true
		}
		return wantsEnd(in.facts)
	})
	return true, nil
}

// restsBy tells whether the tree comes to rest by facts alone. It tries that on a copy.
func (w *drive) restsBy(now time.Time, facts []flow.Fact) bool {
	tree, err := w.tree.Copy()
	if err != nil {
		return false
	}
	turn, err := tree.Turn(now, facts...)
	return err == nil && !turn.More && len(turn.Effects) == 0 && (turn.Status.Terminal() || turn.Status == belay.Stopped)
}
