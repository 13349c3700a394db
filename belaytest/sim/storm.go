package sim

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
)

// storm is chaos from a seed. Each seed has its own weather: some kinds of
// fault at some rate, and none of the others.
type storm struct {
	dice
	seed     uint64
	steady   bool
	linear   bool
	parallel int
	maxLost  int
	codec    bool
	bound    int // bytes of records in a turn; 0 = as usual

	left    int // faults to come
	rate    int // in ten thousandths of the happenings
	kinds   []trouble
	slow    bool // messages may take seconds
	hasty   bool // a dead driver has a successor at once
	fails   int  // processes that fail, in thousandths
	lies    int
	long    time.Duration
	reopens int
	answers int
	resets  int // steps that a person runs again

	reopening bool // somebody is about to
	resetting bool // the same
}

// trouble is a kind of trouble.
type trouble int

const (
	driverCrash trouble = iota
	keeperCrash
	bothCrash
	powerCut
	diskFull
	wishStop
	wishCancel
	earlyAnswer
	wishPause
)

func newStorm(seed uint64, o Options) *storm {
	d := newDice(seed, "weather")
	s := &storm{
		dice: d, seed: seed, steady: o.Steady,
		parallel: of(d, 1, 2, 3, 8), maxLost: of(d, 0, 1, 3), codec: d.maybe(60),
		left: d.IntN(12), rate: of(d, 50, 200, 600, 1500), slow: d.maybe(500), hasty: d.maybe(500),
		fails: of(d, 0, 50, 200, 500), lies: of(d, 0, 100), long: of(d, time.Second, 40*time.Second, 20*time.Minute),
		reopens: d.IntN(3), answers: 1 + d.IntN(8),
	}
	s.bound = of(newDice(seed, "bound"), 0, 0, 1, 600, 3000)
	for k := driverCrash; k <= earlyAnswer; k++ {
		if d.maybe(400) {
			s.kinds = append(s.kinds, k)
		}
	}
	if newDice(seed, "pause").maybe(250) {
		s.kinds = append(s.kinds, wishPause)
	}
	s.resets = of(newDice(seed, "reset"), 0, 0, 0, 1, 2)
	if o.Steady {
		s.resets = 0
		s.kinds, s.codec = []trouble{driverCrash}, false
		s.left = 1 + d.IntN(12)
		s.answers = 50
		s.maxLost = 3
	}
	s.dice = newDice(seed, "storm")
	if o.Calm || len(s.kinds) == 0 {
		s.left = 0
	}
	return s
}

// snapshots draws how often drivers keep one.
func (s *storm) snapshots() func() bool {
	d := newDice(s.seed, "snapshots")
	n := of(d, 0, 20, 200, 1000)
	return func() bool { return d.maybe(n) }
}

func (s *storm) next(w *world) *happening { return w.agenda.first() }

func (s *storm) lag(l lag) time.Duration {
	switch l {
	case lagMessage:
		if s.slow {
			return s.between(10*time.Microsecond, 3*time.Second)
		}
		return s.between(10*time.Microsecond, time.Millisecond)
	case lagMail:
		return s.between(time.Millisecond, 100*time.Millisecond)
	case lagStart:
		return 2 * time.Millisecond
	case lagResume:
		if s.hasty {
			return s.between(100*time.Microsecond, 50*time.Millisecond)
		}
		return s.between(time.Millisecond, time.Hour)
	case lagPerson:
		return s.between(time.Second, time.Hour)
	}
	return 0
}

// has tells whether this seed knows a kind of fault.
func (s *storm) has(k trouble) bool {
	for _, o := range s.kinds {
		if o == k {
			return true
		}
	}
	return false
}

// hit draws whether a fault of one kind happens here, and counts it.
func (s *storm) hit(k trouble, rate int) bool {
	if s.left == 0 || !s.has(k) || s.IntN(10_000) >= rate {
		return false
	}
	s.left--
	return true
}

// Places in a turn are few and matter most: there the rate is higher.
const atPlaces = 4

func (s *storm) dies(_ *world, _ point) bool { return s.hit(driverCrash, s.rate*atPlaces) }
func (s *storm) diskFull(*world) bool        { return s.hit(diskFull, s.rate*atPlaces) }

