package flow

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/recipe"
)

// beginWays starts a run with agents, in which recovery may start some.
func beginWays(t *testing.T, src string, change func(*event.RunStarted)) *world {
	t.Helper()
	lib := Library{Recipes: map[string]*recipe.Recipe{}, Names: map[string]string{}}
	root := load(t, "root", src, lib)
	w := &world{t: t, lib: lib, now: start, tree: NewTree("r", lib), jobs: map[belay.Key]effect.Job{}}
	e := event.RunStarted{
		Schema: event.Schema, Name: root.Name, Recipe: root.Digest, Dir: "/d", Limits: belay.DefaultLimits(),
		Agent: "one", Agents: true, Session: &belay.Session{Tree: "r"},
	}
	if change != nil {
		change(&e)
	}
	w.turn(Fact{"r", e}, Fact{"r", event.RunAttached{Epoch: 1}})
	return w
}

// say answers the one question of the last turn.
func (w *world) say(a effect.Answer) {
	w.t.Helper()
	keys := strings.Fields(w.asks())
	if len(keys) != 1 {
		w.t.Fatalf("asks %q", w.asks())
	}
	w.turn(Fact{runOf(belay.Key(keys[0])), event.AnswerGiven{Key: belay.Key(keys[0]), Answer: a}})
}

// plans lists the recoveries that were chosen so far.
func (w *world) plans() string {
	var acts []string
	for _, r := range w.recs {
		if e, ok := r.Event.(event.RecoveryChosen); ok {
			acts = append(acts, string(e.Plan.Act))
		}
	}
	return strings.Join(acts, " ")
}

func (w *world) wantPlans(want string) {
	w.t.Helper()
	if got := w.plans(); got != want {
		w.t.Fatalf("chose %q, want %q", got, want)
	}
}

// clear has a person take a count back.
func (w *world) clear(what event.Count, step belay.Path) {
	w.t.Helper()
	id := fmt.Sprint("clear", len(w.recs))
	w.turn(Fact{"r", event.RequestReceived{Request: event.Request{ID: id, Run: "r", By: "ann", Ask: event.RequestClear, What: what, Step: step, Why: "because"}}})
}

// bad is the end of an agent with an error of a class.
func bad(class belay.Class, cause string) effect.Observation {
	return effect.Observation{Exit: 1, Agent: &effect.AgentReport{Name: "one", Result: belay.AgentResult{Error: true, Class: class, Cause: cause, Exit: 1}}}
}

// A look at the machine is asked for where it could decide, and nowhere else.
//
// promise: R1
func TestAProbeIsAskedWhereItCouldDecide(t *testing.T) {
	for name, tt := range map[string]struct {
		o     effect.Observation
		probe bool
	}{
		"killed":               {effect.Observation{Signal: 9, Exit: 137}, true},
		"exit of a kill":       {effect.Observation{Exit: 137}, true},
		"words about a disk":   {effect.Observation{Exit: 1, Tail: "write: No space left on device"}, true},
		"the disk of our own":  {effect.Observation{Fault: fault.Disk, Detail: "full"}, true},
		"no process":           {effect.Observation{Fault: fault.Spawn, Detail: "limit"}, true},
		"a plain failure":      {effect.Observation{Exit: 1, Tail: "no"}, false},
		"tests that fail":      {effect.Observation{Exit: 1, Tail: "--- FAIL: TestA\nFAIL"}, false},
		"ended by us":          {effect.Observation{Signal: 9, Exit: 137, KilledBy: fault.KilledDeadline}, false},
		"well, with the words": {effect.Observation{Tail: "No space left on device"}, false},
		"another signal":       {effect.Observation{Signal: 11, Exit: 139}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := beginWays(t, "name: n\nsteps:\n- {id: a, command: x}\n", func(e *event.RunStarted) { e.Agents = false })
			w.end("r:a.1", tt.o)
			if got := w.asks(); (got == "r:a.1?probe") != tt.probe || got != "" && !tt.probe {
				t.Fatalf("asks %q", got)
			}
			if !tt.probe {
				return
			}
			judged := func() bool {
				return slices.ContainsFunc(w.recs, func(r event.Record) bool { return r.Event.Kind() == "attempt.judged" })
			}
			if judged() {
				t.Fatal("it is judged before the answer")
			}
			w.reload(nil)
			if w.asks() != "r:a.1?probe" {
				t.Fatalf("asks %q after a crash", w.asks())
			}
			w.say(effect.AnswerProbe{OK: true, Probe: &effect.Probe{DiskFull: true}})
			if !judged() || w.asks() != "" {
				t.Fatalf("judged %v, asks %q", judged(), w.asks())
			}
			if tt.o.Exit != 137 { // a kill has its class by its exit, whatever the machine shows
				w.wantPlans("hold")
				w.wantStatus(belay.Held, 0)
			}
		})
	}
}

