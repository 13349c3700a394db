package flow

import (
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

// beginAgents starts a run whose agent steps the scripted agent does.
func beginAgents(t *testing.T, budget belay.Budget, src string) *world {
	t.Helper()
	lib := Library{Recipes: map[string]*recipe.Recipe{}, Names: map[string]string{}}
	root := load(t, "root", src, lib)
	w := &world{t: t, lib: lib, now: start, tree: NewTree("r", lib), jobs: map[belay.Key]effect.Job{}}
	lim := belay.DefaultLimits()
	lim.Budget = budget
	w.turn(
		Fact{"r", event.RunStarted{
			Schema: event.Schema, Name: root.Name, Recipe: root.Digest, Dir: "/d", Limits: lim,
			Agent: "scripted", Session: &belay.Session{Tree: "r"},
		}},
		Fact{"r", event.RunAttached{Epoch: 1}},
	)
	return w
}

// asks lists the questions of the last turn.
func (w *world) asks() string {
	var keys []string
	for _, c := range w.out.Effects {
		if a, ok := c.(effect.Ask); ok {
			keys = append(keys, string(a.Key))
		}
	}
	return strings.Join(keys, " ")
}

// allow answers all questions of the last turn with yes.
func (w *world) allow() {
	w.t.Helper()
	var facts []Fact
	for _, c := range w.out.Effects {
		if a, ok := c.(effect.Ask); ok {
			facts = append(facts, Fact{"r", event.AnswerGiven{Key: a.Key, Answer: yes(a.Question)}})
		}
	}
	if len(facts) == 0 {
		w.t.Fatal("nothing is asked")
	}
	w.turn(facts...)
}

// yes is the answer that a question hopes for.
func yes(q effect.Question) effect.Answer {
	switch q := q.(type) {
	case effect.AskStep:
		return effect.AnswerStep{OK: true}
	case effect.AskAgent:
		return effect.AnswerAgent{OK: true}
	case effect.AskCond:
		return effect.AnswerCond{OK: true}
	case effect.AskText:
		return effect.AnswerText{OK: true}
	case effect.AskList:
		return effect.AnswerList{OK: true}
	case effect.AskTests:
		return effect.AnswerTests{OK: true}
	case effect.AskTree:
		return effect.AnswerTree{OK: true, Dir: q.Dir, Tree: q.Dir, Taken: 1}
	case effect.AskWorktree:
		return effect.AnswerWorktree{OK: true, Dir: "/tree"}
	case effect.AskProbe:
		return effect.AnswerProbe{OK: true}
	case effect.AskLook:
		return effect.AnswerLook{OK: true}
	}
	return nil
}

// answered is the end of an agent that did well, with what it used.
func answered(u belay.Usage) effect.Observation {
	v := belay.Text("done")
	return effect.Observation{Output: &v, Agent: &effect.AgentReport{Result: belay.AgentResult{
		Final: true, Stop: belay.StopDone, Excerpt: "done", TextSize: 4, Usage: u,
	}}}
}

// A session goes on only when somebody saw it: the id on the record of the
// start is a wish that not every agent can grant.
//
// promise: K4
func TestOnlyASeenSessionGoesOn(t *testing.T) {
	for name, notes := range map[string][]event.AttemptNoted{
		"unseen": nil,
		"seen":   {{Key: "r:a.1", What: effect.NoteSession, Text: "S"}},
		"seen, with a base": {
			{Key: "r:a.1", What: effect.NoteBase, Base: &belay.TreeState{Tree: "first"}},
			{Key: "r:a.1", What: effect.NoteSession, Text: "S"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := beginAgents(t, belay.Budget{}, "name: n\nsteps:\n- {id: a, agent: scripted, prompt: x, output: o, expect: answer}\n")
			w.allow()
			w.wantStarts("r:a.1")
			if a := w.jobs["r:a.1"].Agent; a.Session == "" || a.Resume != "" || a.Cut != "" {
				t.Fatalf("first: %+v", a)
			}
			for _, n := range notes {
				w.turn(Fact{"r", n})
			}
			w.reload(map[belay.Key]fault.Found{"r:a.1": fault.Lost})
			w.allow()
			a := w.jobs["r:a.2"].Agent
			if a == nil || !strings.Contains(a.Cut, "died") {
				t.Fatalf("it is not told what happened: %+v", a)
			}
			if want := map[bool]string{true: "S"}[len(notes) > 0]; a.Resume != want {
				t.Errorf("goes on with %q, want %q", a.Resume, want)
			}
			if len(notes) == 2 && (a.Base == nil || a.Base.Tree != "first") {
				t.Errorf("measured from %+v", a.Base)
			}
			// The next one after a plain failure begins anew.
			o := answered(belay.Usage{})
			o.Exit, o.Agent.Result.Error, o.Agent.Result.Class = 1, true, belay.ClassTokenLimit
			w.end("r:a.2", o)
			if got := w.tree.Run("r").steps[0].agent.cut; got != "" {
				t.Errorf("an attempt that came to its own end was cut off: %q", got)
			}
		})
	}
}

// promise: K4
func TestWhatWasCutOff(t *testing.T) {
	report := func(by effect.EndedBy, class belay.Class) *effect.AgentReport {
		return &effect.AgentReport{Ended: by, Result: belay.AgentResult{Class: class}}
	}
	for _, tt := range []struct {
		name string
		o    *effect.Observation
		want string
	}{
		{"lost", nil, "died"},
		{"attendant killed", &effect.Observation{Began: true, Signal: 9}, "died"},
		{"never started", &effect.Observation{Fault: fault.Agent}, ""},
		{"deadline", &effect.Observation{Began: true, KilledBy: fault.KilledDeadline}, "time limit"},
		{"its own clock", &effect.Observation{Began: true, Agent: report(effect.EndedDeadline, "")}, "time limit"},
		{"stop", &effect.Observation{Began: true, KilledBy: fault.KilledStop, Agent: report(effect.EndedSignal, "")}, "stopped"},
		{"silence", &effect.Observation{Began: true, Agent: report(effect.EndedSilence, "")}, "did not move"},
		{"overload", &effect.Observation{Began: true, Agent: report("", belay.ClassTransient)}, "service failed"},
		{"refusal", &effect.Observation{Began: true, Agent: report("", belay.ClassRefusal)}, ""},
		{"well", &effect.Observation{Began: true, Agent: report("", "")}, ""},
	} {
		if got := cutBy(tt.o); !strings.Contains(got, tt.want) || (tt.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Every start is asked for and counts once, whatever the driver dies of; a
// start that was never born is not one.
//
// promise: G4
func TestStartsAreCountedOnce(t *testing.T) {
	w := beginAgents(t, belay.Budget{MaxAgents: 2}, "name: n\nsteps:\n- {id: a, agent: scripted, prompt: x, output: o, expect: answer}\n"+
		"- {id: b, agent: scripted, prompt: x, output: p, expect: answer}\n- {id: c, agent: scripted, prompt: x, output: q, expect: answer}\n")
	if w.asks() != "r:a.1?agent" {
		t.Fatalf("asks %q", w.asks())
	}
	w.reload(nil) // dead between the permit and its record
	if w.asks() != "r:a.1?agent" {
		t.Fatalf("asks %q after a crash", w.asks())
	}
	w.allow()
	w.wantStarts("r:a.1")
	w.reload(map[belay.Key]fault.Found{"r:a.1": fault.Unborn}) // dead between the record and the start
	w.wantStarts("r:a.1")
	w.end("r:a.1", answered(belay.Usage{}))
	w.allow()
	w.wantStarts("r:b.1")
	w.end("r:b.1", answered(belay.Usage{}))
	w.wantStatus(belay.Held, 0)
	if n, _ := w.tree.Spent(); n != 2 {
		t.Fatalf("%d starts, want 2", n)
	}
	w.turn(Fact{"r", event.RequestReceived{Request: event.Request{ID: "1", Run: "r", Step: "c", Ask: event.RequestAnswer, Choice: event.ChoiceAgain, By: "ann"}}})
	w.wantStarts("r:c.1")
	o := effect.Observation{KilledBy: fault.KilledStop}
	w.end("r:c.1", o) // given back: the pardon was for one start
	w.wantStatus(belay.Held, 0)
}

// promise: G4
func TestBudgetsBeyondStarts(t *testing.T) {
	src := "name: n\nsteps:\n- {id: a, agent: scripted, prompt: x, output: o, expect: answer}\n- {id: b, agent: scripted, prompt: x, output: p, expect: answer}\n"
	for name, tt := range map[string]struct {
		budget belay.Budget
		used   belay.Usage
		after  time.Duration
		held   bool
	}{
		"tokens":       {belay.Budget{MaxTokens: 10}, belay.Usage{Input: 6, Output: 4}, 0, true},
		"fewer tokens": {belay.Budget{MaxTokens: 10}, belay.Usage{Input: 5, Output: 4}, 0, false},
		"money":        {belay.Budget{MaxMicroUSD: 500}, belay.Usage{MicroUSD: 500}, 0, true},
		"less money":   {belay.Budget{MaxMicroUSD: 500}, belay.Usage{MicroUSD: 499}, 0, false},
		"time":         {belay.Budget{MaxWall: time.Minute}, belay.Usage{}, time.Minute, true},
		"less time":    {belay.Budget{MaxWall: time.Minute}, belay.Usage{}, time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := beginAgents(t, tt.budget, src)
			w.allow()
			w.now = w.now.Add(tt.after)
			w.end("r:a.1", answered(tt.used))
			if held := w.out.Status == belay.Held; held != tt.held {
				t.Errorf("held %v, want %v", held, tt.held)
			}
		})
	}
}

// A recipe says how many agents may start as soon as its variables tell it, and never
// more than a recipe can.
//
// promise: G4
func TestAgentsThatARecipeAllows(t *testing.T) {
	for says, want := range map[string]int{
		`{"n": 3}`: 3, `{"n": "7"}`: 7, `{"n": 500}`: belay.MostAgents, `{"n": 0}`: belay.Budget{}.Starts(),
		`{"n": -2}`: belay.Budget{}.Starts(), `{"n": "many"}`: belay.Budget{}.Starts(), `{}`: belay.Budget{}.Starts(), `"text"`: belay.Budget{}.Starts(),
	} {
		lib := Library{Recipes: map[string]*recipe.Recipe{}, Names: map[string]string{}}
		root := load(t, "root", "name: n\nmax_agents: plan.n\nsteps:\n- {id: p, command: x, parse_json: true, output: plan}\n- {id: b, command: x}\n", lib)
		w := &world{t: t, lib: lib, now: start, tree: NewTree("r", lib), jobs: map[belay.Key]effect.Job{}}
		lim := belay.DefaultLimits()
		lim.RecipeAgents, lim.MaxAgents = true, belay.MostAgents
		w.turn(Fact{"r", event.RunStarted{Schema: event.Schema, Name: root.Name, Recipe: root.Digest, Dir: "/d", Limits: lim}}, Fact{"r", event.RunAttached{Epoch: 1}})
		if n := w.tree.Allowed(); n != (belay.Budget{}).Starts() {
			t.Errorf("%s: %d before it is known", says, n)
		}
		w.end("r:p.1", effect.Observation{Began: true, Output: &belay.Value{JSON: []byte(says)}})
		if n := w.tree.Allowed(); n != want {
			t.Errorf("%s: %d, want %d", says, n, want)
		}
	}
}

// Where tokens or money have a limit, the first agent runs alone, and each that
// runs is counted for the most that one has used. Shell steps do not wait.
//
// promise: G4
func TestBudgetIsReserved(t *testing.T) {
	src := "name: n\nsteps:\n" +
		"- {id: a, agent: scripted, prompt: x, output: o, expect: answer, parallel_group: g}\n" +
		"- {id: b, agent: scripted, prompt: x, output: p, expect: answer, parallel_group: g}\n" +
		"- {id: c, agent: scripted, prompt: x, output: q, expect: answer, parallel_group: g}\n" +
		"- {id: d, agent: scripted, prompt: x, output: r, expect: answer, parallel_group: g}\n" +
		"- {id: sh, command: x, parallel_group: g}\n"
	for name, tt := range map[string]struct {
		budget belay.Budget
		used   belay.Usage
	}{
		"tokens": {belay.Budget{MaxTokens: 300}, belay.Usage{Input: 100, Output: 20}},
		"money":  {belay.Budget{MaxMicroUSD: 300}, belay.Usage{MicroUSD: 120}},
	} {
		t.Run(name, func(t *testing.T) {
			w := beginAgents(t, tt.budget, src)
			w.wantStarts("r:sh.1")
			if w.asks() != "r:a.1?agent" {
				t.Fatalf("asks %q first", w.asks())
			}
			w.allow()
			w.wantStarts("r:a.1")
			w.end("r:a.1", answered(tt.used))
			if w.asks() != "r:b.1?agent r:c.1?agent" { // with a third it could be 480
				t.Fatalf("asks %q with 120 used", w.asks())
			}
			w.allow()
			w.wantStarts("r:b.1 r:c.1")
			w.end("r:b.1", answered(tt.used))
			if w.asks() != "" {
				t.Fatalf("asks %q with 240 used and one on the way", w.asks())
			}
			w.end("r:c.1", answered(tt.used))
			w.exit("r:sh.1", 0)
			w.wantStatus(belay.Held, 0)
		})
	}
}

// An agent that does not tell what it uses makes nobody wait but at first.
func TestBudgetOfOneThatTellsNothing(t *testing.T) {
	w := beginAgents(t, belay.Budget{MaxTokens: 300}, "name: n\nsteps:\n"+
		"- {id: a, agent: scripted, prompt: x, output: o, expect: answer, parallel_group: g}\n"+
		"- {id: b, agent: scripted, prompt: x, output: p, expect: answer, parallel_group: g}\n"+
		"- {id: c, agent: scripted, prompt: x, output: q, expect: answer, parallel_group: g}\n")
	w.allow()
	w.wantStarts("r:a.1")
	w.end("r:a.1", answered(belay.Usage{}))
	w.allow()
	w.wantStarts("r:b.1 r:c.1")
}

// When a run is reopened, or gone on with, its worktree is asked for again: it
// could not be made, or may be gone. While it is driven once is enough.
func TestReopenAsksForAWorktreeAgain(t *testing.T) {
	w := beginAgents(t, belay.Budget{}, "name: n\nisolate: worktree\nsteps:\n- {id: a, command: x}\n")
	if w.asks() != "r:?worktree" {
		t.Fatalf("asks %q", w.asks())
	}
	w.turn(Fact{"r", event.AnswerGiven{Key: "r:?worktree", Answer: effect.AnswerWorktree{Error: "no repository"}}})
	w.wantStatus(belay.Failed, exit.Infra)
	w.turn(w.tree.Reopen("ann", "mended")...)
	if w.asks() != "r:?worktree" {
		t.Fatalf("asks %q when it is reopened", w.asks())
	}
	w.allow()
	w.wantStarts("r:a.1")
	if dir := w.jobs["r:a.1"].Dir; dir != "/tree" {
		t.Errorf("works in %s", dir)
	}
	w.exit("r:a.1", 1) // the reopening granted one attempt more
	w.wantStarts("r:a.2")
	w.exit("r:a.2", 1)
	w.wantStatus(belay.Failed, exit.Failed)
	w.turn(w.tree.Reopen("ann", "again")...)
	w.allow()
	w.wantStarts("r:a.3")
	w.reload(map[belay.Key]fault.Found{"r:a.3": fault.Unborn})
	if w.asks() != "r:?worktree" {
		t.Fatalf("asks %q when another driver goes on", w.asks())
	}
	w.allow()
	w.wantStarts("r:a.3")
	if w.jobs["r:a.3"].Dir != "/tree" {
		t.Errorf("works in %s", w.jobs["r:a.3"].Dir)
	}
}

// The user's checkout is looked at before the first worktree is made and before the
// run ends, also after it was reopened; what was seen changes no verdict.
func TestTheCheckoutIsLookedAt(t *testing.T) {
	w := beginAgents(t, belay.Budget{}, "name: n\nisolate: worktree\nsteps:\n- {id: a, command: x}\n")
	stood := belay.Value{Sha: "s", Size: 1}
	if q, _ := w.out.Effects[0].(effect.Ask).Question.(effect.AskWorktree); q.Stand != w.tree.Started().Dir {
		t.Fatalf("looks at %q", q.Stand)
	}
	w.turn(Fact{"r", event.AnswerGiven{Key: "r:?worktree", Answer: effect.AnswerWorktree{OK: true, Dir: "/tree", Stood: &stood}}})
	end := func(a effect.AnswerLook) {
		t.Helper()
		if w.asks() != "r:?look" {
			t.Fatalf("asks %q at the end", w.asks())
		}
		w.wantStatus(belay.Running, 0)
		if q, _ := w.out.Effects[0].(effect.Ask).Question.(effect.AskLook); q.Stood == nil || q.Stood.Sha != "s" || !q.Files {
			t.Fatalf("asks %+v", q)
		}
		w.turn(Fact{"r", event.AnswerGiven{Key: "r:?look", Answer: a}})
	}
	w.exit("r:a.1", 1)
	end(effect.AnswerLook{Error: "git is gone", UserCheckout: &effect.UserCheckout{}})
	w.wantStatus(belay.Failed, exit.Failed)
	w.turn(w.tree.Reopen("ann", "again")...)
	if q, _ := w.out.Effects[0].(effect.Ask).Question.(effect.AskWorktree); q.Stand != "" {
		t.Fatalf("looks at %q again, when agents have worked", q.Stand)
	}
	w.allow()
	w.exit("r:a.2", 0)
	end(effect.AnswerLook{OK: true, UserCheckout: &effect.UserCheckout{Changed: []string{"HEAD"}}})
	w.wantStatus(belay.Achieved, exit.OK)
	if b := w.tree.UserCheckout(); b == nil || b.UserCheckout.Changed[0] != "HEAD" {
		t.Errorf("it tells %+v", b)
	}
}
