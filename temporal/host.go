package temporal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/proc"
)

// Host is one machine with working trees, keepers and logs. The process that is it
// may die and come back under the same state directory: what it holds does not.
type Host struct {
	Name   string
	Engine *engine.Local
	Client client.Client
	Labels []string // what it is good for

	Metrics  *Metrics  // nil = nobody counts
	Accounts *Accounts // the services that its agents call

	leaving atomic.Bool // its worker was told to end

	mu     sync.Mutex
	places map[belay.RunID]*place
}

// DrivenBy is what the folder of a run says about its driver.
const DrivenBy = "temporal"

// workflowID is the id of the workflow of a tree.
func workflowID(root belay.RunID) string { return "belay-" + string(root) }

// place is the place of a tree, made at its first use.
func (h *Host) place(ctx context.Context, root belay.RunID) (*place, error) {
	h.mu.Lock()
	p := h.places[root]
	if p == nil {
		p = &place{host: h, root: root}
		if h.places == nil {
			h.places = map[belay.RunID]*place{}
		}
		h.places[root] = p
	}
	h.mu.Unlock()
	return p, p.open(ctx)
}

// known is the place of a tree that this process has opened; nil if it has not.
func (h *Host) known(root belay.RunID) *place {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.places[root]
}

// Place gives a tree a place on this host.
func (h *Host) Place(ctx context.Context, in PlaceIn) (Placed, error) {
	if h.leaving.Load() {
		return Placed{}, h.cannot(errors.New("its worker was told to end"))
	}
	for _, label := range in.Labels {
		if !slices.Contains(h.Labels, label) {
			return Placed{}, h.cannot(fmt.Errorf("it has no label %s", label))
		}
	}
	if err := h.fits(ctx, in); err != nil { // another host may have it
		return Placed{}, h.cannot(err)
	}
	return Placed{Host: h.Name}, nil
}

// cannot says why a run cannot be here. That is no failure: another host is asked.
func (h *Host) cannot(why error) error {
	return temporal.NewApplicationErrorWithOptions(fmt.Sprintf("host %s cannot have the run: %v", h.Name, why), "elsewhere",
		temporal.ApplicationErrorOptions{Category: temporal.ApplicationErrorCategoryBenign})
}

// Attach takes a tree for a driver: all that is open is found again. A worker that leaves
// it to the next one, which would find it once more.
func (h *Host) Attach(ctx context.Context, in AttachIn) (Attached, error) {
	if h.leaving.Load() {
		return Attached{}, temporal.NewApplicationErrorWithOptions(fmt.Sprintf("worker %s was told to end", h.Name), "leaving",
			temporal.ApplicationErrorOptions{Category: temporal.ApplicationErrorCategoryBenign, NextRetryDelay: 2 * lastTurns})
	}
	p, err := h.place(ctx, in.Root)
	if err != nil {
		return Attached{}, err
	}
	ctx, end := h.proving(ctx, func(sent time.Time) { p.renew(in.Epoch, sent) })
	defer end()
	return p.attach(ctx, in)
}

// Do makes one attempt, or waits for one that runs: the keeper runs a key once.
func (h *Host) Do(ctx context.Context, in DoIn) (Done, error) {
	p := h.known(in.Root)
	if p == nil {
		return Done{}, detached("this process has not seen the tree")
	}
	ctx, end := h.proving(ctx, func(sent time.Time) { p.renew(in.Epoch, sent) })
	defer end()
	h.Metrics.count("attempts", 1)
	defer h.Metrics.count("attempts", -1)
	job, err := rehomed(p.where(), in.Job)
	if err != nil {
		return Done{}, err
	}
	in.Job = job
	facts, err := p.do(ctx, in)
	if err != nil {
		return Done{}, err
	}
	var done Done
	if in.Carry.pushes() && changed(facts) {
		done.Snap, done.Behind = p.snapshot(ctx, in.Carry, in.Epoch)
	}
	done.Facts, err = rehomed(p.where().back(), pack(facts))
	return done, err
}

