package flow

import (
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
)

// A lost shell step is done when its check passes and somebody has its outputs:
// what it printed went with it, what it wrote to files is read.
//
// promise: K4
func TestALostStepOwesItsOutputs(t *testing.T) {
	value := belay.Text("v7")
	for name, c := range map[string]struct {
		keys string
		o    effect.Observation // of the check
		want belay.Status
		next string
	}{
		"nothing owed":         {"", effect.Observation{}, belay.Achieved, ""},
		"printed":              {", output: o", effect.Observation{Output: &value}, belay.Running, "r:a.2"},
		"printed, JSON":        {", parse_json_required: true", effect.Observation{}, belay.Running, "r:a.2"},
		"a place in JSON":      {", outputs: {v: {json: a.b}}", effect.Observation{}, belay.Running, "r:a.2"},
		"a file":               {", outputs: {v: {file: out.txt}}", effect.Observation{Outputs: map[string]belay.Value{"v": value}}, belay.Achieved, ""},
		"a file, not there":    {", outputs: {v: {file: out.txt}}", effect.Observation{Fault: fault.Result}, belay.Running, "r:a.2"},
		"the check fails":      {"", effect.Observation{Exit: 1}, belay.Running, "r:a.2"},
		"once, nothing owed":   {", once: true", effect.Observation{}, belay.Achieved, ""},
		"once, printed":        {", once: true, output: o", effect.Observation{Output: &value}, belay.Held, ""},
		"once, a file":         {", once: true, outputs: {v: {file: out.txt}}", effect.Observation{Outputs: map[string]belay.Value{"v": value}}, belay.Achieved, ""},
		"once, no file":        {", once: true, outputs: {v: {file: out.txt}}", effect.Observation{Fault: fault.Result}, belay.Held, ""},
		"once, not there":      {", once: true, output: o", effect.Observation{Exit: 1}, belay.Running, "r:a.2"},
		"once, nobody can say": {", once: true", effect.Observation{Signal: 9, Exit: -1}, belay.Held, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, "name: n\nsteps:\n- {id: a, command: x, verify: y"+c.keys+"}\n")
			w.reload(map[belay.Key]fault.Found{"r:a.1": fault.Lost})
			w.wantStarts("r:a@verify.1")
			j := w.jobs["r:a@verify.1"]
			if files := strings.Contains(c.keys, "file:"); j.Output || j.JSON != effect.JSONAuto || len(j.Outputs) > 0 != files {
				t.Errorf("the check is asked for %v %v %v", j.Output, j.JSON, j.Outputs)
			}
			w.end("r:a@verify.1", c.o)
			if c.next != "" {
				w.wantStarts(c.next)
				return
			}
			w.wantStatus(c.want, map[belay.Status]int{belay.Achieved: 0, belay.Held: exit.Held}[c.want])
			if v, ok := w.tree.Run("r").Vars()["v"]; ok && string(v.JSON) != `"v7"` {
				t.Errorf("the output is %s", v.JSON)
			}
			if c.want == belay.Held && strings.Contains(c.keys, "output: o") && !strings.Contains(w.item().Ask, "nobody has its output o") {
				t.Errorf("the person is asked: %s", w.item().Ask)
			}
		})
	}
}

