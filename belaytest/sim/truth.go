package sim

import (
	"slices"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/recipe"
)

// truth holds the records against what really happened. It keeps an account of
// its own and asks neither the brain nor the keeper.
type truth struct {
	w        *world
	status   belay.Status
	epoch    int64
	pausing  bool // a person wants nothing new to start
	reopens  int  // of the root
	cancels  int  // the same
	at       time.Time
	progs    map[belay.RunID]*recipe.Recipe
	first    map[belay.RunID]event.RunStarted
	steps    map[string]*stepTruth  // by "run:step"
	attempts map[belay.Key]*attempt // every key that was ever started
	open     []belay.Key            // processes that are open by the records
	due      []belay.Key            // open at attach, not found yet
	over     map[belay.RunID]bool   // runs that ended
	items    map[string]string      // "run item" to "run:step"
	requests map[string]bool        // "run id" of requests that were received
}

// stepTruth is one step of one run.
type stepTruth struct {
	run     belay.RunID
	path    belay.Path
	def     *recipe.Step
	births  int
	settled bool
	done    bool
	phase   string
	pass    string // why a once step may be started again
	starts  int    // main attempts that were recorded as started and not as unborn
	lost    int

	pardoned int  // those of them that were cleared
	grants   int  // attempts that a person allowed
	anew     int  // those of them that came with a reset
	given    int  // attempts that were given back
	checked  bool // its verify has said that the work is not there
	vouched  bool // a person said that it is there, and its verify is to say so too
	hook     string
}

// attempt is one key.
type attempt struct {
	step   *stepTruth
	role   belay.Role
	child  belay.RunID
	open   bool
	births int
	exit   *ending
	ended  *effect.Observation
	judged bool
	unborn bool // found unborn: may be started under the same key again
}

func newTruth(w *world) *truth {
	return &truth{
		w: w, status: belay.Running,
		progs: map[belay.RunID]*recipe.Recipe{}, first: map[belay.RunID]event.RunStarted{}, steps: map[string]*stepTruth{},
		attempts: map[belay.Key]*attempt{}, over: map[belay.RunID]bool{}, items: map[string]string{},
		requests: map[string]bool{},
	}
}

// record looks at one record that is on disk now.
func (t *truth) record(r event.Record) {
	if r.At.Before(t.at) {
		t.w.violate("time never falls", "record %d is from %s, the one before from %s", r.Seq, r.At, t.at)
	}
	t.at = r.At
	if r.Epoch < t.epoch {
		t.w.violate("one driver", "record %d has epoch %d after %d", r.Seq, r.Epoch, t.epoch)
	}
	switch e := r.Event.(type) {
	case event.RunStarted:
		t.runStarted(r.Run, e)
	case event.RunAttached:
		t.attached(e)
	case event.RunReopened:
		t.reopened(r.Run)
	case event.RunHeld:
		t.resting(r.Run, belay.Held)
	case event.RunStopped:
		t.pausing = false
		t.resting(r.Run, belay.Stopped)
	case event.RunParked:
		t.resting(r.Run, belay.Parked)
	case event.RunPaused:
		t.resting(r.Run, belay.Paused)
	case event.RunEnded:
		t.runEnded(r.Run, e.RunResult)
	case event.RequestReceived:
		t.requested(r.Run, e.Request)
	case event.RunCleared:
		if e.What == event.CountAttempts {
			t.cleared(r.Run, e.Path)
		}
	case event.RunResumed:
		t.pausing = false
	case event.RequestRefused, event.AnswerGiven:
	default:
		t.stepRecord(r)
	}
}

// stepRecord looks at a record about a step or an attempt.
func (t *truth) stepRecord(r event.Record) {
	if t.over[r.Run] {
		t.w.violate("an end is an end", "record %d: %s in run %s, which has ended", r.Seq, r.Event.Kind(), r.Run)
	}
	switch e := r.Event.(type) {
	case event.AttemptStarted:
		t.started(r.Run, e)
	case event.AttemptFound:
		t.found(e)
	case event.AttemptStopping:
		t.mustBeOpen(e.Key, "stopping")
	case event.AttemptEnded:
		t.ended(e)
	case event.AttemptJudged:
		t.judged(e)
	case event.StepNotTaken:
		t.settle(r.Run, e.Path, "not taken", false)
	case event.StepRefused:
		t.settle(r.Run, e.Path, "refused", false)
	case event.StepReset:
		t.reset(r.Run, e)
	case event.RecoveryChosen:
		t.recovery(r.Run, e)
	case event.ItemOpened:
		t.items[string(r.Run)+" "+e.ID] = stepName(r.Run, e.Path)
		t.asked(r.Run, e)
	case event.ItemAnswered:
		t.answered(r.Run, e)
	case event.ItemExpired:
		t.expired(r.Run, e)
	case event.AttemptNoted, event.StepSkipped, event.RunCleared: // no agent, no policy and no person here makes one
	}
}

// committed looks at the whole of a turn.
func (t *truth) committed() {
	if len(t.due) > 0 {
		t.w.violate("one fate for each open attempt", "%s was open and has none", t.due[0])
	}
}

func (t *truth) runStarted(run belay.RunID, e event.RunStarted) {
	if t.progs[run] != nil {
		t.w.violate("a run begins once", "%s", run)
		return
	}
	t.first[run] = e
	prog := t.shape(t.w.lib.Recipes[e.Recipe], run, e)
	t.progs[run] = prog
	for i := range prog.Steps {
		def := &prog.Steps[i]
		t.steps[stepName(run, def.ID)] = &stepTruth{run: run, path: def.ID, def: def}
	}
}

