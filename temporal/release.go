package temporal

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
)

// The queues of a host.
func workQueue(host string) string    { return "belay-work-" + host }
func controlQueue(host string) string { return "belay-control-" + host }

// beat is how long a host may say nothing of an attempt; it sends a heartbeat each BeatEvery.
const (
	beat      = 20 * time.Second
	beats     = 3
	BeatEvery = beat / beats
)

// control is for what a host does at once. That the server gives it to the host
// again is no retry of a step: all of it is idempotent.
func (w *drive) control(ctx workflow.Context, most time.Duration) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: controlQueue(w.in.Host), StartToCloseTimeout: most, HeartbeatTimeout: w.in.beat(), ScheduleToStartTimeout: w.in.Lost,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: 200 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 10 * time.Second, NonRetryableErrorTypes: []string{tooBigType}},
	})
}

// release gives the effects of a turn to the host.
func (w *drive) release(ctx workflow.Context, effects []effect.Effect) error {
	var stuck error
	for _, c := range effects {
		key := belay.Key("")
		switch c := c.(type) {
		case effect.Do:
			key = c.Job.Key
		case effect.Ask:
			key = c.Key
		case effect.Kill:
			w.kill(ctx, c)
			continue
		default:
			return fmt.Errorf("no effect of kind %T", c)
		}
		if big := w.tooBig(key); big != nil {
			stuck = fmt.Errorf("%s: %w", key, big)
			continue
		}
		if err := w.breathe(ctx, key); err != nil {
			return err
		}
		switch c := c.(type) {
		case effect.Do:
			w.do(ctx, c.Job, false)
		case effect.Ask:
			w.ask(ctx, c)
		}
	}
	if stuck == nil {
		return nil
	}
	return w.burdened(ctx, "what has to be told to the worker of the run", stuck)
}

// do has the host make one attempt, or wait for one that was found. The keeper there
// runs a key once; a host that lost hold of the tree says so, and the attempt is
// found again by all.
func (w *drive) do(ctx workflow.Context, j effect.Job, found bool) {
	epoch := w.epoch
	w.started = workflow.Now(ctx)
	ctx = workflow.WithActivityOptions(w.given(ctx), workflow.ActivityOptions{
		TaskQueue: workQueue(w.in.Host), StartToCloseTimeout: 30 * 24 * time.Hour, HeartbeatTimeout: w.in.beat(), ScheduleToStartTimeout: w.in.Lost,
		RetryPolicy: w.in.tries(),
	})
	in := DoIn{Root: w.in.Run, Epoch: epoch, Found: found, Carry: w.in.Carry, Job: j}
	f := workflow.ExecuteActivity(ctx, "Do", in)
	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			var got Done
			err := f.Get(ctx, &got)
			if unpolled(err) && w.epoch == epoch && w.there(ctx) { // all its slots are taken
				f = workflow.ExecuteActivity(ctx, "Do", in)
				continue
			}
			if heavy(err) {
				w.inbox = append(w.inbox, input{epoch: epoch, heavy: "what " + string(j.Key) + " did"})
				return
			}
			w.inbox = append(w.inbox, input{epoch: epoch, detached: err != nil, facts: got.Facts.unpack(), pushed: pushed{got.Snap, got.Behind}})
			return
		}
	})
}

// kill has the host end an attempt; its end comes as that of every attempt.
func (w *drive) kill(ctx workflow.Context, c effect.Kill) {
	j, _ := w.tree.Job(c.Key)
	workflow.ExecuteActivity(w.control(ctx, time.Minute), "Kill", KillIn{Root: w.in.Run, Key: c.Key, Why: c.Why, Agent: j.Agent != nil})
}

// ask has the host answer a question. While others have a working tree the host
// waits for it, and says who they are.
func (w *drive) ask(ctx workflow.Context, c effect.Ask) {
	if w.asked[c.Key] {
		return // a question is known by its key: the answer is on its way
	}
	w.asked[c.Key] = true
	_, topic, _ := c.Key.Question()
	most := 20 * time.Minute
	if topic == belay.TopicTree {
		most = 30 * 24 * time.Hour
	}
	ctx = w.control(ctx, most)
	in, epoch := AskIn{Root: w.in.Run, Ask: c}, w.epoch
	f := workflow.ExecuteActivity(ctx, "Ask", in)
	if topic != belay.TopicTree { // that one may take as long as others have the tree
		w.asking++
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		defer delete(w.asked, c.Key)
		if topic != belay.TopicTree {
			defer func() { w.asking-- }()
		}
		for {
			var got Answered
			err := f.Get(ctx, &got)
			if unpolled(err) {
				epoch = w.reached(ctx, epoch)
				ctx = w.control(ctx, most)
				f = workflow.ExecuteActivity(ctx, "Ask", in)
				continue
			}
			if heavy(err) {
				w.inbox = append(w.inbox, input{heavy: "the answer to " + string(c.Key)})
				return
			}
			if err != nil {
				return // cancelled with the workflow; every other error is tried again
			}
			w.inbox = append(w.inbox, input{facts: got.Facts.unpack()})
			if !got.Again {
				return
			}
			in.By = got.By
			f = workflow.ExecuteActivity(ctx, "Ask", in)
		}
	})
}

// keep has the host do what follows from records, and waits for it.
func (w *drive) keep(ctx workflow.Context, k KeepIn) {
	k.Root = w.in.Run
	if k.End {
		k.Carry = w.in.Carry
	}
	ctx = w.control(ctx, 20*time.Minute)
	if !w.had { // it may never come
		ctx = workflow.WithScheduleToStartTimeout(ctx, nearWithin)
	}
	f := workflow.ExecuteActivity(ctx, "Keep", k)
	if k.End || len(k.Cleared) > 0 {
		_ = f.Get(ctx, nil) // tried until it is done
	}
}

