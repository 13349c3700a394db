package sim

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/flow"
)

// driver does for the simulated world what the engine does for the real one:
// attach, turn, append, release.
type driver struct {
	w        *world
	epoch    int64
	tree     *flow.Tree
	alive    bool
	keeper   *keeper
	attached bool
	first    []flow.Fact
	early    []*ending // came before the answer to its hello
	facts    []flow.Fact
	turn     flow.Turn
	wake     *happening
	soon     *happening
	pid      int
	mail     []string
}

// drive starts a driver. first are facts that belong into its first turn.
func (w *world) drive(first ...flow.Fact) {
	tree, err := w.load()
	if err != nil {
		w.violate("fold", "%v", err)
		return
	}
	w.drivers++
	d := &driver{w: w, tree: tree, alive: true, first: first, pid: w.drivers}
	if n := len(w.disk); n > 0 {
		d.epoch = w.disk[n-1].Epoch
	}
	w.driver = d
	if w.chaos.dies(w, beforeTheFold) {
		d.die(beforeTheFold)
		return
	}
	d.attach()
}

// die is kill -9: what is in the disk, the keeper and the sockets stays.
func (d *driver) die(at point) {
	d.w.stats.DriverCrashes++
	d.w.say("driver dies %s", at)
	d.gone()
	d.w.resumeLater()
}

// gone takes the driver out of the world.
func (d *driver) gone() {
	w := d.w
	d.alive, w.driver = false, nil
	w.agenda.remove(d.wake)
	w.agenda.remove(d.soon)
	if k := d.keeper; k != nil {
		w.after(w.chaos.lag(lagMessage), &happening{what: "driver hung up", after: d, do: func() { k.hungUp(d) }})
	}
}

// attach greets the keeper, or sweeps and starts one.
func (d *driver) attach() {
	w := d.w
	d.epoch++
	d.attached = false
	epoch, open := d.epoch, d.tree.Open()
	greet := func(k *keeper) {
		d.keeper = k
		w.after(w.chaos.lag(lagMessage), &happening{what: fmt.Sprintf("hello %d", epoch), do: func() { k.hello(d, epoch, open) }})
	}
	if w.keeper != nil {
		greet(w.keeper)
		return
	}
	d.keeper = nil
	w.after(w.chaos.lag(lagStart), &happening{what: "start a keeper", do: func() {
		if d.alive {
			w.sweep(open)
			greet(w.newKeeper())
		}
	}})
}

// held is the keeper's answer: one fact for each attempt that was open.
func (d *driver) held(open []belay.Key, states []state) {
	if !d.alive {
		return
	}
	d.attached = true
	facts := d.opening()
	for i, key := range open {
		facts = append(facts, d.found(key, states[i])...)
	}
	facts = append(facts, d.first...)
	d.first = nil
	early := d.early
	d.early = nil
	d.take(facts)
	for _, e := range early {
		d.exited(e)
	}
	if d.alive && len(d.w.mailbox) > 0 {
		d.w.mailCall()
	}
}

// opening is the start of a new run, if it is one, and the attach.
func (d *driver) opening() []flow.Fact {
	var facts []flow.Fact
	if len(d.first) > 0 {
		if _, fresh := d.first[0].Event.(event.RunStarted); fresh {
			facts, d.first = append(facts, d.first[0]), d.first[1:]
		}
	}
	return append(facts, flow.Fact{Run: d.w.root, Event: event.RunAttached{
		Epoch: d.epoch, Version: "sim", Pid: d.pid, Boot: fmt.Sprint(d.w.boot),
	}})
}

func (d *driver) found(key belay.Key, s state) []flow.Fact {
	job, ok := d.tree.Job(key)
	if !ok {
		d.w.violate("open attempts have a job", "%s is open and unknown", key)
		return nil
	}
	e := event.AttemptFound{Key: key, How: s.found}
	facts := []flow.Fact{{Run: job.Run, Event: e}}
	switch s.found {
	case fault.Lost:
		v, _ := d.tree.Run(job.Run).Step(job.Path) // the job is one of its steps
		name := stepName(job.Run, job.Path)
		d.w.counted[name] = max(v.Lost, d.w.counted[name]) + 1
		e.Count = d.w.counted[name]
		facts[0].Event = e
	case fault.Harvested:
		facts = append(facts, d.ended(job, s.exit))
	case fault.Adopted, fault.Unborn:
	}
	return facts
}

