package flow

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
)

var far = belay.Value{Sha: "abc", Size: 1 << 20}

// asked is the question that is out.
func (w *world) asked() effect.Ask {
	w.t.Helper()
	for _, c := range w.out.Effects {
		if a, ok := c.(effect.Ask); ok {
			return a
		}
	}
	w.t.Fatal("nothing was asked")
	return effect.Ask{}
}

// promise: L
func TestTextsOverBigValuesAreAskedFor(t *testing.T) {
	t.Parallel()
	const src = "name: n\ncontext: {v: ''}\nsteps:\n- {id: b, command: \"echo {{v.x}} {{v.x}} {{v}}\", verify: \"test {{v | trim}}\"}\n"
	begin := func() *world { return startWith(t, src, func(e *event.RunStarted) { e.Vars["v"] = far }) }
	w := begin()
	ask := w.asked()
	q, _ := ask.Question.(effect.AskText)
	if got := strings.Join(q.Texts, " "); got != "{{v.x}} {{v | trim}}" || q.Vars["v"].Sha != far.Sha {
		t.Fatalf("asked for %q with %v", got, q.Vars)
	}
	texts := map[string]effect.Filled{"{{v.x}}": {Value: belay.Text("part")}, "{{v | trim}}": {Value: belay.Text("t")}}
	answer := Fact{"r", event.AnswerGiven{Key: ask.Key, Answer: effect.AnswerText{Texts: texts}}}
	w.turn(answer)
	w.wantStarts("r:b.1")
	w.reload(map[belay.Key]fault.Found{"r:b.1": fault.Adopted})
	if j, ok := w.tree.Job("r:b.1"); !ok || string(j.Args["BELAY_ARG_1"].JSON) != `"part"` {
		t.Errorf("after a crash its first argument is %+v", j.Args)
	}
	w.exit("r:b.1", 0)
	if j := w.jobs["r:b@verify.1"]; string(j.Args["BELAY_ARG_1"].JSON) != `"t"` {
		t.Errorf("the check gets %v", j.Args)
	}

	w = begin()
	texts["{{v.x}}"] = effect.Filled{Problem: "no such field", Col: 1}
	w.turn(answer)
	w.wantStatus(belay.Failed, exit.Failed)
	if b, _ := w.tree.Run("r").Step("b"); b.Failure == nil || b.Failure.At == nil || b.Failure.At.Line != 4 || !strings.Contains(b.Failure.Cause, "no such field") {
		t.Errorf("failure %+v", b.Failure)
	}

	w = begin()
	w.turn(Fact{"r", event.AnswerGiven{Key: ask.Key, Answer: effect.AnswerText{Error: "no blob"}}})
	w.wantStatus(belay.Failed, exit.Failed)
}

// promise: L
func TestForeachOverAPlace(t *testing.T) {
	t.Parallel()
	const src = "name: n\ncontext: {v: {l: [1, {a: 2}]}}\nsteps:\n- {id: a, foreach: v.l, command: x}\n"
	w := begin(t, src)
	w.wantStarts("r/a.1:item-1.1 r/a.1:item-2.1")
	w.reload(map[belay.Key]fault.Found{"r/a.1:item-1.1": fault.Adopted, "r/a.1:item-2.1": fault.Lost})
	if v := w.jobs["r/a.1:item-2.2"].Vars["item"]; string(v.JSON) != `{"a":2}` {
		t.Errorf("the second item is %s", v.JSON)
	}
	w = startWith(t, src, func(e *event.RunStarted) { e.Vars["v"] = far })
	ask := w.asked()
	if q, _ := ask.Question.(effect.AskText); q.List != "{{v.l | json}}" {
		t.Fatalf("asked for %+v", ask.Question)
	}
	w.turn(Fact{"r", event.AnswerGiven{Key: ask.Key, Answer: effect.AnswerText{List: json.RawMessage(`["x"]`)}}})
	w.wantStarts("r/a.1:item-1.1")
	w = startWith(t, src, func(e *event.RunStarted) { e.Vars["v"] = belay.Value{JSON: json.RawMessage(`{"m":1}`)} })
	w.wantStatus(belay.Failed, exit.Failed)
}

// promise: L
func TestBigResultsOfItems(t *testing.T) {
	t.Parallel()
	const src = "name: n\ncontext: {list: [1, 2]}\nsteps:\n- {id: a, foreach: list, command: x, output: out}\n"
	begin := func() (*world, effect.Ask) {
		w := begin(t, src)
		w.end("r/a.1:item-1.1", effect.Observation{Began: true, Output: &far})
		w.end("r/a.1:item-2.1", effect.Observation{Began: true, Output: &belay.Value{JSON: json.RawMessage("7")}})
		return w, w.asked()
	}
	w, ask := begin()
	q, _ := ask.Question.(effect.AskList)
	if p := q.Pieces; len(p) != 2 || p[0].Value.Sha != far.Sha || string(p[1].Value.JSON) != "7" {
		t.Fatalf("asked for %+v", p)
	}
	all := belay.Value{Sha: "all", Size: 2 << 20}
	w.turn(Fact{"r/a.1", event.AnswerGiven{Key: ask.Key, Answer: effect.AnswerList{Value: &all}}})
	w.wantStatus(belay.Achieved, 0)
	if v := w.tree.Run("r").Vars()["out"]; v.Sha != "all" {
		t.Errorf("the list is %+v", v)
	}
	w, ask = begin()
	w.turn(Fact{"r/a.1", event.AnswerGiven{Key: ask.Key, Answer: effect.AnswerList{Error: "too much"}}})
	w.wantStatus(belay.Failed, exit.Failed)
	w, ask = begin()
	w.turn(request("s", event.RequestStop, ""))
	w.wantStatus(belay.Stopped, 0)
	w.reload(nil)
	if again := w.asked(); again.Key != ask.Key {
		t.Errorf("after a stop it asks %q", again.Key)
	}
}

// promise: L
func TestOptionalForeach(t *testing.T) {
	t.Parallel()
	w := begin(t, "name: n\ncontext: {list: [1, 2, 3]}\nsteps:\n- {id: a, foreach: list, max_parallel: 1, optional: true, command: x, output: out}\n- {id: b, command: y}\n")
	out := func(raw string) effect.Observation {
		return effect.Observation{Began: true, Output: &belay.Value{JSON: json.RawMessage(raw)}}
	}
	w.end("r/a.1:item-1.1", out("1"))
	w.exit("r/a.1:item-2.1", 1)
	w.wantStarts("r/a.1:item-3.1") // it has its turn all the same
	w.end("r/a.1:item-3.1", out("3"))
	w.wantStarts("r:b.1")
	if got := string(w.jobs["r:b.1"].Vars["out"].JSON); got != "[1,null,3]" {
		t.Errorf("the list is %s", got)
	}
	w.exit("r:b.1", 0)
	w.wantStatus(belay.Achieved, 0)
}

// An answer of another kind than the question is a mistake of the driver, and is
// not taken for an answer without fields.
func TestAnAnswerOfAnotherKindIsRefused(t *testing.T) {
	t.Parallel()
	w := startWith(t, "name: n\ncontext: {v: ''}\nsteps:\n- {id: b, command: \"echo {{v.x}}\"}\n", func(e *event.RunStarted) { e.Vars["v"] = far })
	for _, a := range []effect.Answer{nil, effect.AnswerCond{OK: true}} {
		if _, err := w.tree.Turn(w.now, Fact{"r", event.AnswerGiven{Key: w.asked().Key, Answer: a}}); err == nil {
			t.Errorf("texts are answered with %T", a)
		}
	}
}
