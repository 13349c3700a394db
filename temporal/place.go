package temporal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/proc"
)

const (
	notesEvery = 300 * time.Millisecond // how often the notes of an agent are read
	treeEvery  = time.Second            // how often a working tree is asked for that others have
	partWithin = 20 * time.Second       // for a keeper to say goodbye
)

// attach takes the tree for a driver. What an earlier one waited for here is told so.
func (p *place) attach(ctx context.Context, in AttachIn) (Attached, error) {
	if err := p.sync(ctx); err != nil {
		return Attached{}, err
	}
	if have := stamp(p.run.Copy().Last()); in.Last != "" && have != in.Last {
		return Attached{}, fmt.Errorf("the copy of the records ends with %q, and the tree with %q", have, in.Last)
	}
	p.detach(ctx)
	if err := p.settle(ctx, in); err != nil {
		return Attached{}, err
	}
	got, err := p.take(ctx, in)
	if err == nil {
		got.Here = p.here
		if in.Carry != nil && !p.here {
			got.Dir = p.checkout()
		}
		got.Made, p.made = p.made, false
	}
	if err == nil && in.Carry.pushes() && changed(got.Facts.unpack()) {
		got.Snap, got.Behind = p.snapshot(ctx, in.Carry, in.Epoch)
	}
	if err == nil {
		got.Facts, err = rehomed(p.where().back(), got.Facts)
	}
	return got, err
}

// take reaches the keeper, and says what became of every open attempt.
func (p *place) take(ctx context.Context, in AttachIn) (Attached, error) {
	p.hands.Lock()
	defer p.hands.Unlock()
	if in.Lost != "" {
		if err := p.recount(); err != nil {
			return Attached{}, err
		}
	}
	k, states, err := p.run.Keeper(context.WithoutCancel(ctx), in.Epoch, in.Open)
	if err != nil {
		return Attached{}, err
	}
	got := Attached{Containment: int(proc.Containment())}
	tree := p.run.Tree
	if err := p.run.Site().Ledger.GiveTrees(tree.Trees()); err != nil { // an earlier driver may have died before it did
		return got, errors.Join(err, k.Close(ctx))
	}
	for _, key := range in.Open {
		if in.Lost != "" { // whatever this host knows of it, another one had it since
			states[key] = proc.State{Found: fault.Lost}
		}
		job, ok := tree.Job(key)
		if !ok {
			return got, errors.Join(fmt.Errorf("attempt %s is open but unknown", key), k.Close(ctx))
		}
		view, _ := tree.Run(job.Run).Step(job.Path)
		facts, err := p.run.Site().Found(job, view.Lost, states[key])
		if err != nil {
			return got, errors.Join(err, k.Close(ctx))
		}
		got.Facts = append(got.Facts, pack(facts)...)
		if states[key].Found == fault.Adopted {
			got.Adopted = append(got.Adopted, key)
		}
	}
	p.mu.Lock()
	p.keeper, p.epoch, p.gone = k, in.Epoch, make(chan struct{})
	p.lease, p.until, p.last, p.pushed = in.Lease, time.Time{}, "", 0
	p.live, p.doomed = map[belay.Key]*attempt{}, map[belay.Key]KillIn{}
	go p.read(k, p.gone) //nolint:contextcheck // it reads for as long as the keeper is this driver's, which is longer than the attach
	p.mu.Unlock()
	return got, p.host.prove(ctx, p, in.Epoch)
}

// detach parts with the keeper, which stays with what it holds.
func (p *place) detach(ctx context.Context) {
	p.mu.Lock()
	k := p.keeper
	p.drop()
	p.mu.Unlock()
	if k == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), partWithin)
	defer cancel()
	_ = k.Close(ctx) // one that is dead is only reaped
}

// drop forgets the keeper. The caller has mu.
func (p *place) drop() {
	if p.keeper != nil {
		close(p.gone)
		p.keeper = nil
	}
}

// read takes in what a keeper says, until it has nothing more to say to this driver.
func (p *place) read(k engine.Keeper, gone <-chan struct{}) {
	for {
		select {
		case e, ok := <-k.Events():
			if !ok || e.Gone != nil {
				p.mu.Lock()
				mine := p.keeper == k
				if mine {
					p.drop()
				}
				p.mu.Unlock()
				if mine {
					ctx, cancel := context.WithTimeout(context.Background(), partWithin)
					defer cancel()
					_ = k.Close(ctx) // it is dead: this reaps it
				}
				return
			}
			p.mu.Lock()
			a := p.attempt(e.Exit.Key)
			if a.exit == nil {
				a.exit = e.Exit
				close(a.ended)
			}
			p.mu.Unlock()
		case <-gone:
			return
		}
	}
}

// attempt is what is known of one. The caller has mu.
func (p *place) attempt(k belay.Key) *attempt {
	if p.live[k] == nil {
		p.live[k] = &attempt{ended: make(chan struct{})}
	}
	return p.live[k]
}