// Kill ends an attempt. With nobody attached there is nothing to end: the next
// driver finds what is open, and ends it.
func (h *Host) Kill(_ context.Context, in KillIn) error {
	p := h.known(in.Root)
	if p == nil {
		return nil
	}
	return p.kill(in)
}

// Ask answers a question.
func (h *Host) Ask(ctx context.Context, in AskIn) (Answered, error) {
	defer beating(ctx)()
	p, err := h.place(ctx, in.Root)
	if err != nil {
		return Answered{}, err
	}
	if in, err = rehomed(p.where(), in); err != nil {
		return Answered{}, err
	}
	got, err := p.ask(ctx, in)
	if err != nil {
		return got, err
	}
	return rehomed(p.where().back(), got)
}

func (p *place) ask(ctx context.Context, in AskIn) (Answered, error) {
	of, _ := in.Ask.Key.Is(belay.TopicAgent)
	given := func(a effect.Answer) Facts {
		run, _ := in.Ask.Key.Step()
		return pack([]flow.Fact{{Run: run, Event: event.AnswerGiven{Key: in.Ask.Key, Answer: a}}})
	}
	switch q := in.Ask.Question.(type) {
	case effect.AskAgent:
		if err := p.sync(ctx); err != nil { // what it may use can have changed
			return Answered{}, err
		}
		p.hands.Lock()
		defer p.hands.Unlock()
		return Answered{Facts: given(p.run.Site().Permit(of, q))}, nil
	case effect.AskTree:
		a, again, err := p.tree(ctx, q, in.By)
		return Answered{Facts: given(a), Again: again, By: a.By}, err
	}
	p.hands.Lock()
	defer p.hands.Unlock()
	a, ok := p.run.Site().Hand.Answer(ctx, in.Ask)
	if !ok {
		return Answered{}, fmt.Errorf("no answer to %s: %w", in.Ask.Key, context.Cause(ctx))
	}
	return Answered{Facts: given(a)}, nil
}

// Keep does what follows from records.
func (h *Host) Keep(ctx context.Context, in KeepIn) error {
	defer beating(ctx)()
	p, err := h.place(ctx, in.Root)
	if err != nil {
		return err
	}
	carry := in.Carry
	if in, err = rehomed(p.where(), in); err != nil {
		return err
	}
	if err := p.sync(ctx); err != nil {
		return err
	}
	if in.End && carry.pushes() {
		if err := p.deliver(ctx, carry); err != nil {
			activity.GetLogger(ctx).Warn("what a run made was not pushed", "run", in.Root, "error", err)
		}
	}
	p.hands.Lock()
	defer p.hands.Unlock()
	site := p.run.Site()
	if len(in.Cleared) > 0 {
		if err := site.Ledger.Clear(in.Cleared); err != nil {
			return err
		}
	}
	for _, m := range in.Merged {
		site.Hand.TakeAway(ctx, m.Run, m.Step)
	}
	if in.Give {
		if err := site.Ledger.GiveTrees(in.Need); err != nil {
			return err
		}
	}
	if !in.End {
		return nil
	}
	p.run.Tidy(ctx)
	return p.leave(ctx)
}

// leave gives the folder of an ended run back. The caller has the hands.
func (p *place) leave(ctx context.Context) error {
	p.host.mu.Lock()
	delete(p.host.places, p.root)
	p.host.mu.Unlock()
	p.detach(ctx)
	if err := p.run.Note(p.run.Result()); err != nil {
		return err
	}
	return p.run.Close()
}

// Account takes in how the account of a service stands.
func (h *Host) Account(_ context.Context, n AccountNews) error {
	h.Accounts.Learn(n)
	return nil
}

// Back tells the workflows of trees that this host had that it is there again.
func (h *Host) Back(ctx context.Context) error {
	sums, err := h.Engine.State.Runs(belay.Running)
	if err != nil {
		return err
	}
	for _, s := range sums {
		if h.awaited(ctx, s.ID) {
			continue
		}
		_ = h.Client.SignalWorkflow(ctx, workflowID(s.ID), "", signalBack, h.Name) // one that has ended needs none; else its attempts say it, later
	}
	return nil
}