func (s *storm) survivors(least, most int) int { return least + s.IntN(most-least+1) }

// strike draws a fault between two happenings.
func (s *storm) strike(w *world) {
	if s.left == 0 || s.IntN(10_000) >= s.rate {
		return
	}
	s.left--
	switch of(s.dice, s.kinds...) {
	case driverCrash:
		s.crashDriver(w)
	case keeperCrash:
		s.crashKeeper(w)
	case bothCrash:
		s.crashKeeper(w)
		s.crashDriver(w)
	case powerCut:
		w.powerCut()
	case diskFull: // only an append can fail
	case wishStop:
		w.post(event.Request{Run: w.root, By: "somebody", Ask: event.RequestStop})
	case wishPause:
		w.post(event.Request{Run: w.root, By: "somebody", Ask: event.RequestPause})
	case wishCancel:
		w.stats.Cancels++
		w.post(event.Request{Run: w.root, By: "somebody", Ask: event.RequestCancel})
	case earlyAnswer:
		s.answerSomething(w)
	}
}

func (s *storm) crashDriver(w *world) {
	if w.driver != nil {
		w.driver.die("between two turns")
	}
}

func (s *storm) crashKeeper(w *world) {
	if w.keeper != nil {
		w.keeper.crash()
	}
}

// answerSomething answers a step that may not even ask.
func (s *storm) answerSomething(w *world) {
	if w.driver == nil || len(w.driver.tree.Runs()) == 0 {
		return
	}
	run := of(s.dice, w.driver.tree.Runs()...)
	r := event.Request{Run: run, By: "somebody", Ask: event.RequestAnswer, Why: "early", Choice: s.choice("early")}
	if s.maybe(700) {
		r.Step = belay.Path(fmt.Sprintf("s%d", s.IntN(4)))
	}
	w.post(r)
}

// choiceFor answers a held step; one that is a question has choices of its own.
func (s *storm) choiceFor(what string, v flow.StepView) string {
	if v.Question != nil {
		return of(newDice(s.seed, "choice "+what), v.Question.Choices...)
	}
	return s.choice(what)
}

func (s *storm) choice(what string) string {
	return of(newDice(s.seed, "choice "+what), event.ChoiceDone, event.ChoiceAgain, event.ChoiceFail, event.ChoiceSkip)
}

// rested acts for the people around a run.
func (s *storm) rested(w *world, status belay.Status) {
	if s.rerun(w, status) {
		return
	}
	switch status {
	case belay.Stopped:
		w.resumeLater()
	case belay.Paused:
		s.unpause(w)
	case belay.Held:
		if s.answers > 0 {
			s.answers--
			s.answerHeld(w)
		}
	case belay.Failed, belay.Partial, belay.Hollow, belay.NotAchieved, belay.Stalemate:
		if w.truth.reopens < s.reopens && !s.reopening {
			s.reopening = true
			s.reopen(w)
		}
	case belay.Achieved, belay.Aborted, belay.Running, belay.Parked:
	}
}

// rerun has a person run a settled step of the root again, and tells whether one
// does.
func (s *storm) rerun(w *world, status belay.Status) bool {
	if s.resets == 0 || s.resetting || status == belay.Aborted || status == belay.Held || status == belay.Running {
		return false
	}
	s.resets--
	s.resetting = true
	w.after(s.lag(lagPerson), &happening{what: "rerun", outlives: true, do: func() {
		s.resetting = false
		if w.driver != nil {
			return
		}
		tree, err := w.load()
		if err != nil {
			w.violate("fold", "%v", err)
			return
		}
		for _, i := range s.Perm(len(w.prog.Steps)) {
			if facts, err := tree.Rerun(w.root, w.prog.Steps[i].ID, "somebody", "once more"); err == nil {
				w.drive(facts...)
				return
			}
		}
		s.rested(w, w.truth.status)
	}})
	return true
}

// unpause has a person resume a paused run.
func (s *storm) unpause(w *world) {
	w.after(s.lag(lagPerson), &happening{what: "resume by a person", outlives: true, do: func() {
		if w.driver == nil && !w.truth.status.Terminal() {
			w.drive(flow.Fact{Run: w.root, Event: event.RunResumed{By: "somebody"}})
		}
	}})
}

