package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
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

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// world plays a driver: it feeds facts to a tree and looks at what comes out.
type world struct {
	t       *testing.T
	tree    *Tree
	lib     Library
	now     time.Time
	recs    []event.Record
	out     Turn
	jobs    map[belay.Key]effect.Job
	crowded bool // trees are answered for by the test
}

func load(t *testing.T, name, src string, lib Library) *recipe.Recipe {
	t.Helper()
	r, problems := recipe.Parse(name+".yaml", []byte(src))
	if r == nil {
		t.Fatalf("%s does not parse: %v", name, problems)
	}
	lib.Recipes[r.Digest] = r
	lib.Names[name] = r.Digest
	return r
}

// begin starts a run of src; further sources are its sub-recipes by name.
func begin(t *testing.T, src string, subs ...string) *world {
	t.Helper()
	return begun(t, src, func(*event.RunStarted) {}, subs...)
}

// begun is a run with something else in its first record.
func begun(t *testing.T, src string, change func(*event.RunStarted), subs ...string) *world {
	t.Helper()
	lib := Library{Recipes: map[string]*recipe.Recipe{}, Names: map[string]string{}}
	root := load(t, "root", src, lib)
	for i := 0; i+1 < len(subs); i += 2 {
		load(t, subs[i], subs[i+1], lib)
	}
	w := &world{t: t, lib: lib, now: start, tree: NewTree("r", lib), jobs: map[belay.Key]effect.Job{}}
	vars := map[string]belay.Value{}
	for _, v := range root.Context {
		vars[v.Name] = belay.Value{JSON: v.JSON}
	}
	first := event.RunStarted{Schema: event.Schema, Name: root.Name, Recipe: root.Digest, Dir: "/d", Vars: vars, Limits: belay.DefaultLimits()}
	change(&first)
	w.turn(Fact{"r", first}, Fact{"r", event.RunAttached{Epoch: 1}})
	return w
}

