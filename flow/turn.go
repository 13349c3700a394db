package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
)

// Turn takes in facts and asks the brains until none has anything more to say.
// Nothing of it may be acted on before its records are on disk; if they cannot
// be written, the tree is ahead of the disk and must be thrown away.
func (t *Tree) Turn(now time.Time, facts ...Fact) (Turn, error) {
	if now.Before(t.last) {
		now = t.last // time in a journal never falls
	}
	w := &turn{tree: t, now: now}
	t.beginTurn(now)
	defer t.endTurn()
	for _, f := range facts {
		if err := w.write(f.Run, f.Event); err != nil {
			return Turn{}, err
		}
	}
	if err := w.think(); err != nil {
		return Turn{}, err
	}
	if err := w.rest(); err != nil {
		return Turn{}, err
	}
	if t.moves += w.moves; !w.out.More {
		t.moves = 0
	}
	return w.out, nil
}

// Settle takes in facts without starting anything: what a process may do that
// holds the journal for a moment and is no driver.
func (t *Tree) Settle(now time.Time, facts ...Fact) (Turn, error) {
	if now.Before(t.last) {
		now = t.last
	}
	w := &turn{tree: t, now: now, idle: true}
	t.beginTurn(now)
	defer t.endTurn()
	for _, f := range facts {
		if err := w.write(f.Run, f.Event); err != nil {
			return Turn{}, err
		}
	}
	if err := w.think(); err != nil {
		return Turn{}, err
	}
	if t.pausing != nil && t.runs[t.root].result == nil && t.stopping == nil && !t.stopped && len(t.open) == 0 {
		if err := w.settleDown(time.Time{}, t.Asks(), false); err != nil {
			return Turn{}, err
		}
	}
	t.doubt()
	w.out.Status = t.Status()
	return w.out, nil
}

// turn is one turn in the making.
type turn struct {
	tree  *Tree
	now   time.Time
	idle  bool // note, but start, ask, kill and end nothing
	moves int
	size  int // of the records, as far as they were measured
	sized int // how many were
	out   Turn
}

// write makes a fact a record and folds it.
func (w *turn) write(run belay.RunID, e event.Event) error {
	r := event.Record{At: w.now, Run: run, Event: e}
	if err := w.tree.Apply(r); err != nil {
		return err
	}
	w.out.Records = append(w.out.Records, r)
	return nil
}

// think asks runs until all are quiet.
func (w *turn) think() error {
	for !w.out.More {
		s := w.following()
		if s == nil {
			break
		}
		if err := w.ask(s); err != nil {
			return err
		}
	}
	return nil
}

// full tells whether the turn has as many records as can be written at once. The
// first few are not measured: nearly all turns have no more.
func (w *turn) full() (bool, error) {
	most := w.tree.most
	if w.idle || len(w.out.Records) <= most/unmeasured {
		return false, nil
	}
	for ; w.sized < len(w.out.Records); w.sized++ {
		b, err := json.Marshal(w.out.Records[w.sized])
		if err != nil {
			return false, fmt.Errorf("measure a record: %w", err)
		}
		w.size += len(b)
	}
	return w.size > most, nil
}

// ask carries out what one run wants until it waits or ends.
func (w *turn) ask(s *State) error {
	for {
		if w.moves++; w.tree.moves+w.moves > maxMoves {
			return errors.New("the brain does not come to rest: this is a bug in belay")
		}
		if full, err := w.full(); err != nil || full {
			w.out.More = true
			w.tree.suspect(s)
			w.tree.doubt() // who was asked and who was not is nowhere on record
			return err
		}
		quiet, err := w.carry(s, s.next(w.now, w.room()))
		if err != nil || quiet {
			return err
		}
	}
}

// room is how many more processes may start now.
func (w *turn) room() int {
	if w.idle || w.tree.stopping != nil || w.tree.pausing != nil {
		return -1
	}
	return max(0, w.tree.started.Limits.MaxParallel-len(w.tree.open)-len(w.tree.granting)-len(w.tree.slots))
}

// carry writes down one command and keeps its effect for after the commit; it
// tells whether the run has nothing more to say.
func (w *turn) carry(s *State, c command) (quiet bool, err error) {
	t := w.tree
	if _, ok := c.(note); w.idle && !ok {
		return true, nil
	}
	switch c := c.(type) {
	case note:
		return false, w.write(s.id, s.unattended(c.Event))
	case effect.Do:
		j := t.sealed(c.Job)
		w.out.Effects = append(w.out.Effects, effect.Do{Job: j})
		return false, w.write(s.id, started(j))
	case startRun:
		return false, w.startRun(s, c)
	case effect.Ask:
		return false, w.question(s, c)
	case effect.Kill:
		return false, w.kill(s, c)
	case wait:
		t.heard(s, c)
		return true, nil
	case runEnd:
		return true, w.end(s, c.Result)
	}
	return true, fmt.Errorf("run %s: unknown command %T", s.id, c)
}

func (w *turn) startRun(s *State, c startRun) error {
	if err := w.write(s.id, c.Started); err != nil {
		return err
	}
	if c.Reopen {
		stopped := w.tree.runs[c.Started.Child].stoppedSteps(byParent, "")
		if err := w.write(c.Started.Child, event.RunReopened{By: byParent}); err != nil {
			return err
		}
		for _, f := range stopped {
			if err := w.write(f.Run, f.Event); err != nil {
				return err
			}
		}
		return nil
	}
	return w.write(c.Started.Child, c.Child)
}