func (s *storm) reopen(w *world) {
	w.after(s.lag(lagPerson), &happening{what: "reopen", outlives: true, do: func() {
		s.reopening = false
		if w.driver == nil && w.truth.status.Terminal() {
			w.stats.Reopens++
			w.drive(flow.Fact{Run: w.root, Event: event.RunReopened{By: "somebody", Why: "try again"}})
		}
	}})
}

// answerHeld answers the first held step: through the mailbox, or as the
// writer of one turn, and then resumes the run.
func (s *storm) answerHeld(w *world) {
	tree, err := w.load()
	if err != nil {
		w.violate("fold", "%v", err)
		return
	}
	for _, id := range tree.Runs() {
		for _, v := range tree.Run(id).Steps() {
			if v.Item == "" || tree.Run(id).Result() != nil {
				continue
			}
			r := event.Request{
				Run: id, By: "somebody", Ask: event.RequestAnswer, Step: v.Path, Why: "looked at it",
				Choice: s.choiceFor(string(id)+string(v.Path)+v.Item, v),
			}
			w.after(s.lag(lagPerson), &happening{what: "answer", outlives: true, do: func() { s.answer(w, r) }})
			return
		}
	}
	w.violate("held means asked", "the run is held and no step asks anything")
}

func (s *storm) answer(w *world, r event.Request) {
	if w.driver != nil || w.truth.status.Terminal() {
		return
	}
	if s.steady || s.maybe(500) {
		w.post(r)
		w.resumeLater()
		return
	}
	w.settle(r)
	w.resumeLater()
}

// settle writes a request down without driving the run.
func (w *world) settle(r event.Request) {
	tree, err := w.load()
	if err != nil {
		w.violate("fold", "%v", err)
		return
	}
	w.mails++
	r.ID = fmt.Sprintf("m%d", w.mails)
	turn, err := tree.Settle(w.now, flow.Fact{Run: r.Run, Event: event.RequestReceived{Request: r}})
	if err != nil {
		w.violate("turn", "%v", err)
		return
	}
	if len(turn.Effects) > 0 {
		w.violate("who does not drive starts nothing", "%T", turn.Effects[0])
	}
	w.append(turn.Records, w.disk[len(w.disk)-1].Epoch)
}

// behave draws what a process does from its key alone, so that a crash
// somewhere else changes nothing here.
func (s *storm) behave(w *world, j effect.Job) program {
	d := newDice(s.seed, "process "+string(j.Key))
	if j.Role == belay.RoleHook {
		return program{acts: []act{{d.between(time.Millisecond, s.long), func(*process) (int, bool) { return d.IntN(2), true }}}}
	}
	step := stepName(j.Run, j.Path)
	def := w.truth.steps[step].def
	p := program{stubborn: of(d, 0, 0, 20*time.Millisecond, 2*time.Second, time.Minute)}
	if j.Role == belay.RoleVerify {
		forced := def.Type.Child() && (s.steady || !d.maybe(s.lies))
		p.acts = []act{{d.between(time.Millisecond, 2*time.Second), func(*process) (int, bool) {
			if forced || w.effects[step] {
				return 0, true
			}
			return 1, true
		}}}
		return p
	}
	life := d.between(time.Millisecond, s.long)
	cut := time.Duration(d.Int64N(int64(life)))
	code, works := 0, true
	if d.maybe(s.fails) {
		code, works = 1+d.IntN(3), d.maybe(200)
	} else if d.maybe(s.lies) {
		works = false
	}
	if s.steady && !s.linear && j.Attempt >= def.Retry.MaxAttempts {
		code, works = 0, true
	}
	out := fmt.Sprint(d.IntN(3))
	big := d.maybe(60)
	p.acts = []act{
		{cut, func(*process) (int, bool) {
			if works {
				w.effects[step] = true
			}
			return 0, false
		}},
		{life - cut, func(p *process) (int, bool) {
			p.out = out
			if big {
				w.blobs["blob of "+out] = out
				p.out64 = &belay.Value{Sha: "blob of " + out, Size: 2 * belay.MaxInline}
			}
			return code, true
		}},
	}
	return p
}