// A lost agent is done when its check passes and what the step expects is there
// since the state that it began with; a check alone is not enough.
//
// promise: K4, H3
func TestALostAgentOwesWhatItsStepExpects(t *testing.T) {
	base := &belay.TreeState{Repo: true, Tree: "a"}
	same, other := evidence("a", "a"), evidence("a", "b")
	spoiled := evidence("a", "b")
	spoiled.Tampered = []belay.FileChange{{Path: "check.sh", Change: belay.FileModified}}
	blind := belay.Evidence{After: belay.TreeState{Error: "no index"}}
	for name, c := range map[string]struct {
		keys string
		base *belay.TreeState
		left *belay.Evidence // reported by its attendant
		seen *belay.Evidence // by a look; nil = nobody is asked for one
		exit int             // of the check
		want belay.Status
	}{
		"a change":               {", expect: change", base, nil, &other, 0, belay.Achieved},
		"no change":              {", expect: change", base, nil, &same, 0, belay.Running},
		"nobody could look":      {", expect: change", base, nil, &blind, 0, belay.Running},
		"before its base":        {", expect: change", nil, nil, nil, 0, belay.Running},
		"a change, reported":     {", expect: change", base, &other, nil, 0, belay.Achieved},
		"no change, reported":    {", expect: change", base, &same, nil, 0, belay.Running},
		"a change, not checked":  {", expect: change", base, nil, &other, 1, belay.Running},
		"a change and an output": {", expect: change, output: o", base, nil, &other, 0, belay.Running},
		"an answer":              {", expect: answer", base, nil, nil, 0, belay.Running},
		"nothing, guarded":       {", expect: none, guard: [check.sh]", base, nil, &other, 0, belay.Achieved},
		"a guarded file":         {", expect: none, guard: [check.sh]", base, nil, &spoiled, 0, belay.Running},
		"nothing":                {", expect: none", base, nil, nil, 0, belay.Achieved},
		"once, a change":         {", expect: change, once: true", base, nil, &other, 0, belay.Achieved},
		"once, no change":        {", expect: change, once: true", base, nil, &same, 0, belay.Held},
		"once, work not there":   {", expect: change, once: true", base, nil, &same, 1, belay.Running},
		"once, an answer":        {", expect: answer, once: true", base, nil, nil, 0, belay.Held},
	} {
		t.Run(name, func(t *testing.T) {
			w := beginAgents(t, belay.Budget{}, "name: n\nsteps:\n- {id: a, agent: scripted, prompt: x, verify: y"+c.keys+"}\n")
			w.allow()
			if c.base != nil {
				w.turn(Fact{"r", event.AttemptNoted{Key: "r:a.1", What: effect.NoteBase, Base: c.base}})
			}
			w.turn(Fact{"r", event.RunAttached{Epoch: 2}}, Fact{"r", event.AttemptFound{Key: "r:a.1", How: fault.Lost, Count: 1, Left: c.left}})
			if c.seen != nil {
				q := w.asked()
				if look, ok := q.Question.(effect.AskLook); !ok || q.Key != "r:a.1?look" || look.Dir != "/d" || look.Base.Tree != "a" {
					t.Fatalf("asked: %+v", q)
				}
				w.turn(Fact{"r", event.AnswerGiven{Key: q.Key, Answer: effect.AnswerLook{OK: true, Seen: c.seen}}})
			}
			w.wantStarts("r:a@verify.1")
			w.end("r:a@verify.1", effect.Observation{Exit: c.exit})
			if c.want != belay.Running {
				w.wantStatus(c.want, map[belay.Status]int{belay.Achieved: 0, belay.Held: exit.Held}[c.want])
				return
			}
			w.allow()
			w.wantStarts("r:a.2")
			if a := w.jobs["r:a.2"].Agent; a.Cut == "" {
				t.Errorf("it is not told what happened: %+v", a)
			}
		})
	}
}

// Without a check nobody can say that the work of a lost agent is all of it,
// whatever changed: it goes on.
//
// promise: K4
func TestALostAgentWithoutACheckGoesOn(t *testing.T) {
	for once, want := range map[string]string{"": "r:a.2", ", once: true": ""} {
		w := beginAgents(t, belay.Budget{}, "name: n\nsteps:\n- {id: a, agent: scripted, prompt: x, expect: change"+once+"}\n")
		w.allow()
		w.turn(Fact{"r", event.AttemptNoted{Key: "r:a.1", What: effect.NoteBase, Base: &belay.TreeState{Tree: "a"}}})
		left := evidence("a", "b")
		w.turn(Fact{"r", event.RunAttached{Epoch: 2}}, Fact{"r", event.AttemptFound{Key: "r:a.1", How: fault.Lost, Count: 1, Left: &left}})
		if want == "" {
			w.wantStatus(belay.Held, exit.Held)
			continue
		}
		w.allow()
		w.wantStarts(want)
	}
}