func (d *driver) ended(j effect.Job, e *ending) flow.Fact {
	o := effect.Observation{
		Began: e.began, Exit: e.code, Signal: e.signal, KilledBy: e.killedBy,
		Started: e.started, Ended: e.ended, Output: e.output,
	}
	return flow.Fact{Run: j.Run, Event: event.AttemptEnded{Key: j.Key, Observation: o}}
}

// exited takes in that an attempt ended.
func (d *driver) exited(e *ending) {
	if !d.alive {
		return
	}
	if !d.attached {
		d.early = append(d.early, e)
		return
	}
	if job, known := d.tree.Job(e.key); known {
		d.learn(d.ended(job, e))
	}
}

// learn keeps a fact for the next turn, which is soon.
func (d *driver) learn(f flow.Fact) {
	d.facts = append(d.facts, f)
	d.turnSoon()
}

func (d *driver) turnSoon() {
	if d.soon != nil {
		return
	}
	d.soon = d.w.after(0, &happening{what: "turn", do: func() {
		d.soon = nil
		if d.alive && d.attached {
			d.takeFacts()
		}
	}})
}

func (d *driver) takeFacts() {
	facts := d.facts
	d.facts = nil
	d.take(facts)
}

// keeperDied goes on after the keeper died.
func (d *driver) keeperDied(k *keeper) {
	if !d.alive || d.keeper != k {
		return
	}
	d.early = nil
	if !d.attached {
		d.epoch-- // this one was never on disk
	} else if len(d.facts) > 0 { // exits that came before its death are facts
		d.takeFacts()
	}
	if d.alive {
		d.attach()
	}
}

// readMail copies requests in as facts, once per id; it tells whether there
// were any, and so a turn.
func (d *driver) readMail() bool {
	for _, r := range d.w.mailbox {
		s := d.tree.Run(r.Run)
		d.mail = append(d.mail, r.ID)
		switch {
		case s == nil:
			d.learn(flow.Fact{Run: d.w.root, Event: event.RequestReceived{Request: r}})
			d.learn(flow.Fact{Run: d.w.root, Event: event.RequestRefused{ID: r.ID, Why: "no such run"}})
		case !s.Seen(r.ID):
			d.learn(flow.Fact{Run: r.Run, Event: event.RequestReceived{Request: r}})
		}
	}
	if len(d.facts) == 0 {
		d.clearMail()
		return false
	}
	d.takeFacts() // at once: a second look into the mailbox must not find them again
	return true
}

func (d *driver) clearMail() {
	for _, id := range d.mail {
		for i, r := range d.w.mailbox {
			if r.ID == id {
				d.w.mailbox = append(d.w.mailbox[:i:i], d.w.mailbox[i+1:]...)
				break
			}
		}
	}
	d.mail = nil
}

// take is one turn: think, write everything down at once, then act.
func (d *driver) take(facts []flow.Fact) {
	w := d.w
	w.stats.Turns++
	twins := w.twinsNow()
	turn, err := d.tree.Turn(w.now, facts...)
	if err != nil {
		w.violate("turn", "%v", err)
		return
	}
	d.turn = turn
	if turn.More {
		w.stats.Cut++
	}
	for _, twin := range twins {
		w.compare(twin, turn, facts)
	}
	if w.bug == EarlyEffect {
		d.release(turn.Effects)
	}
	if !d.alive || len(turn.Records) > 0 && !d.commit(turn.Records) {
		return
	}
	w.keep(d.tree)
	d.clearMail()
	if w.bug != EarlyEffect {
		d.release(turn.Effects)
	}
	if d.alive {
		d.rest()
	}
}

// commit appends a turn; false when the driver did not live to see it.
func (d *driver) commit(recs []event.Record) bool {
	w := d.w
	if w.chaos.dies(w, beforeAppend) {
		d.die(beforeAppend)
		return false
	}
	if w.chaos.diskFull(w) {
		w.stats.DiskFull++
		w.say("disk full")
		d.gone() // its memory is ahead of the disk
		w.resumeLater()
		return false
	}
	w.append(recs, d.epoch)
	if w.chaos.dies(w, afterAppend) {
		d.die(afterAppend)
		return false
	}
	return true
}

