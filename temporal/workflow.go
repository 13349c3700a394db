package temporal

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
)

const (
	// maxTurn is how many bytes of records make one turn: a marker that is far
	// below what the server takes.
	maxTurn = 192 << 10
	// maxPage is how many bytes of records, about, are given in one answer.
	maxPage = 1 << 20
	// maxBatch is how many facts go into one turn.
	maxBatch = 200
)

// Workflows are the workflows of a worker: what they share are recipes that are
// parsed once.
type Workflows struct {
	Version string
	Strict  bool // of tests: every turn of a replay is made again, and must be the same
	Codec   Codec
}

// drive is one workflow at work.
type drive struct {
	in      Start
	version string
	strict  bool
	codec   Codec
	parcel  parcel
	tree    *flow.Tree
	recs    []event.Record
	length  int   // of the history at the last turn
	stored  int64 // records that were on record before the task of that turn
	epoch   int64
	turn    flow.Turn
	turns   int
	ends    int                // attempts that ended in this history
	asked   map[belay.Key]bool // questions that are out
	asking  int                // those that are answered soon
	started time.Time          // when an attempt was last given to a host
	recheck time.Time          // when it is to be asked again whether the history is long
	inbox   []input
	facts   []flow.Fact // taken out of the inbox, not yet in a turn
	held    bool        // a host has the tree in this epoch
	had     bool        // one had it in this history
	called  bool        // one was asked to take it
	wanted  []flow.Fact // facts of the next attach
	goes    bool        // somebody wants it to go on
	taking  bool        // an attach is under way
	asleep  bool        // it came to rest, and nobody has let it go on since
	needed  map[string][]string
	timer   workflow.Future
	stop    workflow.CancelFunc // of the timer
	due     time.Time
	busy    int               // updates that wait
	later   int               // events before it is asked again whether another history can follow
	laden   bool              // it rests, as something is too big for the server
	sizes   map[belay.Key]int // of the inputs of this turn, where they are worth telling
	sent    int               // bytes of inputs in this turn of the server
	sentAt  int               // the length of the history then
	away
}

// input is something that came in.
type input struct {
	epoch    int64 // of an attempt: the driver that it belongs to; 0 = any
	facts    []flow.Fact
	detached bool   // its attempts must be found again
	drive    bool   // a person lets it go on
	move     bool   // elsewhere: its host is lost
	back     bool   // a host that was missed is there again
	settle   bool   // put it on record, and start nothing
	heavy    string // what the host could not send, as it is too big
	pushed   pushed
	done     *bool
}

// Tree is the workflow of one tree of runs.
func (ws Workflows) Tree(ctx workflow.Context, p parcel, in Start) (Ended, error) {
	w := &drive{asked: map[belay.Key]bool{}, in: in, parcel: p, version: ws.Version, strict: ws.Strict, codec: ws.Codec}
	if err := w.begin(); err != nil {
		return Ended{}, temporal.NewNonRetryableApplicationError(err.Error(), "begin", err)
	}
	if err := w.listen(ctx); err != nil {
		return Ended{}, err
	}
	err := w.loop(ctx)
	if err != nil {
		return Ended{}, err
	}
	return Ended{Result: engine.ResultOf(w.tree), Seq: int64(len(w.recs))}, nil
}

// begin folds what is on record.
func (w *drive) begin() error {
	first := event.Record{Run: w.in.Run, Event: w.parcel.Started}
	fresh, err := engine.Fold(w.in.Run, []event.Record{first}, blobs(w.parcel.Blobs))
	if err != nil {
		return err
	}
	w.tree = flow.NewTree(w.in.Run, fresh.Library())
	w.tree.Bound(maxTurn)
	w.recs, w.stored = w.in.Records, int64(len(w.in.Records))
	if err := w.tree.Follow(w.recs); err != nil {
		return err
	}
	for _, r := range w.recs {
		w.epoch = max(w.epoch, r.Epoch)
	}
	w.wanted, w.goes = w.in.First.unpack(), !w.in.Rests
	w.asleep = w.in.Rests && !w.tree.Status().Terminal()
	w.in.Records, w.in.First, w.in.Rests = nil, nil, false
	return nil
}

// blobs are the sources of recipes in a parcel.
type blobs map[string][]byte