// A helper that was cut off is called again, and measured from the tree that the
// first one began with: what was done before that is not its work.
//
// promise: K4, A6
func TestAHelperThatIsLostIsCalledAgain(t *testing.T) {
	w := calls(t, ", expect: change")
	w.allow()
	w.wantStarts("r:call@recovery.1")
	if b := w.jobs["r:call@recovery.1"].Agent.Base; b != nil {
		t.Errorf("the first is measured from %+v", b)
	}
	w.turn(Fact{"r", event.AttemptNoted{Key: "r:call@recovery.1", What: effect.NoteBase, Base: &belay.TreeState{Repo: true, Tree: "a"}}})
	w.reload(map[belay.Key]fault.Found{"r:call@recovery.1": fault.Lost})
	w.allow()
	w.wantStarts("r:call@recovery.2")
	w.turn(Fact{"r", event.AttemptNoted{Key: "r:call@recovery.2", What: effect.NoteBase, Base: &belay.TreeState{Repo: true, Tree: "b"}}})
	if b := w.jobs["r:call@recovery.2"].Agent.Base; b == nil || b.Tree != "a" {
		t.Errorf("the second is measured from %+v", b)
	}
	o := says("it was finished already")
	o.Agent.Evidence = evidence("a", "b")
	w.end("r:call@recovery.2", o)
	w.wantStatus(belay.Achieved, exit.OK)
}

// lookAnswers are what a look at guarded files can say, and how a run of lost
// helpers ends then, if the check passes.
var lookAnswers = map[string]struct {
	answer effect.Answer
	status belay.Status
	code   int
}{
	"untouched": {effect.AnswerLook{OK: true, Seen: &belay.Evidence{}}, belay.Achieved, exit.OK},
	"changed":   {effect.AnswerLook{OK: true, Seen: &belay.Evidence{Tampered: []belay.FileChange{{Path: "a_test.go"}}}}, belay.Failed, exit.Failed},
	"unseen":    {effect.AnswerLook{Error: "there is nothing to compare with"}, belay.Failed, exit.Infra},
}

// loseAll lets a helper get lost until the guarded files are looked at, and
// answers that.
func (w *world) loseAll(role belay.Role, a effect.Answer) {
	w.t.Helper()
	for n := 1; ; n++ {
		if w.asks() == string(belay.KeyOf("r", "call", role, n-1).About(belay.TopicLook)) {
			w.turn(Fact{"r", event.AnswerGiven{Key: belay.Key(w.asks()), Answer: a}})
			return
		}
		if n > 10 {
			w.t.Fatal("lost for ever")
		}
		w.allow()
		if k := w.asks(); strings.HasSuffix(k, "?"+string(belay.TopicLook)) {
			continue
		}
		w.wantStarts(string(belay.KeyOf("r", "call", role, n)))
		w.reload(map[belay.Key]fault.Found{belay.KeyOf("r", "call", role, n): fault.Lost})
	}
}

// The step's check has the last word also about helpers that were lost every
// time, if they left the guarded files alone.
//
// promise: K4, A6
func TestTheCheckIsAskedAfterLostHelpers(t *testing.T) {
	for name, look := range lookAnswers {
		for exit := range 2 {
			w := calls(t, ", verify: y")
			w.loseAll(belay.RoleRecovery, look.answer)
			if look.status == belay.Failed {
				if w.starts() != "" {
					t.Errorf("%s: starts %s", name, w.starts())
				}
				w.wantStatus(look.status, look.code)
				continue
			}
			w.exit("r:call@verify.1", exit)
			if exit != 0 {
				w.wantOriginal()
				continue
			}
			w.wantStatus(look.status, look.code)
		}
	}
}

// A step whose repairs were lost every time runs again, and shows whether it is
// repaired, if they left the guarded files alone.
//
// promise: K4
func TestAStepRunsAgainAfterLostRepairs(t *testing.T) {
	for name, look := range lookAnswers {
		w := beginCalls(t, "name: top\nsteps:\n- {id: call, command: x}\n", nil)
		w.end("r:call.1", effect.Observation{Exit: 1, Tail: "--- FAIL: TestA\nFAIL\n"})
		w.loseAll(belay.RoleRepair, look.answer)
		if look.status == belay.Achieved {
			w.exit("r:call.2", 0)
		} else if w.starts() != "" {
			t.Errorf("%s: starts %s", name, w.starts())
		}
		w.wantStatus(look.status, look.code)
	}
}