func (w *world) turn(facts ...Fact) {
	w.t.Helper()
	out, err := w.tree.Turn(w.now, facts...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.out = out
	w.recs = append(w.recs, out.Records...)
	var free []Fact
	for _, c := range out.Effects {
		switch c := c.(type) {
		case effect.Do:
			w.jobs[c.Job.Key] = c.Job
		case effect.Ask:
			if a := nobodyElse(c.Question); a != nil && !w.crowded {
				free = append(free, Fact{runOf(c.Key), event.AnswerGiven{Key: c.Key, Answer: a}})
			}
		case effect.Kill:
		}
	}
	if len(free) == 0 {
		return
	}
	w.turn(free...) // every tree is free, unless the test says otherwise
	w.out.Records = append(out.Records, w.out.Records...)
	w.out.Effects = append(slices.DeleteFunc(out.Effects, func(c effect.Effect) bool {
		a, ok := c.(effect.Ask)
		return ok && nobodyElse(a.Question) != nil
	}), w.out.Effects...)
}

// nobodyElse answers where no other run works and there is no repository: nil for
// questions about anything else.
func nobodyElse(q effect.Question) effect.Answer {
	switch q := q.(type) {
	case effect.AskTree:
		return yes(q)
	case effect.AskWorktree:
		if q.Optional {
			return effect.AnswerWorktree{OK: true, Error: "no repository"}
		}
	}
	return nil
}

// starts lists the attempts that the last turn begins.
func (w *world) starts() string {
	var keys []string
	for _, c := range w.out.Effects {
		if d, ok := c.(effect.Do); ok {
			keys = append(keys, string(d.Job.Key))
		}
	}
	return strings.Join(keys, " ")
}

func (w *world) wantStarts(want string) {
	w.t.Helper()
	if got := w.starts(); got != want {
		w.t.Fatalf("starts %q, want %q", got, want)
	}
}

func (w *world) wantStatus(want belay.Status, code int) {
	w.t.Helper()
	if w.out.Status != want {
		w.t.Fatalf("status %s, want %s", w.out.Status, want)
	}
	if r := w.tree.Run("r").Result(); r != nil && r.Code != code {
		w.t.Fatalf("code %d, want %d (%s)", r.Code, code, r.Reason)
	}
}

func (w *world) end(key belay.Key, o effect.Observation) {
	w.t.Helper()
	o.Began = o.Fault == fault.None
	run, _, _ := strings.Cut(string(key), ":")
	w.turn(Fact{belay.RunID(run), event.AttemptEnded{Key: key, Observation: o}})
}

func (w *world) exit(key belay.Key, code int) {
	w.t.Helper()
	w.end(key, effect.Observation{Exit: code})
}

func (w *world) print(key belay.Key, text string) {
	w.t.Helper()
	v := belay.Text(text)
	w.end(key, effect.Observation{Output: &v})
}

// reload folds the journal again, as a new driver does, and attaches.
func (w *world) reload(found map[belay.Key]fault.Found) {
	w.t.Helper()
	w.tree = NewTree("r", w.lib)
	for _, r := range w.recs {
		if err := w.tree.Apply(through(w.t, r)); err != nil {
			w.t.Fatal(err)
		}
	}
	facts := []Fact{{"r", event.RunAttached{Epoch: 2}}}
	for _, k := range w.tree.Open() {
		j, _ := w.tree.Job(k)
		facts = append(facts, Fact{j.Run, event.AttemptFound{Key: k, How: found[k]}})
	}
	w.turn(facts...)
}

// through sends a record through JSON, as the journal does.
func through(t *testing.T, r event.Record) event.Record {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back event.Record
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

func (w *world) phase(p belay.Path) Phase {
	v, _ := w.tree.Run("r").Step(p)
	return v.Phase
}

func TestStepsRunAsListed(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n- {id: a, command: x}\n- {id: b, command: y}\n")
	w.wantStarts("r:a.1")
	w.exit("r:a.1", 0)
	w.wantStarts("r:b.1")
	if n := len(w.out.Records); n != 3 { // ended, judged, started: one commit
		t.Fatalf("%d records in the turn, want 3", n)
	}
	w.exit("r:b.1", 0)
	w.wantStatus(belay.Achieved, 0)
}

func TestNeedsRunInParallelWithinTheLimit(t *testing.T) {
	var b strings.Builder
	b.WriteString("name: n\nsteps:\n")
	for i := range 20 {
		fmt.Fprintf(&b, "- {id: s%d, command: x, needs: []}\n", i)
	}
	b.WriteString("- {id: last, command: x, needs: [s0, s19]}\n")
	w := begin(t, b.String())
	if n := len(w.tree.Open()); n != 8 {
		t.Fatalf("%d open, want 8", n)
	}
	for i := range 20 {
		w.exit(belay.Key(fmt.Sprintf("r:s%d.1", i)), 0)
	}
	w.wantStarts("r:last.1")
}

// promise: F3
func TestAFailedStepStopsTheRun(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n- {id: a, command: x, needs: []}\n- {id: b, command: y, needs: []}\n- {id: c, command: z, needs: [a]}\n")
	w.exit("r:a.1", 3)
	w.wantStatus(belay.Running, 0) // b is still running
	w.exit("r:b.1", 0)
	w.wantStatus(belay.Failed, exit.Failed)
	if f := w.tree.Run("r").Result().Failure; f == nil || f.Kind != belay.BashFailure {
		t.Fatalf("failure %v", f)
	}
	if p := w.phase("c"); p != Waiting {
		t.Fatalf("c is %s", p)
	}
}

func TestRetryWaitsForItsTimeAndSurvivesACrash(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n- {id: a, command: x, retry: {max_attempts: 2, backoff: 10s}}\n")
	w.exit("r:a.1", 1)
	w.wantStarts("")
	due := w.out.Until
	if d := due.Sub(start); d < 10*time.Second || d > 11*time.Second {
		t.Fatalf("due in %s", d)
	}
	w.now = start.Add(5 * time.Second)
	w.reload(nil)
	w.wantStarts("")
	if !w.out.Until.Equal(due) {
		t.Fatalf("due %s after a crash, was %s", w.out.Until, due)
	}
	w.now = due
	w.turn()
	w.wantStarts("r:a.2")
	w.exit("r:a.2", 1)
	w.wantStatus(belay.Failed, exit.Failed)
}

func TestTimeNeverFalls(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n- {id: a, command: x}\n")
	w.now = start.Add(-24 * time.Hour)
	w.exit("r:a.1", 0)
	for _, r := range w.recs {
		if r.At.Before(start) {
			t.Fatalf("%s at %s", r.Event.Kind(), r.At)
		}
	}
}

// promise: K2
func TestFound(t *testing.T) {
	src := "name: n\nsteps:\n- {id: a, command: x}\n"
	t.Run("adopted", func(t *testing.T) {
		w := begin(t, src)
		w.reload(map[belay.Key]fault.Found{"r:a.1": fault.Adopted})
		w.wantStarts("")
		w.exit("r:a.1", 0)
		w.wantStatus(belay.Achieved, 0)
	})
	t.Run("unborn uses nothing up", func(t *testing.T) {
		w := begin(t, src)
		w.reload(map[belay.Key]fault.Found{"r:a.1": fault.Unborn})
		w.wantStarts("r:a.1")
	})
	t.Run("lost runs again, up to its cap", func(t *testing.T) {
		w := begin(t, src)
		for n := 1; n <= 3; n++ {
			w.reload(map[belay.Key]fault.Found{belay.Key(fmt.Sprintf("r:a.%d", n)): fault.Lost})
			w.wantStarts(fmt.Sprintf("r:a.%d", n+1))
		}
		w.reload(map[belay.Key]fault.Found{"r:a.4": fault.Lost})
		w.wantStatus(belay.Failed, exit.Infra)
	})
}

// promise: K4
func TestOnceIsNeverRunTwiceOnAGuess(t *testing.T) {
	held := func(t *testing.T) *world {
		t.Helper()
		w := begin(t, "name: n\nsteps:\n- {id: a, command: x, once: true}\n")
		w.reload(map[belay.Key]fault.Found{"r:a.1": fault.Lost})
		w.wantStarts("")
		w.wantStatus(belay.Held, exit.Held)
		return w
	}
	answer := func(w *world, choice string) {
		w.turn(Fact{"r", event.RequestReceived{Request: event.Request{ID: "q", Run: "r", By: "me", Ask: event.RequestAnswer, Choice: choice, Why: "because"}}})
		for _, r := range w.out.Records {
			if e, refused := r.Event.(event.RequestRefused); refused && choice != "maybe" {
				w.t.Errorf("%s: refused: %s", choice, e.Why)
			}
		}
	}
	t.Run("done", func(t *testing.T) {
		w := held(t)
		answer(w, "done")
		w.wantStatus(belay.Achieved, 0)
	})
	t.Run("again", func(t *testing.T) {
		w := held(t)
		answer(w, "again")
		w.wantStarts("r:a.2")
	})
	t.Run("fail", func(t *testing.T) {
		w := held(t)
		answer(w, "fail")
		w.wantStatus(belay.Failed, exit.Failed)
	})
	t.Run("skip", func(t *testing.T) {
		w := held(t)
		answer(w, "skip")
		w.wantStatus(belay.Partial, exit.Partial)
	})
	t.Run("nonsense", func(t *testing.T) {
		w := held(t)
		answer(w, "maybe")
		if _, ok := w.out.Records[len(w.out.Records)-1].Event.(event.RequestRefused); !ok {
			t.Fatalf("records %v", w.out.Records)
		}
		w.wantStatus(belay.Held, exit.Held)
	})
	t.Run("killed by its deadline", func(t *testing.T) {
		w := begin(t, "name: n\nsteps:\n- {id: a, command: x, once: true, timeout: 1}\n")
		w.end("r:a.1", effect.Observation{Signal: 15, Exit: 143, KilledBy: fault.KilledDeadline})
		w.wantStatus(belay.Held, exit.Held)
	})
	t.Run("a plain failure is known", func(t *testing.T) {
		w := begin(t, "name: n\nsteps:\n- {id: a, command: x, once: true}\n")
		w.exit("r:a.1", 1)
		w.wantStatus(belay.Failed, exit.Failed)
	})
}

func TestVerifyDecides(t *testing.T) {
	src := "name: n\nsteps:\n- {id: a, command: x, verify: v, once: true, output: o}\n"
	t.Run("after the step", func(t *testing.T) {
		w := begin(t, src)
		w.exit("r:a.1", 0)
		w.wantStarts("r:a@verify.1")
		w.exit("r:a@verify.1", 1)
		w.wantStatus(belay.Failed, exit.Failed)
	})
	t.Run("lost, and the work is there", func(t *testing.T) {
		w := begin(t, src)
		w.reload(map[belay.Key]fault.Found{"r:a.1": fault.Lost})
		w.wantStarts("r:a@verify.1")
		w.print("r:a@verify.1", "found it")
		w.wantStatus(belay.Held, exit.Held) // what it printed nobody has; what its check prints is something else
		if v, ok := w.tree.Run("r").Vars()["o"]; ok {
			t.Fatalf("output %s", v.JSON)
		}
	})
	t.Run("lost, and the work is not there", func(t *testing.T) {
		w := begin(t, src)
		w.reload(map[belay.Key]fault.Found{"r:a.1": fault.Lost})
		w.exit("r:a@verify.1", 1)
		w.wantStarts("r:a.2")
	})
	t.Run("cut off by a stop is asked again", func(t *testing.T) {
		w := begin(t, src)
		w.exit("r:a.1", 0)
		w.turn(Fact{"r", event.RequestReceived{Request: event.Request{ID: "s", Run: "r", Ask: event.RequestStop}}})
		w.end("r:a@verify.1", effect.Observation{Signal: 15, KilledBy: fault.KilledStop})
		w.wantStatus(belay.Stopped, 0)
		w.reload(nil)
		w.wantStarts("r:a@verify.2")
	})
}

func TestStopGivesAttemptsBack(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n- {id: a, command: x}\n")
	w.turn(Fact{"r", event.RequestReceived{Request: event.Request{ID: "s", Run: "r", Ask: event.RequestStop}}})
	if k, ok := w.out.Effects[0].(effect.Kill); !ok || k.Key != "r:a.1" || k.Why != fault.KilledStop {
		t.Fatalf("effects %v", w.out.Effects)
	}
	w.end("r:a.1", effect.Observation{Signal: 15, KilledBy: fault.KilledStop})
	w.wantStatus(belay.Stopped, 0)
	w.reload(nil)
	w.wantStarts("r:a.2")
	w.exit("r:a.2", 1)
	w.wantStatus(belay.Failed, exit.Failed)
}

func TestCancelEndsEverything(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n- {id: a, recipe: sub, needs: []}\n- {id: b, command: x, needs: []}\n",
		"sub", "name: sub\nsteps:\n- {id: i, command: y}\n")
	w.wantStarts("r:b.1 r/a.1:i.1")
	w.turn(Fact{"r", event.RequestReceived{Request: event.Request{ID: "c", Run: "r", By: "me", Ask: event.RequestCancel}}})
	if n := len(w.out.Effects); n != 2 {
		t.Fatalf("%d kills, want 2: %v", n, w.out.Effects)
	}
	w.end("r:b.1", effect.Observation{Signal: 15, KilledBy: fault.KilledCancel})
	w.end("r/a.1:i.1", effect.Observation{Signal: 15, KilledBy: fault.KilledCancel})
	w.wantStatus(belay.Aborted, exit.Aborted)
}

// promise: F4
func TestSubRecipe(t *testing.T) {
	root := "name: n\ncontext: {a: 1, b: two}\nsteps:\n- {id: s, recipe: sub, context: {b: \"{{b}}!\"}, retry: 2}\n- {id: t, command: x}\n"
	sub := "name: sub\ncontext: {b: own, c: own}\nsteps:\n- {id: i, command: y, output: res}\n- {id: j, command: y}\n"
	t.Run("context down and outputs up", func(t *testing.T) {
		w := begin(t, root, "sub", sub)
		w.wantStarts("r/s.1:i.1")
		vars := w.jobs["r/s.1:i.1"].Vars
		if string(vars["a"].JSON) != "1" || string(vars["b"].JSON) != `"two!"` || string(vars["c"].JSON) != `"own"` {
			t.Fatalf("vars %v", vars)
		}
		w.print("r/s.1:i.1", "42")
		w.exit("r/s.1:j.1", 0)
		w.wantStarts("r:t.1")
		if v := w.jobs["r:t.1"].Vars["res"]; string(v.JSON) != `"42"` {
			t.Fatalf("res %s", v.JSON)
		}
		if _, leaked := w.jobs["r:t.1"].Vars["c"]; leaked {
			t.Fatal("a default of the child leaked into the parent")
		}
	})
	t.Run("failure, a fresh retry, and reopening where it failed", func(t *testing.T) {
		w := begin(t, root, "sub", sub)
		w.exit("r/s.1:i.1", 0)
		w.exit("r/s.1:j.1", 1)
		w.wantStarts("r/s.2:i.1")
		w.exit("r/s.2:i.1", 0)
		w.exit("r/s.2:j.1", 1)
		w.wantStatus(belay.Failed, exit.Failed)
		if f := w.tree.Run("r").Result().Failure; f.Kind != belay.RecipeFailure {
			t.Fatalf("failure %v", f)
		}
		w.turn(w.tree.Reopen("me", "try")...)
		w.wantStarts("r/s.2:j.2") // i is done and stays done
		w.exit("r/s.2:j.2", 0)
		w.wantStarts("r:t.1")
		w.exit("r:t.1", 0)
		w.wantStatus(belay.Achieved, 0)
	})
	t.Run("a timeout ends the child", func(t *testing.T) {
		w := begin(t, "name: n\nsteps:\n- {id: s, recipe: sub, timeout: 5}\n", "sub", sub)
		if want := start.Add(5 * time.Second); !w.out.Until.Equal(want) {
			t.Fatalf("until %s", w.out.Until)
		}
		w.now = start.Add(5 * time.Second)
		w.turn()
		if _, ok := w.out.Effects[0].(effect.Kill); !ok {
			t.Fatalf("effects %v", w.out.Effects)
		}
		w.end("r/s.1:i.1", effect.Observation{Signal: 15, KilledBy: fault.KilledCancel})
		w.wantStatus(belay.Failed, exit.Failed)
		if f := w.tree.Run("r").Result().Failure; !strings.Contains(f.Cause, "timed out after 5s") {
			t.Fatalf("failure %v", f)
		}
	})
}

// promise: F6 G7
func TestRecursionIsBounded(t *testing.T) {
	t.Run("depth", func(t *testing.T) {
		w := begin(t, "name: n\nsteps:\n- {id: s, recipe: root}\n")
		w.wantStatus(belay.Failed, exit.Failed)
		deepest := 0
		for _, r := range w.recs {
			deepest = max(deepest, r.Run.Depth())
		}
		if deepest != 6 {
			t.Fatalf("nested %d deep, want 6", deepest)
		}
	})
	t.Run("steps in nested runs", func(t *testing.T) {
		var sub strings.Builder
		sub.WriteString("name: sub\nsteps:\n")
		for i := range 300 {
			fmt.Fprintf(&sub, "- {id: s%d, command: x}\n", i)
		}
		w := begin(t, "name: n\nsteps:\n- {id: s, recipe: sub}\n", "sub", sub.String())
		n := 0
		for w.starts() != "" {
			w.exit(belay.Key(w.starts()), 0)
			n++
		}
		if n != 200 {
			t.Fatalf("%d nested steps, want 200", n)
		}
		w.wantStatus(belay.Failed, exit.Failed)
	})
}

func TestConditions(t *testing.T) {
	w := begin(t, "name: n\ncontext: {go: false}\nsteps:\n- {id: a, command: x, condition: go}\n- {id: b, command: y}\n")
	w.wantStarts("r:b.1")
	if p := w.phase("a"); p != NotTaken {
		t.Fatalf("a is %s", p)
	}
	w.exit("r:b.1", 0)
	w.wantStatus(belay.Achieved, 0)

	w = begin(t, "name: n\ncontext: {go: false}\nsteps:\n- {id: a, command: x, condition: go}\n")
	w.wantStatus(belay.Failed, exit.Failed)
	if f := w.tree.Run("r").Result().Failure; f.Kind != belay.RoutingGap {
		t.Fatalf("failure %v", f)
	}
	w = begin(t, "name: n\nallow_empty: true\ncontext: {go: false}\nsteps:\n- {id: a, command: x, condition: go}\n")
	w.wantStatus(belay.Achieved, 0)
}

func TestABigValueIsAskedFor(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n- {id: a, command: x, output: big}\n- {id: b, command: y, condition: \"'k' in big\"}\n")
	v := belay.Value{Sha: "abc", Size: 1 << 20}
	w.end("r:a.1", effect.Observation{Output: &v})
	ask, ok := w.out.Effects[0].(effect.Ask)
	if q, _ := ask.Question.(effect.AskCond); !ok || q.Vars["big"].Sha != "abc" {
		t.Fatalf("effects %v", w.out.Effects)
	}
	w.wantStatus(belay.Running, 0)
	w.turn(Fact{"r", event.AnswerGiven{Key: ask.Key, Answer: effect.AnswerCond{OK: true}}})
	w.wantStarts("r:b.1")
}

// promise: F9
func TestAStepSaysWhatItsFailureStandsFor(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n- {id: a, command: x, failure: infrastructure}\n")
	w.exit("r:a.1", 1)
	w.wantStatus(belay.Failed, exit.Infra)
}

func TestEscalateHoldsInsteadOfFailing(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n- {id: a, command: x, on_failure: escalate}\n")
	w.exit("r:a.1", 1)
	w.wantStatus(belay.Held, exit.Held)
}

func TestIllegalRecordsAreErrors(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n- {id: a, command: x}\n- {id: b, command: x}\n")
	_, err := w.tree.Turn(w.now, Fact{"r", event.AttemptStarted{Key: "r:a.2", Path: "a", Role: belay.RoleMain, Attempt: 2}})
	var illegal *IllegalMove
	if !errors.As(err, &illegal) {
		t.Fatalf("error %v", err)
	}
}

// TestFoldIsPure folds the same journal twice, once through JSON and in pieces,
// and finds the same state.
func TestFoldIsPure(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n- {id: a, recipe: sub, needs: []}\n- {id: b, command: x, retry: 2, needs: []}\n",
		"sub", "name: sub\nsteps:\n- {id: i, command: y, output: o}\n")
	w.exit("r:b.1", 1)
	w.print("r/a.1:i.1", "v")
	other := NewTree("r", w.lib)
	for _, r := range w.recs {
		if err := other.Apply(through(t, r)); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := w.tree.Run("r").Steps(), other.Run("r").Steps(); !reflect.DeepEqual(views(a), views(b)) {
		t.Fatalf("\n%v\n%v", views(a), views(b))
	}
	if a, b := w.tree.Open(), other.Open(); !reflect.DeepEqual(a, b) {
		t.Fatalf("%v and %v", a, b)
	}
}

func views(list []StepView) []string {
	var out []string
	for _, v := range list {
		out = append(out, fmt.Sprint(v.Path, v.Phase, v.Attempt, v.Lost, v.Key, v.Child))
	}
	return out
}

// TestManyVariablesDoNotMakeStepsDearer: past the limit a script gets only what
// it names.
func TestManyVariablesDoNotMakeStepsDearer(t *testing.T) {
	c := newScope(nil)
	for i := range 300 {
		c.set(fmt.Sprintf("var-%d", i), belay.Text("x"))
	}
	got := c.visible(`echo "$RECIPE_VAR_var_7" ${VAR_9} "$VAR_11_FILE" var-12`)
	if len(got) != 3 || got["var-7"].JSON == nil || got["var-9"].JSON == nil || got["var-11"].JSON == nil {
		t.Fatalf("visible: %v", got)
	}
}

func BenchmarkTurn10000Steps(b *testing.B) {
	var src strings.Builder
	src.WriteString("name: n\nsteps:\n")
	for i := range 10000 {
		fmt.Fprintf(&src, "- {id: s%d, command: x, output: o%d}\n", i, i)
	}
	r, _ := recipe.Parse("b.yaml", []byte(src.String()))
	lib := Library{Recipes: map[string]*recipe.Recipe{r.Digest: r}, Names: map[string]string{}}
	for b.Loop() {
		tree := NewTree("r", lib)
		out, err := tree.Turn(start, Fact{"r", event.RunStarted{Schema: event.Schema, Recipe: r.Digest, Limits: belay.DefaultLimits()}})
		for err == nil && out.Status == belay.Running {
			v := belay.Text("v")
			key := out.Effects[0].(effect.Do).Job.Key
			out, err = tree.Turn(start, Fact{"r", event.AttemptEnded{Key: key, Observation: effect.Observation{Began: true, Output: &v}}})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/10000, "µs/step")
}

// TestASecondAnswerIsRefused: the first one counts, whatever it was.
func TestASecondAnswerIsRefused(t *testing.T) {
	for _, choice := range []string{"done", "again", "fail", "skip"} {
		w := begin(t, "name: n\nsteps:\n- {id: a, command: x, once: true}\n- {id: b, command: y, needs: []}\n")
		w.reload(map[belay.Key]fault.Found{"r:a.1": fault.Lost, "r:b.1": fault.Adopted})
		ask := func(id string) Fact {
			return Fact{"r", event.RequestReceived{Request: event.Request{ID: id, Run: "r", Ask: event.RequestAnswer, Step: "a", Choice: choice}}}
		}
		w.turn(ask("one"), ask("two"))
		refused := ""
		for _, r := range w.out.Records {
			if e, ok := r.Event.(event.RequestRefused); ok {
				refused += e.ID
			}
		}
		if refused != "two" {
			t.Errorf("%s: refused %q, want the second", choice, refused)
		}
	}
}

// TestAConditionIsNoPermit: the answer to a condition over a big value does not
// use up the allowance of nested steps.
func TestAConditionIsNoPermit(t *testing.T) {
	w := begin(t, "name: n\nrecursion: {max_total_steps: 2}\nsteps:\n- {id: s, recipe: sub}\n",
		"sub", "name: sub\nsteps:\n- {id: i, command: x, output: big}\n- {id: j, command: y, condition: \"'k' in big\"}\n")
	w.tree.started.Limits.MaxTotalSteps = 2
	v := belay.Value{Sha: "abc", Size: 1 << 20}
	w.end("r/s.1:i.1", effect.Observation{Output: &v})
	ask := w.out.Effects[0].(effect.Ask)
	w.turn(Fact{"r/s.1", event.AnswerGiven{Key: ask.Key, Answer: effect.AnswerCond{OK: true}}})
	w.wantStarts("r/s.1:j.1")
}

// TestAStopForAnotherRunStopsNothing: it is refused, and that is all.
func TestAStopForAnotherRunStopsNothing(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n- {id: a, command: x}\n- {id: b, command: y}\n")
	w.turn(
		Fact{"r", event.RequestReceived{Request: event.Request{ID: "s", Run: "r/x.9", Ask: event.RequestStop}}},
		Fact{"r", event.RequestRefused{ID: "s", Why: "no such run"}})
	w.exit("r:a.1", 0)
	w.wantStarts("r:b.1")
}