// A look that could not be taken decides nothing and is not asked for again.
func TestAProbeThatCannotBeTaken(t *testing.T) {
	w := beginWays(t, "name: n\nsteps:\n- {id: a, command: x}\n", nil)
	w.end("r:a.1", effect.Observation{Exit: 1, Tail: "No space left on device"})
	w.say(effect.AnswerProbe{Error: "no such directory"})
	if w.asks() != "" {
		t.Fatalf("asks %q", w.asks())
	}
	w.wantStatus(belay.Failed, exit.Failed)
}

// A person who takes the failures of a step back gives it all its recoveries
// again; those of another step stay used up.
//
// promise: R13
func TestClearedAttempts(t *testing.T) {
	for step, want := range map[belay.Path]string{"": "retry hold retry", "a": "retry hold retry", "b": "retry hold hold"} {
		w := beginWays(t, "name: n\nsteps:\n- {id: a, agent: one, prompt: x, on_failure: escalate}\n- {id: b, command: x}\n", nil)
		w.allow()
		w.end("r:a.1", bad(belay.ClassHollow, "nothing"))
		w.now = w.now.Add(time.Minute)
		w.turn()
		w.allow()
		w.end("r:a.2", bad(belay.ClassHollow, "nothing"))
		w.wantPlans("retry hold")
		w.clear(event.CountAttempts, step)
		w.turn(request("q", event.RequestAnswer, event.ChoiceAgain))
		w.allow()
		w.wantStarts("r:a.3")
		w.end("r:a.3", bad(belay.ClassHollow, "nothing"))
		w.wantPlans(want)
	}
}

// The recoveries of a run are counted over all its steps; a person who takes the
// budget back gives it as many again.
//
// promise: R7, R13
func TestClearedBudget(t *testing.T) {
	w := beginWays(t, "name: n\nsteps:\n- {id: a, agent: one, prompt: x}\n- {id: b, agent: one, prompt: x, needs: []}\n", func(e *event.RunStarted) {
		e.Limits.MaxReplans = 1
	})
	w.allow()
	w.end("r:a.1", bad(belay.ClassConflict, "overloaded"))
	w.end("r:b.1", bad(belay.ClassConflict, "overloaded"))
	w.wantPlans("retry hold")
	if n, most := w.tree.Replans(); n != 1 || most != 1 {
		t.Fatalf("%d of %d", n, most)
	}
	w.clear(event.CountBudget, "")
	if n, _ := w.tree.Replans(); n != 0 {
		t.Fatalf("%d recoveries are counted", n)
	}
	w.reload(nil)
	if n, _ := w.tree.Replans(); n != 0 {
		t.Fatalf("%d recoveries are counted after a crash", n)
	}
	w.turn(request("q", event.RequestAnswer, event.ChoiceAgain))
	w.turn()
	w.reload(nil)
	w.allow()
	w.wantStarts("r:b.2")
	w.end("r:b.2", bad(belay.ClassConflict, "something else"))
	w.wantPlans("retry hold retry")
}

// A service that is not to be called yet is asked again when it said, however
// often a driver dies in the meantime, and at once when a person clears it.
//
// promise: R8, R13
func TestAServiceThatIsDown(t *testing.T) {
	src := "name: n\nsteps:\n- {id: a, agent: one, prompt: x}\n"
	w := beginWays(t, src, nil)
	until := start.Add(time.Minute)
	w.say(effect.AnswerAgent{Error: "down", Until: until})
	for range 3 {
		w.now = w.now.Add(15 * time.Second)
		w.reload(nil)
		if w.asks() != "" || !w.out.Until.Equal(until) {
			t.Fatalf("asks %q, waits until %s, want %s", w.asks(), w.out.Until, until)
		}
	}
	w.now = until
	w.turn()
	w.allow()
	w.wantStarts("r:a.1")

	w = beginWays(t, src, nil)
	w.say(effect.AnswerAgent{Error: "down", Until: until})
	w.clear(event.CountAttempts, "")
	if w.asks() != "" {
		t.Fatalf("asks %q", w.asks())
	}
	w.clear(event.CountBreakers, "")
	w.allow()
	w.wantStarts("r:a.1")
}