func (b blobs) ReadBlob(sha string, _ int64) ([]byte, error) {
	if t, ok := b[sha]; ok {
		return t, nil
	}
	return nil, fmt.Errorf("blob %s is not in the parcel", sha)
}

// loop turns until the tree has ended.
func (w *drive) loop(ctx workflow.Context) error {
	if len(w.recs) == 0 { // the start is on record before a host is asked for anything
		if err := w.take(ctx, []flow.Fact{{Run: w.in.Run, Event: w.parcel.Started}}, true); err != nil {
			return err
		}
	}
	for {
		if err := w.sort(ctx); err != nil {
			return err
		}
		takes := w.goes || !w.held && !w.asleep && w.tree.Status() == belay.Running
		switch {
		case takes && w.in.Host == "":
			if ended, err := w.place(ctx, w.wanted); err != nil {
				return err
			} else if ended {
				w.wanted, w.goes = nil, false
			}
		case takes && len(w.facts) > 0: // what ended is on record first, so that it is not found as open too
			facts := w.facts
			w.facts = nil
			if err := w.take(ctx, facts, true); err != nil {
				return err
			}
		case takes:
			if err := w.attach(ctx); err != nil {
				return err
			}
		case len(w.facts) > 0 || w.turn.More && !w.asleep:
			facts := w.facts
			w.facts = nil
			if err := w.take(ctx, facts, w.laden); err != nil {
				return err
			}
		case w.tree.Status().Terminal():
			if !w.rests(ctx) {
				continue
			}
			if w.called {
				w.keep(ctx, KeepIn{End: true})
			}
			if len(w.inbox) == 0 {
				return nil
			}
		case w.full(ctx) && w.rests(ctx):
			if fits, err := w.handsOver(ctx); err != nil {
				return err
			} else if fits {
				return workflow.NewContinueAsNewError(ctx, TreeWorkflow, w.parcel, w.next())
			}
			if err := w.stays(ctx); err != nil {
				return err
			}
		default:
			if err := w.wait(ctx); err != nil {
				return err
			}
		}
	}
}

// place finds a host for a tree, or tells that it ended without one. first are facts that
// wait for the host.
func (w *drive) place(ctx workflow.Context, first []flow.Fact) (ended bool, err error) {
	acts, quit := workflow.WithCancel(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: placeQueue(workflow.GetInfo(ctx).TaskQueueName, w.in.Labels), StartToCloseTimeout: time.Minute, // who took it may be cut off by now
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: 500 * time.Millisecond, BackoffCoefficient: 1.5, MaximumInterval: 10 * time.Second},
	}))
	var got Placed
	w.waits = w.wanting()
	defer func() { w.waits = "" }()
	in := PlaceIn{Root: w.in.Run, Dir: w.dir(), Labels: w.in.Labels}
	if c := w.in.Carry; c != nil && c.Clone != "" {
		in.Carry = c
	}
	if got.Host = w.near(ctx, in); got.Host == "" {
		f := workflow.ExecuteActivity(acts, "Place", in)
		if ended, err := w.unhosted(ctx, f, first); err != nil || ended {
			quit()
			return ended, err
		}
		if err := f.Get(ctx, &got); err != nil {
			return false, fmt.Errorf("place the run: %w", err)
		}
	}
	w.in.Host = got.Host
	return false, nil
}

