package flow

import (
	"errors"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
)

const twoApart = "name: n\nsteps:\n- {id: a, command: x}\n- {id: b, command: y}\n- {id: c, needs: [], command: z}\n"

func pauseIt() Fact {
	return Fact{"r", event.RequestReceived{Request: event.Request{ID: "p", Run: "r", By: "ann", Ask: event.RequestPause, Why: "lunch"}}}
}

func resumeIt(w *world, g GoOn) {
	w.t.Helper()
	g.By, g.ID = "ann", "id"
	facts, err := w.tree.GoOn(g)
	if err != nil {
		w.t.Fatal(err)
	}
	w.turn(append([]Fact{{"r", event.RunAttached{Epoch: 9, Pid: 9}}}, facts...)...)
}

// A pause starts nothing, ends nothing, and outlives its driver; a person takes it
// back.
//
// promise: X
func TestAPauseOutlivesItsDriver(t *testing.T) {
	w := begin(t, twoApart)
	w.wantStarts("r:a.1 r:c.1")
	w.turn(pauseIt())
	w.wantStarts("")
	if n := kills(w.out); n != 0 {
		t.Fatalf("%d are ended", n)
	}
	w.wantStatus(belay.Running, 0)
	w.exit("r:a.1", 0)
	w.wantStarts("")
	w.reload(map[belay.Key]fault.Found{"r:c.1": fault.Adopted}) // kill -9, and a watch that resumes
	w.wantStarts("")
	w.wantStatus(belay.Running, 0)
	w.exit("r:c.1", 0)
	w.wantStarts("")
	w.wantStatus(belay.Paused, 0)
	w.reload(nil) // again without a person
	w.wantStarts("")
	w.wantStatus(belay.Paused, 0)
	resumeIt(w, GoOn{})
	w.wantStarts("r:b.1")
	w.exit("r:b.1", 0)
	w.wantStatus(belay.Achieved, 0)
}

func TestAPauseGivesWay(t *testing.T) {
	ended := func(why fault.KilledBy) effect.Observation {
		return effect.Observation{Signal: 15, KilledBy: why}
	}
	for name, tt := range map[string]struct {
		ask   event.RequestKind
		why   fault.KilledBy
		after belay.Status
	}{
		"to a stop":   {event.RequestStop, fault.KilledStop, belay.Stopped},
		"to a cancel": {event.RequestCancel, fault.KilledCancel, belay.Aborted},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, twoApart)
			w.turn(pauseIt())
			w.turn(request("s", tt.ask, ""))
			w.end("r:a.1", ended(tt.why))
			w.end("r:c.1", ended(tt.why))
			w.wantStatus(tt.after, exit.Aborted)
			if tt.after == belay.Stopped {
				w.reload(nil)
				w.wantStarts("r:a.2 r:c.2")
			}
		})
	}
	t.Run("to its end", func(t *testing.T) {
		w := begin(t, "name: n\nsteps:\n- {id: a, command: x}\n")
		w.turn(pauseIt())
		w.exit("r:a.1", 0)
		w.wantStatus(belay.Achieved, 0)
	})
	t.Run("to a question", func(t *testing.T) {
		w := begin(t, "name: n\nsteps:\n- {id: a, command: x, on_failure: escalate}\n- {id: b, command: y, needs: []}\n")
		w.turn(pauseIt())
		w.exit("r:a.1", 1)
		w.exit("r:b.1", 0)
		w.wantStatus(belay.Held, 0)
		w.turn(Fact{"r", event.RequestReceived{Request: event.Request{ID: "1", Run: "r", Step: "a", Ask: event.RequestAnswer, Choice: event.ChoiceAgain, By: "ann"}}})
		w.wantStarts("")
		w.wantStatus(belay.Paused, 0)
		resumeIt(w, GoOn{})
		w.wantStarts("r:a.2")
	})
	t.Run("not to a time that comes", func(t *testing.T) {
		w := begin(t, "name: n\nsteps:\n- {id: a, command: x, retry: {max_attempts: 2, backoff: 1h}}\n")
		w.turn(pauseIt())
		w.exit("r:a.1", 1)
		w.wantStatus(belay.Paused, 0)
	})
	t.Run("written down with nobody there", func(t *testing.T) {
		w := begin(t, "name: n\nsteps:\n- {id: a, command: x, retry: {max_attempts: 2, backoff: 1h}}\n")
		w.exit("r:a.1", 1)
		out, err := w.tree.Settle(w.now, pauseIt())
		if err != nil || out.Status != belay.Paused || len(out.Effects) > 0 {
			t.Fatalf("%v %s %v", err, out.Status, out.Effects)
		}
	})
}