// do makes one attempt and waits for its end.
func (p *place) do(ctx context.Context, in DoIn) ([]flow.Fact, error) {
	p.mu.Lock()
	if p.keeper == nil || p.epoch != in.Epoch {
		p.mu.Unlock()
		return nil, detached("another driver has the tree, or its keeper died")
	}
	k, gone, starts := p.keeper, p.gone, !in.Found && p.live[in.Job.Key] == nil
	a := p.attempt(in.Job.Key)
	why, doomed := p.doomed[in.Job.Key]
	p.mu.Unlock()
	if starts && doomed {
		now := time.Now()
		return []flow.Fact{ended(in.Job, effect.Observation{Exit: -1, KilledBy: why.Why, Started: now, Ended: now})}, nil
	}
	if starts {
		if err := p.host.prove(ctx, p, in.Epoch); err != nil {
			p.forget(in.Job.Key)
			return nil, err
		}
		p.hands.Lock()
		ends, err := p.run.Site().Start(ctx, k, in.Job)
		p.hands.Unlock()
		if err != nil {
			p.forget(in.Job.Key)
		}
		if err != nil || len(ends) > 0 {
			return ends, err
		}
	}
	return p.await(ctx, in, a, gone)
}

// forget takes an attempt back that was not begun.
func (p *place) forget(k belay.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.live, k)
}

func ended(j effect.Job, o effect.Observation) flow.Fact {
	return flow.Fact{Run: j.Run, Event: event.AttemptEnded{Key: j.Key, Observation: o}}
}

// await waits for the end of an attempt; meanwhile it tells the driver what becomes
// known of an agent.
func (p *place) await(ctx context.Context, in DoIn, a *attempt, gone <-chan struct{}) ([]flow.Fact, error) {
	var notes <-chan time.Time
	if in.Job.Agent != nil {
		t := time.NewTicker(notesEvery)
		defer t.Stop()
		notes = t.C
	}
	for {
		select {
		case <-a.ended:
			if a.exit.KilledBy == fault.KilledLease { // it did not end by itself: whoever attaches next finds it lost
				return nil, detached("the lease of the keeper was over")
			}
			p.hands.Lock()
			defer p.hands.Unlock()
			facts, err := p.notes(ctx, in.Job)
			if err != nil {
				return nil, err
			}
			end, err := p.run.Site().Ended(in.Job, *a.exit)
			return append(facts, end), err
		case <-gone:
			return nil, detached("the keeper died, or another driver came")
		case <-notes:
			p.hands.Lock()
			facts, err := p.notes(ctx, in.Job)
			p.hands.Unlock()
			if err == nil && len(facts) > 0 {
				err = p.tell(ctx, in.Epoch, facts)
			}
			if err != nil {
				activity.GetLogger(ctx).Warn("notes of an agent were not told", "key", in.Job.Key, "error", err)
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// tell tells the driver what became known.
func (p *place) tell(ctx context.Context, epoch int64, facts []flow.Fact) error {
	known, err := rehomed(p.where().back(), pack(facts))
	if err != nil {
		return err
	}
	return p.host.Client.SignalWorkflow(ctx, workflowID(p.root), "", signalNoted, Noted{Epoch: epoch, Facts: known})
}

// notes are those that are not records yet. The caller has the hands.
func (p *place) notes(ctx context.Context, job effect.Job) ([]flow.Fact, error) {
	if job.Agent == nil {
		return nil, nil
	}
	if p.run.Tree.Run(job.Run) == nil { // a child run that began after the copy was made
		if err := p.fetch(ctx); err != nil {
			return nil, err
		}
	}
	return p.run.Site().Hand.Notes(job)
}

// kill ends an attempt; one that has not come yet never begins.
func (p *place) kill(in KillIn) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keeper == nil {
		return nil
	}
	if p.live[in.Key] == nil {
		p.doomed[in.Key] = in
		return nil
	}
	grace := p.host.Engine.Limits.Grace
	if in.Agent { // an attendant keeps that of its start
		grace = 0
	}
	_ = p.keeper.Signal(in.Key, in.Why, grace) // a broken connection shows as Gone
	return nil
}

// tree asks for a working tree until it is there, or another run has it than the one
// that had it before.
func (p *place) tree(ctx context.Context, q effect.AskTree, by belay.RunID) (effect.AnswerTree, bool, error) {
	since := activity.GetInfo(ctx).ScheduledTime
	for {
		waited := time.Duration(0)
		if by != "" {
			waited = time.Since(since)
		}
		p.hands.Lock()
		a, again := p.run.Site().Tree(q, waited)
		p.hands.Unlock()
		if !again || a.By != by {
			return a, again, nil
		}
		select {
		case <-time.After(treeEvery):
		case <-ctx.Done():
			return a, false, ctx.Err()
		}
	}
}