// near asks the worker of the client's own machine first, where others could clone what it
// may have. "" = there is none, or it cannot have the run.
func (w *drive) near(ctx workflow.Context, in PlaceIn) string {
	if w.in.Near == "" || in.Carry == nil || in.Carry.Clone != CloneAway {
		return ""
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: controlQueue(w.in.Near), ScheduleToStartTimeout: nearWithin, StartToCloseTimeout: reachWithin,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	var got Placed
	if workflow.ExecuteActivity(ctx, "Place", in).Get(ctx, &got) != nil {
		return ""
	}
	return got.Host
}

// rests lets those finish who wait for an answer, and tells whether nothing came in
// meanwhile.
func (w *drive) rests(ctx workflow.Context) bool {
	_ = workflow.Await(ctx, func() bool { return len(w.inbox) > 0 || workflow.AllHandlersFinished(ctx) }) // fails only with the workflow
	return len(w.inbox) == 0
}

// sort takes the inbox in, up to something that has to be done alone.
func (w *drive) sort(ctx workflow.Context) error {
	for len(w.inbox) > 0 && len(w.facts) < maxBatch && !w.goes {
		in := w.inbox[0]
		if (in.settle || in.heavy != "") && len(w.facts) > 0 {
			return nil // first what came before
		}
		w.inbox = w.inbox[1:]
		if in.epoch == w.epoch {
			w.carried(in.pushed)
		}
		var err error
		switch {
		case in.epoch != 0 && in.epoch != w.epoch: // of an earlier driver: it is found again
		case in.detached:
			w.held = false
		case in.drive:
			w.goes, w.wanted = true, append(w.wanted, in.facts...)
			w.in.Drives++
			w.move = w.move || w.missing && (in.move || cancels(in.facts))
		case in.back:
			w.goes = w.goes || w.missing
		case in.heavy != "":
			err = w.burdened(ctx, in.heavy, errHeavy)
		case in.settle:
			err = w.take(ctx, in.facts, true)
		default:
			w.facts = append(w.facts, in.facts...)
		}
		if in.done != nil {
			*in.done = true
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// wait waits for something to come in, or for the time.
func (w *drive) wait(ctx workflow.Context) error {
	w.alarm(ctx)
	fired := false
	err := workflow.Await(ctx, func() bool {
		fired = w.timer != nil && w.timer.IsReady()
		return fired || len(w.inbox) > 0
	})
	if err != nil || !fired {
		return err
	}
	w.timer = nil
	if w.due.Equal(w.recheck) {
		return nil
	}
	return w.take(ctx, nil, false)
}

// alarm sets the timer of the last turn. One that is right already stays.
func (w *drive) alarm(ctx workflow.Context) {
	until := w.turn.Until
	if !w.recheck.IsZero() && (until.IsZero() || w.recheck.Before(until)) {
		until = w.recheck
	}
	if w.timer != nil && until.Equal(w.due) {
		return
	}
	if w.timer != nil {
		w.stop()
		w.timer = nil
	}
	if until.IsZero() || w.asleep {
		return
	}
	var tctx workflow.Context
	tctx, w.stop = workflow.WithCancel(ctx)
	w.timer, w.due = workflow.NewTimer(tctx, max(until.Sub(workflow.Now(ctx)), time.Millisecond)), until
}

// attach has the host take the tree, and puts on record what became of every open
// attempt, together with the next turn.
func (w *drive) attach(ctx workflow.Context) error {
	first := w.wanted
	w.wanted, w.goes, w.taking = nil, false, true
	defer func() { w.taking = false }()
	w.epoch++
	w.leave()
	if ended, err := w.elsewhere(ctx, first); err != nil || ended {
		return err
	}
	w.needed = w.tree.Trees() // the host gives all others back
	in := AttachIn{Root: w.in.Run, Epoch: w.epoch, Open: w.tree.Open(), Lost: w.lost, Carry: w.in.Carry, Lease: w.in.lease(), Last: prev(w.recs, int64(len(w.recs)))}
	var got Attached
	within := 2 * time.Minute
	if in.Carry != nil { // its files may have to be brought there
		within = cloneWithin + carryWithin
	}
	w.called = true
	acts, quit := workflow.WithCancel(w.control(ctx, within))
	f := workflow.ExecuteActivity(acts, "Attach", in)
	if ended, err := w.unhosted(ctx, f, first); err != nil || ended {
		quit()
		return err
	}
	err := f.Get(ctx, &got)
	if unpolled(err) {
		w.wanted = append(first, w.wanted...)
		return w.missed(ctx)
	}
	if heavy(err) {
		w.wanted = append(first, w.wanted...)
		return w.burdened(ctx, "what its steps did while the worker was away", errHeavy)
	}
	if why := w.uncloned(err); why != "" {
		w.wanted = append(first, w.wanted...)
		return w.take(ctx, []flow.Fact{{Run: w.in.Run, Event: event.RunHeld{Why: why}}}, true)
	}
	if err != nil {
		return fmt.Errorf("attach: %w", err)
	}
	w.held, w.had, w.laden = true, true, false
	w.settled(got)
	facts := []flow.Fact{{Run: w.in.Run, Event: w.attached(got)}}
	w.carried(pushed{got.Snap, got.Behind})
	w.away = away{}
	facts = append(facts, got.Facts.unpack()...)
	if err := w.take(ctx, append(facts, first...), false); err != nil {
		return err
	}
	for _, k := range got.Adopted {
		if j, ok := w.tree.Job(k); ok && w.tree.IsOpen(k) {
			w.do(ctx, j, true)
		}
	}
	return nil
}

// take is one turn: think, keep what was decided, then act.
func (w *drive) take(ctx workflow.Context, facts []flow.Fact, idle bool) error {
	w.turns++
	turn, err := w.decide(ctx, facts, idle)
	if err != nil {
		return temporal.NewNonRetryableApplicationError(
			"what happened does not fit what is on record: "+err.Error(), "fold", err)
	}
	w.stored, w.length = w.sure(ctx), workflow.GetInfo(ctx).GetCurrentHistoryLength()
	w.turn = turn
	w.asleep = idle && w.asleep || turn.Status != belay.Running && !turn.Status.Terminal() && !turn.More
	k := KeepIn{}
	for _, r := range turn.Records {
		r.Seq, r.Epoch = int64(len(w.recs))+1, w.recordEpoch(r)
		w.recs = append(w.recs, r)
		switch e := r.Event.(type) {
		case event.AttemptEnded:
			w.ends++
		case event.RunCleared:
			k.Cleared = append(k.Cleared, r)
		case event.AttemptJudged:
			p, _ := belay.ParseKey(e.Key)
			if e.Verdict.OK && w.tree.Run(r.Run).Home(p.Path) != nil {
				k.Merged = append(k.Merged, Merged{r.Run, p.Path})
			}
		}
	}
	if need := w.tree.Trees(); !maps.EqualFunc(need, w.needed, slices.Equal) && !(len(need) == 0 && w.needed == nil) {
		k.Give, k.Need, w.needed = true, need, need
	}
	if len(k.Cleared) > 0 || len(k.Merged) > 0 || k.Give {
		w.keep(ctx, k)
	}
	return w.release(ctx, turn.Effects)
}

// sure is how many records the server has surely stored: all that were decided in an
// earlier task than this one.
func (w *drive) sure(ctx workflow.Context) int64 {
	if workflow.GetInfo(ctx).GetCurrentHistoryLength() > w.length {
		return int64(len(w.recs))
	}
	return w.stored
}

// recordEpoch is the driver that a record belongs to: an attach is the first of its own.
func (w *drive) recordEpoch(r event.Record) int64 {
	if a, ok := r.Event.(event.RunAttached); ok {
		return a.Epoch
	}
	if n := len(w.recs); n > 0 {
		return w.recs[n-1].Epoch
	}
	return 0
}

// full tells whether the history is long, and this is a moment to go on in another
// one: a tree that rests must not be woken by that, who asks would have to ask again,
// and an attempt that was given to a host just now may not have begun. A history that
// has become much longer waits for no such moment, and a test that wants short ones has
// such attempts, too.
func (w *drive) full(ctx workflow.Context) bool {
	w.recheck = time.Time{}
	info := workflow.GetInfo(ctx)
	long := info.GetContinueAsNewSuggested() || w.in.Every > 0 && w.ends >= w.in.Every
	if !long || w.tree.Status() != belay.Running || !w.held || w.asleep || info.GetCurrentHistoryLength() < w.later {
		return false
	}
	if info.GetCurrentHistoryLength() > tooLong || info.GetCurrentHistorySize() > tooBig {
		return true
	}
	if w.asking > 0 {
		return false
	}
	if begun := w.started.Add(beginsWithin); w.in.Every == 0 && workflow.Now(ctx).Before(begun) {
		w.recheck = begun
		return false
	}
	return true
}

const (
	tooLong      = 12_000          // events; the server ends a workflow at 51,200
	tooBig       = 8 << 20         // bytes; and at 50 MiB
	beginsWithin = 2 * time.Second // an attempt that was given to a host
)

// errDetached is the type of the error of an attempt whose host lost hold of the tree.
const errDetached = "detached"