func (w *turn) question(s *State, c effect.Ask) error {
	if k, ok := c.Key.Is(belay.TopicAgent); ok {
		if why := w.tree.overBudget(k, w.now); why != "" {
			return w.write(s.id, event.AnswerGiven{Key: c.Key, Answer: effect.AnswerAgent{Error: why}})
		}
		w.tree.slots[k] = true
	}
	if _, step := c.Question.(effect.AskStep); !step {
		w.tree.ask(s, c.Key)
		w.out.Effects = append(w.out.Effects, c)
		return nil
	}
	limit := w.tree.started.Limits.MaxTotalSteps
	a := effect.AnswerStep{OK: w.tree.permits[c.Key] || len(w.tree.permits) < limit}
	if !a.OK {
		a.Error = fmt.Sprintf("the nested recipes have started %d steps; the limit is %d", len(w.tree.permits), limit)
	}
	return w.write(s.id, event.AnswerGiven{Key: c.Key, Answer: a})
}

// byParent is who asks of a child run what its parent decides.
const byParent = "its parent run"

func (w *turn) kill(s *State, c effect.Kill) error {
	child := s.steps[s.open[c.Key]].child
	if err := w.write(s.id, event.AttemptStopping{Key: c.Key, Why: c.Why}); err != nil {
		return err
	}
	if child == "" {
		w.out.Effects = append(w.out.Effects, c)
		return nil
	}
	return w.write(child, event.RequestReceived{Request: event.Request{
		ID: string(c.Why) + " " + string(c.Key), Run: child, By: byParent, Ask: event.RequestCancel, Why: string(c.Why),
	}})
}

func (w *turn) end(s *State, r belay.RunResult) error {
	t := w.tree
	if err := w.write(s.id, event.RunEnded{RunResult: r}); err != nil {
		return err
	}
	if s.id == t.root {
		return nil
	}
	up := t.parents[s.id]
	p := t.runs[up.run]
	if p == nil {
		return fmt.Errorf("run %s: ended, but nobody waits for it", s.id)
	}
	i, ok := p.open[up.key]
	if !ok {
		return fmt.Errorf("run %s: ended, but nobody waits for %s", s.id, up.key)
	}
	return w.write(up.run, event.AttemptEnded{Key: up.key, Observation: effect.Observation{
		Began: true, KilledBy: p.steps[i].stopping, Started: p.steps[i].since, Ended: w.now, Child: &r, Hidden: s.hiddenOut(),
	}})
}

// rest says how the tree stands once all runs are quiet, and writes down a
// hold or a stop.
func (w *turn) rest() error {
	t := w.tree
	if t.stopping != nil && t.runs[t.root].result == nil && !w.out.More {
		if err := w.stop(); err != nil {
			return err
		}
	}
	if w.out.More {
		w.out.Status = t.Status()
		return nil
	}
	until, person, busy := w.horizon()
	w.out.Until = until
	w.out.Idle = !busy && t.stopping == nil
	if t.runs[t.root].result == nil && t.stopping == nil {
		if err := w.settleDown(until, person, busy); err != nil {
			return err
		}
	}
	w.out.Status = t.Status()
	return nil
}

// settleDown writes down that the tree is held or paused, once it is.
func (w *turn) settleDown(until time.Time, person, busy bool) (err error) {
	t := w.tree
	pausing := t.pausing != nil && len(t.open) == 0
	switch {
	case t.held || t.paused || busy && !pausing || !until.IsZero() && !pausing:
		return nil
	case person && !pausing && t.attended && len(t.Asking()) > 0:
		return nil // who is there is asked
	case person:
		err = w.write(t.root, event.RunHeld{Items: t.items()})
	case pausing:
		err = w.write(t.root, event.RunPaused{By: t.pausing.By, Why: t.pausing.Why})
	default:
		return nil
	}
	t.quiet()
	return err
}

// stop ends every open process, and says so once none is left.
func (w *turn) stop() error {
	t := w.tree
	for _, k := range t.inOrder(slices.Collect(maps.Keys(t.running))) {
		if full, err := w.full(); err != nil || full {
			w.out.More = true
			return err
		}
		s := t.runs[t.open[k].run]
		if err := w.write(s.id, event.AttemptStopping{Key: k, Why: fault.KilledStop}); err != nil {
			return err
		}
		w.out.Effects = append(w.out.Effects, effect.Kill{Key: k, Why: fault.KilledStop})
	}
	t.quiet()
	if len(t.open) > 0 || t.stopped {
		return nil
	}
	err := w.write(t.root, event.RunStopped{By: t.stopping.By})
	t.quiet()
	return err
}

// horizon is the next moment at which a run wants to be asked again, whether
// some run waits for a person, and whether a process or a question is out.
func (w *turn) horizon() (until time.Time, person, busy bool) {
	t := w.tree
	busy = len(t.open) > 0 || t.asked()
	for _, b := range t.roped.list {
		busy = busy || t.born[b].awaitsTree()
	}
	return t.until(), t.Asks(), busy
}