// A service without retries is left for another agent, or waited for.
//
// promise: R9
func TestAServiceWithoutRetries(t *testing.T) {
	for name, staff := range map[string][]string{"failover": {"two"}, "retry": nil} {
		w := beginWays(t, "name: n\nsteps:\n- {id: a, agent: one, prompt: x}\n", func(e *event.RunStarted) { e.Staff = staff })
		w.allow()
		w.end("r:a.1", bad(belay.ClassTransient, "overloaded"))
		w.wantPlans("retry")
		w.now = w.now.Add(time.Minute)
		w.turn()
		w.say(effect.AnswerAgent{Error: "no retries left", Spent: true})
		w.wantPlans("retry " + name)
		w.reload(nil)
		w.wantPlans("retry " + name)
		if staff == nil {
			continue
		}
		w.allow()
		w.wantStarts("r:a.2")
		if who := w.jobs["r:a.2"].Agent.Name; who != "two" {
			t.Errorf("%s starts", who)
		}
	}
}

// What failed twice in the same way and is reopened with nothing changed is not
// started a third time without a person's word.
//
// promise: R10
func TestAStalemateIsAsked(t *testing.T) {
	for name, change := range map[string]bool{"the same": false, "something changed": true} {
		t.Run(name, func(t *testing.T) {
			w := beginWays(t, "name: n\nsteps:\n- {id: a, agent: one, prompt: x, expect: change}\n", nil)
			w.allow()
			o := bad(belay.ClassConflict, "locked")
			o.Agent.Evidence.Before, o.Agent.Evidence.After = belay.TreeState{Tree: "t"}, belay.TreeState{Tree: "t"}
			w.end("r:a.1", o)
			w.now = w.now.Add(time.Minute)
			w.turn()
			w.allow()
			again := bad(belay.ClassConflict, "locked")
			again.Agent.Evidence.Before, again.Agent.Evidence.After = belay.TreeState{Tree: "t"}, belay.TreeState{Tree: "t"}
			if change {
				again.Agent.Evidence.After.Tree = "u"
			}
			w.end("r:a.2", again)
			if change { // there is something new: once more
				w.wantPlans("retry retry")
				return
			}
			w.wantPlans("retry give_up")
			w.turn(w.tree.Reopen("ann", "again")...)
			w.wantStatus(belay.Held, 0) // and no start was asked for
			w.turn(request("q", event.RequestAnswer, event.ChoiceAgain))
			w.allow() // the budget holds all the same
			w.wantStarts("r:a.3")
		})
	}
}

// Where the set-up is wrong nothing else starts, whoever says so; an abort of
// an optional step ends the run as well.
//
// promise: R4
func TestAnAbortEndsTheRun(t *testing.T) {
	for _, optional := range []bool{false, true} {
		w := beginWays(t, fmt.Sprintf("name: n\nsteps:\n- {id: a, command: x, optional: %v}\n- {id: b, command: y, needs: []}\n- {id: c, command: z, needs: [a]}\n", optional), nil)
		w.wantStarts("r:a.1 r:b.1")
		failed := effect.Verdict{Failure: &belay.Failure{Kind: belay.BashFailure, Cause: "bad configuration"}}
		w.turn(
			Fact{"r", event.AttemptEnded{Key: "r:a.1", Observation: effect.Observation{Began: true, Exit: 78}}},
			Fact{"r", event.AttemptJudged{Key: "r:a.1", Verdict: failed}},
			Fact{"r", event.RecoveryChosen{Path: "a", Plan: belay.Plan{Act: belay.ActAbort, Rule: "invalid_input", Policy: "belay", Reason: "wrong"}}},
		)
		w.wantStarts("")
		w.wantStatus(belay.Running, 0) // what runs may come to its end
		w.exit("r:b.1", 0)
		w.wantStarts("")
		w.wantStatus(belay.Failed, exit.Failed)
		if f := w.tree.Run("r").Result().Failure; f == nil || f.Cause != "bad configuration" {
			t.Errorf("optional %v: the run failed by %v", optional, f)
		}
	}
}

// What builds on a step that was left out is told so: a script by its
// environment, an agent in its prompt.
//
// promise: R5
func TestWhatWasLeftOutIsTold(t *testing.T) {
	w := beginWays(t, "name: n\npolicy: classic\nsteps:\n- {id: a, command: x, optional: true, needs: []}\n- {id: b, command: x, needs: []}\n"+
		"- {id: c, command: y, needs: [a, b]}\n- {id: d, agent: one, prompt: x, needs: [a, b]}\n- {id: e, command: y, needs: [b]}\n", func(e *event.RunStarted) {
		e.Policy, e.MaxRetries = "classic", 1
	})
	w.exit("r:b.1", 0)
	w.exit("r:a.1", 1)
	w.now = w.now.Add(time.Minute)
	w.turn()
	w.exit("r:a.2", 1)
	w.wantPlans("retry skip")
	w.allow()
	if got := w.jobs["r:c.1"].Env["BELAY_SKIPPED"]; got != "a" {
		t.Errorf("the script is told %q", got)
	}
	if got := w.jobs["r:d.1"].Agent.Brief; !strings.Contains(got, "left out: a.") {
		t.Errorf("the agent is told %q", got)
	}
	if got, told := w.jobs["r:e.1"].Env["BELAY_SKIPPED"]; told {
		t.Errorf("a step that does not need it is told %q", got)
	}
}