// awaited tells whether the workflow of a tree waits for an attach already: it comes to this
// host by itself, and to be told of the host would make the next one.
func (h *Host) awaited(ctx context.Context, root belay.RunID) bool {
	d, err := h.Client.DescribeWorkflowExecution(ctx, workflowID(root), "")
	if err != nil {
		return false
	}
	return slices.ContainsFunc(d.GetPendingActivities(), func(a *workflowpb.PendingActivityInfo) bool {
		return a.GetActivityType().GetName() == "Attach"
	})
}

// Leave lets all keepers go: they stay with what they hold.
func (h *Host) Leave(ctx context.Context) {
	h.mu.Lock()
	places := h.places
	h.places = nil
	h.mu.Unlock()
	for _, p := range places {
		p.detach(ctx)
		p.hands.Lock()
		if p.run != nil {
			_ = p.run.Close() // what is on record is elsewhere
		}
		p.hands.Unlock()
	}
}

// beating tells the server that an activity is at work, until the function that it
// gives is called.
func beating(ctx context.Context) func() {
	every := activity.GetInfo(ctx).HeartbeatTimeout / beats
	if every <= 0 {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				activity.RecordHeartbeat(ctx)
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}

// detached says that the attempts of the tree have to be found again.
func detached(why string) error {
	return temporal.NewNonRetryableApplicationError(why, errDetached, nil)
}

// place is one tree on this host.
type place struct {
	host *Host
	root belay.RunID

	hands sync.Mutex // owns run: the hand of a run works on one thing at a time
	run   *engine.Open

	folder string // of the run, where its files are by themselves; set with the first open
	here   bool   // it could be cloned, and its directory is here
	made   bool   // its checkout was made for this driver

	packing sync.Mutex // owns both below
	last    string     // the snapshot that was pushed last
	pushed  int        // how many were, under this driver

	mu     sync.Mutex // owns all below
	homes  homes      // what paths of the records are here; nil = the same
	keeper engine.Keeper
	epoch  int64
	lease  time.Duration // that a proof of contact gives the keeper; 0 = it needs none
	until  time.Time     // when the last one is over
	gone   chan struct{} // closed when the keeper is no longer this driver's
	live   map[belay.Key]*attempt
	doomed map[belay.Key]KillIn
}

// attempt is one that a keeper holds.
type attempt struct {
	ended chan struct{}
	exit  *proc.Exit
}

// open makes the folder of the tree on this host, or opens it.
func (p *place) open(ctx context.Context) error {
	p.hands.Lock()
	defer p.hands.Unlock()
	if p.run != nil {
		return nil
	}
	if err := p.housed(ctx); err != nil {
		return err
	}
	var pc parcel
	if err := p.query(ctx, &pc, queryParcel); err != nil {
		return err
	}
	pc, err := rehomed(p.where(), pc)
	if err != nil {
		return err
	}
	page, err := p.asker(ctx)(0)
	if err != nil {
		return err
	}
	if len(page.Records) == 0 {
		return errors.New("the tree has no records yet")
	}
	first, err := rehomed(p.where(), page.Records[:1])
	if err != nil {
		return err
	}
	run, err := p.host.Engine.Receive(p.root, pc, first, DrivenBy)
	if err != nil {
		return err
	}
	p.run = run
	if err = p.fetch(ctx); err == nil {
		err = run.Note(run.Result())
	}
	if err != nil {
		p.run = nil
		return errors.Join(err, run.Close())
	}
	return nil
}

func (p *place) query(ctx context.Context, to any, name string, args ...any) error {
	if err := query(ctx, p.host.Client, p.root, to, name, args...); err != nil {
		return fmt.Errorf("query %s of %s: %w", name, p.root, err)
	}
	return nil
}

// sync brings the copy of the records up to date.
func (p *place) sync(ctx context.Context) error {
	p.hands.Lock()
	defer p.hands.Unlock()
	return p.fetch(ctx)
}

// fetch is sync for who has the hands.
func (p *place) fetch(ctx context.Context) error {
	_, err := bring(atHome{p.run.Copy(), p.where()}, p.asker(ctx))
	return err
}