// listen answers those who ask about the tree, and takes in what they want.
func (w *drive) listen(ctx workflow.Context) error {
	if err := workflow.SetQueryHandler(ctx, queryPage, func(after int64) (Page, error) { return w.page(ctx, after) }); err != nil {
		return err
	}
	if err := workflow.SetQueryHandler(ctx, queryParcel, func() (parcel, error) { return w.parcel, nil }); err != nil {
		return err
	}
	if err := workflow.SetQueryHandler(ctx, queryCarry, func() (*Carry, error) { return w.in.Carry, nil }); err != nil {
		return err
	}
	for name, in := range map[string]input{updateDrive: {drive: true}, updateSettle: {settle: true}} {
		err := workflow.SetUpdateHandlerWithOptions(ctx, name, func(ctx workflow.Context, p Push) (int64, error) {
			in := in
			in.facts, in.move = p.Facts.unpack(), p.Elsewhere
			return w.put(ctx, in)
		}, workflow.UpdateHandlerOptions{Validator: w.current})
		if err != nil {
			return err
		}
	}
	if err := workflow.SetUpdateHandler(ctx, updateAsk, func(ctx workflow.Context, r event.Request) (int64, error) { return w.put(ctx, w.wish(r)) }); err != nil {
		return err
	}
	back, noted := workflow.GetSignalChannel(ctx, signalBack), workflow.GetSignalChannel(ctx, signalNoted)
	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			s := workflow.NewSelector(ctx)
			s.AddReceive(back, func(c workflow.ReceiveChannel, _ bool) {
				var host string
				c.Receive(ctx, &host)
				if host == w.in.Host {
					w.inbox = append(w.inbox, input{epoch: w.epoch, detached: true})
				}
			})
			s.AddReceive(noted, func(c workflow.ReceiveChannel, _ bool) {
				var n Noted
				c.Receive(ctx, &n)
				w.inbox = append(w.inbox, input{epoch: n.Epoch, facts: n.Facts.unpack()})
			})
			s.Select(ctx)
		}
	})
	return nil
}

// current refuses what was made of older records than there are.
func (w *drive) current(p Push) error {
	if last := prev(w.recs, p.Seq); p.Seq != int64(len(w.recs)) || len(w.inbox) > 0 || w.busy > 0 || p.Last != "" && last != "" && p.Last != last {
		return temporal.NewNonRetryableApplicationError(fmt.Sprintf("it was made of %d records, and there are %d, or others", p.Seq, len(w.recs)), errStale, nil)
	}
	if p.Elsewhere && !w.missing {
		return temporal.NewNonRetryableApplicationError(fmt.Sprintf("host %s has the run, and is not missed", w.in.Host), errThere, nil)
	}
	return nil
}

// errThere is the type of the error of somebody who wants a run elsewhere whose host is
// not lost.
const errThere = "there"

// errStale is the type of the error of somebody who has to look again.
const errStale = "stale"

// put puts something into the inbox and waits until it is in a turn.
func (w *drive) put(ctx workflow.Context, in input) (int64, error) {
	w.busy++
	done := false
	in.done = &done
	w.inbox = append(w.inbox, in)
	err := workflow.Await(ctx, func() bool { return done && !w.goes && !w.taking && len(w.facts) == 0 })
	w.busy--
	return int64(len(w.recs)), err
}

// wish is a request as a fact, once for each id. A tree that rests goes on for it
// where it can make a difference.
func (w *drive) wish(r event.Request) input {
	s := w.tree.Run(r.Run)
	in := input{}
	switch root := w.tree.Run(w.in.Run); {
	case s == nil && root != nil && !root.Seen(r.ID):
		in.facts = []flow.Fact{
			{Run: w.in.Run, Event: event.RequestReceived{Request: r}},
			{Run: w.in.Run, Event: event.RequestRefused{ID: r.ID, Why: fmt.Sprintf("no run %s in this tree", r.Run)}},
		}
	case s != nil && !s.Seen(r.ID):
		in.facts = []flow.Fact{{Run: r.Run, Event: event.RequestReceived{Request: r}}}
	}
	if !w.asleep || len(in.facts) == 0 {
		return in
	}
	switch r.Ask {
	case event.RequestAnswer, event.RequestCancel:
		in.drive = true
	case event.RequestStop, event.RequestPause, event.RequestClear:
		in.settle = true
	}
	return in
}

// page gives the records after a number, as far as they go into one answer.
func (w *drive) page(ctx workflow.Context, after int64) (Page, error) {
	p := Page{Seq: int64(len(w.recs)), Prev: prev(w.recs, after), Stored: w.sure(ctx), Asleep: w.asleep, Host: w.in.Host, Missing: w.missing, Waits: w.waits, Drives: w.in.Drives, Busy: len(w.inbox) > 0 || w.busy > 0 || w.goes || w.taking || len(w.facts) > 0}
	if w.tree != nil {
		p.Status = w.tree.Status()
	}
	size := 0
	for _, r := range w.recs[min(max(after, 0), int64(len(w.recs))):] {
		b, err := r.MarshalJSON()
		if err != nil {
			return p, err
		}
		if size += len(b); size > maxPage && len(p.Records) > 0 {
			break
		}
		p.Records = append(p.Records, r)
	}
	return p, nil
}