// An agent that was to help and may not start leaves the step to a person or to
// its end; nothing goes round in circles.
//
// promise: R10
func TestAHelperThatMayNotStart(t *testing.T) {
	for name, tt := range map[string]struct {
		answer effect.Answer
		plans  string
	}{
		"its service is down":  {effect.AnswerAgent{Error: "down", Until: start.Add(time.Hour)}, "repair hold"},
		"no retries are left":  {effect.AnswerAgent{Error: "none", Spent: true}, "repair hold"},
		"the budget is spoken": {effect.AnswerAgent{Error: "used up"}, "repair"},
	} {
		t.Run(name, func(t *testing.T) {
			w := beginWays(t, "name: n\nsteps:\n- {id: a, command: x, on_failure: escalate}\n", nil)
			w.end("r:a.1", effect.Observation{Exit: 1, Tail: "--- FAIL: TestA\nFAIL"})
			w.wantPlans("repair")
			w.say(tt.answer)
			w.wantPlans(tt.plans)
			w.wantStatus(belay.Held, 0)
			w.turn(request("q", event.RequestAnswer, event.ChoiceAgain))
			w.wantStarts("r:a.2")
			w.end("r:a.2", effect.Observation{Exit: 1, Tail: "something else"})
			if w.asks() != "" { // who was called before is not called any more
				t.Errorf("asks %q", w.asks())
			}
		})
	}
}

// A service that is down is waited for from its first failure on, however often
// a driver dies meanwhile. A breaker delays that, and does not make it longer.
//
// promise: R8, R10
func TestPatienceIsKeptByTheRecords(t *testing.T) {
	w := beginWays(t, "name: n\nsteps:\n- {id: a, agent: one, prompt: x}\n", func(e *event.RunStarted) {
		e.Limits.Patience, e.Limits.MaxAgents = 10*time.Minute, 1
	})
	w.allow()
	w.end("r:a.1", bad(belay.ClassTransient, "overloaded"))
	down := w.now
	tries := 1
	for w.now.Before(down.Add(time.Hour)) && w.out.Until.After(w.now) {
		due := w.out.Until
		w.reload(nil)
		if !w.out.Until.Equal(due) {
			t.Fatalf("waits until %s, and until %s after a crash", due, w.out.Until)
		}
		w.now = due
		w.turn()
		switch {
		case w.asks() == "":
		case tries == 5: // the breaker is open for longer than the patience lasts
			w.say(effect.AnswerAgent{Error: "down", Until: down.Add(time.Hour)})
		default:
			tries++
			w.allow()
			w.end(belay.Key(fmt.Sprintf("r:a.%d", tries)), bad(belay.ClassTransient, "overloaded"))
		}
	}
	w.wantStatus(belay.Failed, exit.Infra)
	if took := w.now.Sub(down); took != 10*time.Minute || tries != 5 {
		t.Errorf("%d tries, gave up after %s", tries, took)
	}
	if n, _ := w.tree.Spent(); n != 0 {
		t.Errorf("%d starts are counted", n)
	}
}

// A disk that took no more and has room again is no failure of the work: the same step is
// tried once more, unless it must not run twice.
//
// promise: F7
func TestADiskThatHasRoomAgain(t *testing.T) {
	full := effect.Observation{Began: true, Fault: fault.Disk, Detail: "no space left on device"}
	room := effect.AnswerProbe{OK: true, Probe: &effect.Probe{}}
	for name, keys := range map[string]string{"agent": "prompt: x, expect: answer, optional: true, on_failure: cure", "shell": "command: x"} {
		t.Run(name, func(t *testing.T) {
			w := beginWays(t, "name: n\nsteps:\n- {id: a, "+keys+"}\n", nil)
			if name == "agent" {
				w.allow()
			}
			w.end("r:a.1", full)
			w.say(room)
			w.wantPlans("retry")
			w.now = w.out.Until
			w.turn()
			if name == "agent" {
				w.allow()
			}
			w.wantStarts("r:a.2")
			w.end("r:a.2", full)
			w.say(room)
			w.wantPlans("retry give_up")
		})
	}
	w := beginWays(t, "name: n\nsteps:\n- {id: a, command: x, once: true}\n", nil)
	w.end("r:a.1", full)
	w.say(room)
	w.wantPlans("give_up")
}