// release does what was written down.
func (d *driver) release(effects []effect.Effect) {
	for i, c := range effects {
		if i > 0 && d.w.chaos.dies(d.w, betweenDeeds) {
			d.die(betweenDeeds)
			return
		}
		d.act(c)
	}
}

func (d *driver) act(c effect.Effect) {
	k, epoch := d.keeper, d.epoch
	tell := func(what string, key belay.Key, do func()) {
		d.w.after(d.w.chaos.lag(lagMessage), &happening{
			what: what + " " + string(key), lane: fmt.Sprintf("d>k %d %s", epoch, key), from: d, do: do,
		})
	}
	switch c := c.(type) {
	case effect.Do:
		if c.Job.Call != nil {
			d.learn(flow.Fact{Run: c.Job.Run, Event: event.AttemptEnded{Key: c.Job.Key, Observation: d.w.call(c.Job)}})
			return
		}
		tell("spawn", c.Job.Key, func() { k.spawn(d, epoch, c.Job) })
	case effect.Kill:
		tell("kill", c.Key, func() { k.signal(d, c.Key, c.Why) })
	case effect.Ask:
		d.learn(d.answer(c))
	default:
		d.w.violate("effects are known", "%T", c)
	}
}

// answer says what the hands would: the machine of this world is sound, every
// agent may start, and what is asked about values that are too big for the records
// is worked out.
func (d *driver) answer(c effect.Ask) flow.Fact {
	run, _ := c.Key.Step()
	asked := throughJSON(d.w, c)
	return flow.Fact{Run: run, Event: throughJSON(d.w, event.AnswerGiven{Key: asked.Key, Answer: d.says(asked)})}
}

// throughJSON is what is left of a value on its way to another process: all of it.
func throughJSON[T any](w *world, v T) T {
	var back T
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &back)
	}
	if err != nil || !reflect.DeepEqual(v, back) {
		w.violate("questions and answers are whole in JSON", "%+v comes out as %+v (%v)", v, back, err)
		return v
	}
	return back
}

func (d *driver) says(c effect.Ask) effect.Answer {
	switch q := c.Question.(type) {
	case effect.AskProbe:
		return effect.AnswerProbe{OK: true, Probe: &effect.Probe{}}
	case effect.AskLook: // nothing but scripts works here, and nobody saw them write
		seen := &belay.Evidence{}
		if q.Base != nil {
			seen.Before, seen.After = *q.Base, *q.Base
		} else { // a round is over: only what it gave can differ
			seen.After = belay.TreeState{Repo: true, Head: "head", Tree: "tree"}
		}
		return effect.AnswerLook{OK: true, Seen: seen}
	case effect.AskTree:
		return effect.AnswerTree{OK: true, Dir: q.Dir, Tree: q.Dir, Taken: 1}
	case effect.AskAgent:
		return effect.AnswerAgent{OK: true}
	case effect.AskCond:
		return d.w.holds(q)
	case effect.AskText:
		return d.w.fill(q)
	case effect.AskList:
		return d.w.gather(q)
	case effect.AskStep, effect.AskTests, effect.AskWorktree: // nobody asks for these here
	}
	d.w.violate("questions are known", "%T", c.Question)
	return nil
}

// rest waits for what comes next, or leaves when the run rests.
func (d *driver) rest() {
	w := d.w
	w.agenda.remove(d.wake)
	d.wake = nil
	if len(d.facts) > 0 || d.turn.More {
		d.turnSoon()
		return
	}
	if d.turn.Status == belay.Held && len(w.mailbox) > 0 && d.readMail() {
		return // an answer was waiting
	}
	if d.turn.Status != belay.Running {
		d.gone()
		w.chaos.rested(w, d.turn.Status)
		return
	}
	if until := d.turn.Until; !until.IsZero() && (w.bug != TimerLost || d.epoch == 1) {
		d.wake = w.after(max(0, until.Sub(w.now)), &happening{what: "timer", do: func() { d.alarm() }})
	}
}

func (d *driver) alarm() {
	d.wake = nil
	if d.alive && d.attached { // an attach that is under way turns by itself
		d.takeFacts()
	}
}