func (t *truth) attached(e event.RunAttached) {
	if e.Epoch <= t.epoch {
		t.w.violate("one driver", "epoch %d was attached after %d", e.Epoch, t.epoch)
	}
	t.epoch = e.Epoch
	t.due = slices.Clone(t.open)
	if !t.status.Terminal() {
		t.status = belay.Running
	}
}

// reopened gives every step that did not end well another chance.
func (t *truth) reopened(run belay.RunID) {
	if !t.over[run] {
		t.w.violate("an end is an end", "run %s was reopened and had not ended", run)
	}
	delete(t.over, run)
	if run == t.w.root {
		t.status, t.pausing = belay.Running, false
		t.reopens++
	}
	last := t.lastRound(run)
	for i := range t.progs[run].Steps {
		d := t.steps[stepName(run, t.progs[run].Steps[i].ID)]
		if d.done || d.phase == "not taken" || (d.phase == "failed" || d.phase == "refused") && d.def.Optional && d.path != last {
			continue
		}
		d.settled, d.phase, d.hook = false, "", ""
		d.grants++
	}
}

func (t *truth) resting(run belay.RunID, s belay.Status) {
	if run != t.w.root {
		t.w.violate("only a root rests", "%s", run)
	}
	t.status = s
	t.nothingRuns(string(s))
}

func (t *truth) nothingRuns(when string) {
	if len(t.w.procs) > 0 {
		t.w.violate("nothing outlives its run", "%s runs and the run is %s", t.w.procs[0].job.Key, when)
	}
	if len(t.open) > 0 {
		t.w.violate("nothing outlives its run", "%s is open and the run is %s", t.open[0], when)
	}
}

func (t *truth) runEnded(run belay.RunID, r belay.RunResult) {
	if t.over[run] {
		t.w.violate("an end is an end", "%s ended twice", run)
	}
	t.over[run] = true
	if (r.Code == exit.OK) != (r.Status == belay.Achieved) {
		t.w.violate("0 means achieved", "%s is %s with code %d", run, r.Status, r.Code)
	}
	if r.Status == belay.Achieved {
		t.achieved(run)
	}
	if r.Status != belay.Aborted {
		t.hooked(run)
	}
	t.closed(run, r)
	for _, k := range t.open {
		if t.attempts[k].step.run == run {
			t.w.violate("nothing outlives its run", "%s is open and %s has ended", k, run)
		}
	}
	if run == t.w.root {
		t.status = r.Status
		t.nothingRuns(string(r.Status))
	}
}

// achieved checks that every required step is done or was not to be taken.
func (t *truth) achieved(run belay.RunID) {
	for i := range t.progs[run].Steps {
		d := t.steps[stepName(run, t.progs[run].Steps[i].ID)]
		if !d.done && d.phase != "not taken" && !d.def.Optional {
			t.w.violate("0 means achieved", "%s is achieved and %s is %q", run, d.path, d.phase)
		}
	}
}

func (t *truth) requested(run belay.RunID, r event.Request) {
	switch r.Ask {
	case event.RequestStop:
		t.w.stats.Stops++
	case event.RequestPause:
		t.w.stats.Pauses++
		t.pausing = run == t.w.root && !t.over[run]
	case event.RequestCancel:
		t.pausing = t.pausing && run != t.w.root
		t.cancels += btoi(run == t.w.root && !t.over[run])
	case event.RequestAnswer, event.RequestClear:
	}
	id := string(run) + " " + r.ID
	if t.requests[id] {
		t.w.violate("a request counts once", "%s", id)
	}
	t.requests[id] = true
}

func (t *truth) settle(run belay.RunID, p belay.Path, phase string, done bool) {
	d := t.steps[stepName(run, p)]
	if d == nil {
		t.w.violate("records name steps", "%s in %s", p, run)
		return
	}
	if d.settled {
		t.w.violate("a step is settled once", "%s is %s and becomes %s", stepName(run, p), d.phase, phase)
	}
	d.settled, d.done, d.phase = true, done, phase
}

func (t *truth) recovery(run belay.RunID, e event.RecoveryChosen) {
	if e.Plan.Act == belay.ActGiveUp {
		t.settle(run, e.Path, "failed", false)
	}
}

func (t *truth) answered(run belay.RunID, e event.ItemAnswered) {
	t.w.stats.Answers++
	id := string(run) + " " + e.ID
	name, ok := t.items[id]
	if !ok {
		t.w.violate("an item is answered once", "%s", id)
		return
	}
	delete(t.items, id)
	d := t.steps[name]
	if d.def.Type.Asks() {
		t.decided(run, d, e.Choice)
		return
	}
	switch e.Choice {
	case event.ChoiceDone:
		if d.vouched = e.Check; !e.Check {
			t.settle(run, d.path, "done", true)
		}
	case event.ChoiceSkip:
		t.settle(run, d.path, "skipped", false)
	case event.ChoiceFail:
		t.settle(run, d.path, "failed", false)
		d.pass = "a person said that it failed"
	case event.ChoiceAgain:
		d.grants++
		d.pass = "a person said again"
	}
}

// end checks what must hold when the run has come to its rest.
func (t *truth) end() {
	if t.status.Terminal() && len(t.open) > 0 {
		t.w.violate("nothing outlives its run", "%s is open at the end", t.open[0])
	}
}