const chain = "name: n\ncontext: {o: old}\nsteps:\n" +
	"- {id: a, command: x, output: o}\n- {id: b, command: y}\n- {id: pay, command: z, once: true}\n- {id: d, command: z}\n- {id: e, command: z, needs: []}\n"

// A done step runs again with all that builds on it, but for what must not run twice.
func TestRerun(t *testing.T) {
	w := begin(t, chain)
	w.print("r:a.1", "new")
	for _, k := range []belay.Key{"r:e.1", "r:b.1", "r:pay.1", "r:d.1"} {
		w.exit(k, 0)
	}
	w.wantStatus(belay.Achieved, 0)
	facts, err := w.tree.Rerun("r", "a", "ann", "the data changed")
	if err != nil {
		t.Fatal(err)
	}
	e := facts[len(facts)-1].Event.(event.StepReset)
	if len(facts) != 2 || len(e.Also) != 2 || e.Also[0] != "b" || e.Also[1] != "d" || len(e.Kept) != 1 || e.Kept[0] != "pay" {
		t.Fatalf("%+v", facts)
	}
	w.turn(append([]Fact{{"r", event.RunAttached{Epoch: 2}}}, facts...)...)
	w.wantStarts("r:a.2")
	if v := w.tree.Run("r").Vars()["o"]; string(v.JSON) != `"old"` {
		t.Fatalf("before it runs again o is %s", v.JSON)
	}
	w.reload(map[belay.Key]fault.Found{"r:a.2": fault.Adopted})
	w.print("r:a.2", "newer")
	w.wantStarts("r:b.2")
	w.exit("r:b.2", 0)
	w.wantStarts("r:d.2")
	w.exit("r:d.2", 0)
	w.wantStatus(belay.Achieved, 0)
	if v := w.tree.Run("r").Vars()["o"]; string(v.JSON) != `"newer"` {
		t.Fatalf("o is %s", v.JSON)
	}
	facts, err = w.tree.Rerun("r", "pay", "ann", "it bounced") // by its own name
	if err != nil {
		t.Fatal(err)
	}
	w.turn(append([]Fact{{"r", event.RunAttached{Epoch: 3}}}, facts...)...)
	w.wantStarts("r:pay.2")
}

func TestRerunIsRefused(t *testing.T) {
	nested := func(t *testing.T) *world {
		t.Helper()
		w := begin(t, "name: n\nsteps:\n- {id: a, recipe: sub}\n- {id: b, command: x, on_failure: escalate}\n", "sub", "name: sub\nsteps:\n- {id: i, command: y}\n")
		w.exit("r/a.1:i.1", 0)
		return w
	}
	after := func(code int) func(*testing.T) *world {
		return func(t *testing.T) *world {
			t.Helper()
			w := nested(t)
			w.exit("r:b.1", code)
			return w
		}
	}
	for name, tt := range map[string]struct {
		until func(*testing.T) *world
		run   belay.RunID
		step  belay.Path
		want  NoRerun
	}{
		"something runs":    {nested, "r", "a", RerunOpen},
		"in an ended child": {after(0), "r/a.1", "i", RerunInside},
		"no such step":      {after(0), "r", "z", RerunUnknown},
		"held itself":       {after(1), "r", "b", RerunUndone},
		"held behind it":    {after(1), "r", "a", RerunMidway},
		"cancelled": {func(t *testing.T) *world {
			t.Helper()
			w := nested(t)
			w.turn(request("c", event.RequestCancel, ""))
			w.end("r:b.1", effect.Observation{Signal: 15, KilledBy: fault.KilledCancel})
			return w
		}, "r", "a", RerunFinal},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tt.until(t).tree.Rerun(tt.run, tt.step, "ann", "why")
			var no *CannotRerun
			if !errors.As(err, &no) || no.Why != tt.want || strings.Contains(no.Error(), "  ") {
				t.Fatalf("%v, want %s", err, tt.want)
			}
		})
	}
}

// To go on from a step: what failed, is held or waits can; what is done cannot.
func TestGoOnFromAStep(t *testing.T) {
	const src = "name: n\nsteps:\n- {id: a, command: x}\n- {id: b, command: x, on_failure: escalate}\n- {id: c, command: x}\n- {id: opt, command: x, optional: true, needs: []}\n"
	held := func(t *testing.T) *world {
		t.Helper()
		w := begin(t, src)
		w.exit("r:opt.1", 1)
		w.exit("r:a.1", 0)
		w.exit("r:b.1", 1)
		w.wantStatus(belay.Held, 0)
		return w
	}
	failed := func(t *testing.T) *world {
		t.Helper()
		w := held(t)
		w.turn(Fact{"r", event.RequestReceived{Request: event.Request{ID: "1", Run: "r", Step: "b", Ask: event.RequestAnswer, Choice: event.ChoiceFail, By: "ann"}}})
		w.wantStatus(belay.Failed, exit.Failed)
		return w
	}
	for name, tt := range map[string]struct {
		until func(*testing.T) *world
		from  belay.Path
		want  NoGoOn // "" = it can
		facts int
	}{
		"held":                {held, "b", "", 2},
		"done":                {held, "a", FromSettled, 0},
		"behind":              {held, "c", FromBehind, 0},
		"failed, and allowed": {held, "opt", FromSettled, 0},
		"unknown":             {held, "z", FromUnknown, 0},
		"failed":              {failed, "b", "", 1},
		"done in a failed":    {failed, "a", FromSettled, 0},
		"behind in a failed":  {failed, "c", FromBehind, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := tt.until(t)
			facts, err := w.tree.GoOn(GoOn{By: "ann", From: tt.from, ID: "id"})
			var no *CannotGoOn
			if errors.As(err, &no) != (tt.want != "") || no != nil && no.Why != tt.want || len(facts) != tt.facts {
				t.Fatalf("%v %v, want %q and %d facts", err, facts, tt.want, tt.facts)
			}
			if tt.want == "" {
				if w.tree.Run("r").Result() != nil {
					facts = append(w.tree.Reopen("ann", ""), facts...)
				}
				w.turn(append([]Fact{{"r", event.RunAttached{Epoch: 2}}}, facts...)...)
				w.wantStarts("r:b.2")
			}
		})
	}
	w := held(t)
	resumeIt(w, GoOn{Held: true})
	w.wantStarts("r:b.2")
	w = held(t)
	resumeIt(w, GoOn{DiskFree: true}) // it is not held for the disk
	w.wantStarts("")
}

// Another agent does the step that is named, or all that are started from now on.
func TestGoOnWithAnotherAgent(t *testing.T) {
	const src = "name: n\nsteps:\n- {id: a, agent: scripted, prompt: x, output: o, expect: answer, on_failure: escalate}\n- {id: b, agent: scripted, prompt: x, output: p, expect: answer}\n"
	for name, tt := range map[string]struct {
		from belay.Path
		want [2]string
	}{"one": {"a", [2]string{"other", "scripted"}}, "all": {"", [2]string{"other", "other"}}} {
		t.Run(name, func(t *testing.T) {
			w := beginAgents(t, belay.Budget{}, src)
			w.allow()
			w.turn(request("s", event.RequestStop, ""))
			w.end("r:a.1", effect.Observation{Signal: 15, KilledBy: fault.KilledStop})
			w.wantStatus(belay.Stopped, 0)
			resumeIt(w, GoOn{Agent: "other", From: tt.from})
			w.allow()
			if got := w.jobs["r:a.2"].Agent.Name; got != tt.want[0] {
				t.Errorf("a is done by %s, want %s", got, tt.want[0])
			}
			w.reload(map[belay.Key]fault.Found{"r:a.2": fault.Adopted})
			w.end("r:a.2", answered(belay.Usage{}))
			w.allow()
			if got := w.jobs["r:b.1"].Agent.Name; got != tt.want[1] {
				t.Errorf("b is done by %s, want %s", got, tt.want[1])
			}
		})
	}
}

// What was held for a count alone goes on once the count is cleared.
//
// promise: G4
func TestAClearedBudgetIsAnAnswer(t *testing.T) {
	w := beginAgents(t, belay.Budget{MaxAgents: 1}, "name: n\nsteps:\n- {id: a, agent: scripted, prompt: x, output: o, expect: answer}\n- {id: b, agent: scripted, prompt: x, output: p, expect: answer}\n- {id: c, agent: scripted, prompt: x, output: q, expect: answer}\n")
	w.allow()
	w.end("r:a.1", answered(belay.Usage{}))
	w.wantStatus(belay.Held, 0)
	out, err := w.tree.Settle(w.now, Fact{"r", event.RequestReceived{Request: event.Request{ID: "c", Run: "r", By: "ann", Ask: event.RequestClear, What: event.CountBudget, Why: "worth it"}}})
	if err != nil || out.Status != belay.Running {
		t.Fatalf("%v %s", err, out.Status)
	}
	w.recs = append(w.recs, out.Records...)
	last, ok := out.Records[len(out.Records)-1].Event.(event.ItemAnswered)
	if !ok || last.Choice != event.ChoiceAgain || last.By != "ann" {
		t.Fatalf("%+v", out.Records)
	}
	w.reload(nil)
	w.allow() // it is asked for like any other: the same budget once more, no start over it
	w.wantStarts("r:b.1")
	w.end("r:b.1", answered(belay.Usage{}))
	w.wantStatus(belay.Held, 0)
}
