package flow

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/recipe"
)

const failing = "name: sub\nsteps:\n- {id: fine, command: one, output: first}\n- {id: bad, command: two}\n"

// beginCalls starts a run with a sub-recipe, that may start agents.
func beginCalls(t *testing.T, src string, change func(*event.RunStarted), subs ...string) *world {
	t.Helper()
	lib := Library{Recipes: map[string]*recipe.Recipe{}, Names: map[string]string{}}
	root := load(t, "root", src, lib)
	if len(subs) == 0 {
		subs = []string{"sub", failing}
	}
	for i := 0; i+1 < len(subs); i += 2 {
		load(t, subs[i], subs[i+1], lib)
	}
	w := &world{t: t, lib: lib, now: start, tree: NewTree("r", lib), jobs: map[belay.Key]effect.Job{}}
	vars := map[string]belay.Value{}
	for _, v := range root.Context {
		vars[v.Name] = belay.Value{JSON: v.JSON}
	}
	first := event.RunStarted{
		Schema: event.Schema, Name: root.Name, Recipe: root.Digest, Dir: "/d", Limits: belay.DefaultLimits(), Vars: vars,
		Agent: "scripted", Agents: true, Recovery: root.Recovery, Session: &belay.Session{Tree: "r"},
	}
	if change != nil {
		change(&first)
	}
	w.turn(Fact{"r", first}, Fact{"r", event.RunAttached{Epoch: 1}})
	return w
}

// fall lets the sub-recipe of step call fail.
func (w *world) fall() {
	w.t.Helper()
	w.print("r/call.1:fine.1", "a result")
	w.end("r/call.1:bad.1", effect.Observation{Exit: 3, Tail: "half of it\n"})
}

// calls starts a run whose only step calls the sub-recipe, which fails.
func calls(t *testing.T, more string) *world {
	t.Helper()
	w := beginCalls(t, "name: top\nsteps:\n- {id: call, recipe: sub"+more+"}\n", nil)
	w.fall()
	return w
}

// says is the end of an agent with an answer.
func says(text string) effect.Observation {
	v := belay.Text(text)
	return effect.Observation{Output: &v, Agent: &effect.AgentReport{Result: belay.AgentResult{
		Final: true, Stop: belay.StopDone, Excerpt: text, TextSize: int64(len(text)), GaveUp: agent.Unrecoverable(text),
	}}}
}

// helps lets the agent that is asked start, and end so.
func (w *world) helps(o effect.Observation) {
	w.t.Helper()
	w.allow()
	w.wantStarts("r:call@recovery.1")
	w.end("r:call@recovery.1", o)
}

// wantOriginal checks that the run failed with the error of the sub-recipe.
func (w *world) wantOriginal() {
	w.t.Helper()
	w.wantStatus(belay.Failed, exit.Failed)
	if r := w.tree.Run("r").Result(); r.Failure == nil || r.Failure.Kind != belay.RecipeFailure || !strings.Contains(r.Failure.Cause, "exit 3: half of it") {
		w.t.Errorf("the original error does not stand: %+v", r.Failure)
	}
}

// wantNobody checks that no agent was asked.
func (w *world) wantNobody() {
	w.t.Helper()
	for _, r := range w.recs {
		if e, ok := r.Event.(event.RecoveryChosen); ok && e.Plan.Act == belay.ActRecover {
			w.t.Errorf("an agent is asked: %s", e.Plan.Reason)
		}
	}
}

func (w *world) prompt() string {
	w.t.Helper()
	j, ok := w.jobs["r:call@recovery.1"]
	if !ok {
		w.t.Fatal("no agent was started")
	}
	text := ""
	if err := json.Unmarshal(j.Agent.Prompt[0].JSON, &text); err != nil {
		w.t.Fatal(err)
	}
	return text
}

// promise: A8, A12
func TestRecoverySucceedsAndItsAnswerIsTheOutput(t *testing.T) {
	w := calls(t, ", output: got")
	w.helps(says("finished"))
	w.wantStatus(belay.Partial, exit.Partial) // the answer is the output, and no evidence
	if v := w.tree.Run("r").Vars()["got"]; string(v.JSON) != `"finished"` {
		t.Errorf("the output is %s", v.JSON)
	}
	w = calls(t, `, output: got, verify: "true"`)
	w.helps(says("finished"))
	w.exit("r:call@verify.1", 0)
	w.wantStatus(belay.Achieved, exit.OK)
	if v := w.tree.Run("r").Vars(); string(v["got"].JSON) != `"finished"` || string(v["first"].JSON) != `"a result"` {
		t.Errorf("the outputs are %s and %s", v["got"].JSON, v["first"].JSON)
	}
}

// An output that the sub-recipe did not come to set, and that a later step reads,
// is not there because an agent says that it is done.
//
// promise: A6
func TestRecoveryWithoutAnOutputThatIsReadIsNone(t *testing.T) {
	const sub = "name: sub\nsteps:\n- {id: fine, command: one, output: first}\n- {id: bad, command: two, output: version}\n- {id: rest, command: x, output: more, condition: \"first == 'no'\"}\n"
	for more, want := range map[string]belay.Status{
		"- {id: use, command: \"echo {{version}}\"}\n":               belay.Failed,
		"- {id: use, command: \"echo $VERSION\"}\n":                  belay.Failed,
		"- {id: use, command: x, condition: \"version == 'x'\"}\n":   belay.Failed,
		"- {id: use, command: \"echo {{version | default('')}}\"}\n": belay.Achieved,
		"- {id: use, command: \"echo {{first}} $VERSIONS\"}\n":       belay.Achieved,
		"- {id: use, command: \"echo $FIRST\"}\n":                    belay.Achieved,
	} {
		w := beginCalls(t, "name: top\nsteps:\n- {id: call, recipe: sub, verify: \"true\"}\n"+more, nil, "sub", sub)
		w.fall()
		w.helps(says("finished"))
		w.exit("r:call@verify.1", 0)
		if want == belay.Failed {
			w.wantOriginal()
			continue
		}
		w.exit("r:use.1", 0)
		w.wantStatus(want, exit.OK)
	}
}

// The step's check is asked after a recovery agent whatever became of that one,
// unless it says with the agreed word that it is hopeless.
//
// promise: A1, A6
func TestTheCheckIsAskedWhateverTheRecoveryAgentSays(t *testing.T) {
	failed := says("")
	failed.Exit, failed.Agent.Result.Error, failed.Agent.Result.Class, failed.Agent.Result.Cause = 1, true, belay.ClassTransient, "overloaded"
	late := says("")
	late.Exit, late.Agent.Ended = 1, effect.EndedDeadline
	for name, c := range map[string]struct {
		o    effect.Observation
		more string
		exit int
		want belay.Status
	}{
		"failed, work there":           {failed, "", 0, belay.Achieved},
		"failed, work not there":       {failed, "", 1, belay.Failed},
		"late, work there":             {late, "", 0, belay.Achieved},
		"blank, work there":            {says(" "), "", 0, belay.Achieved},
		"no report, work there":        {effect.Observation{Signal: 9, Exit: -1}, "", 0, belay.Achieved},
		"failed, an output is missing": {failed, ", output: got", 0, belay.Failed},
		"failed, no change":            {failed, ", expect: change", 0, belay.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			w := calls(t, `, verify: "test -s result"`+c.more)
			w.helps(c.o)
			if c.o.Agent == nil { // nobody saw what it did to guarded files
				w.turn(Fact{"r", event.AnswerGiven{Key: belay.Key(w.asks()), Answer: effect.AnswerLook{OK: true, Seen: &belay.Evidence{}}}})
			}
			w.wantStarts("r:call@verify.1")
			w.exit("r:call@verify.1", c.exit)
			if c.want == belay.Failed {
				w.wantOriginal()
				return
			}
			w.wantStatus(c.want, exit.OK)
		})
	}
	w := calls(t, `, verify: "true"`)
	w.helps(says("UNRECOVERABLE: no way"))
	w.wantOriginal()
}

// promise: A1, A12
func TestRecoveryIsNotAcceptedWithTheToken(t *testing.T) {
	for name, answer := range map[string]string{
		"upper": "UNRECOVERABLE: no way", "lower": "unrecoverable: no way", "mixed": "It is Unrecoverable.", "after text": "I did all I could.\nuNRECOVERABLE",
	} {
		t.Run(name, func(t *testing.T) {
			w := calls(t, ", output: got")
			w.helps(says(answer))
			w.wantOriginal()
		})
	}
}

// promise: A1, A8, A12
func TestRecoveryWithAnEmptyOrBlankAnswerIsNone(t *testing.T) {
	for _, answer := range []string{"", "   ", "\n\t\n"} {
		w := calls(t, ", output: got")
		w.helps(says(answer))
		w.wantOriginal()
	}
}

// promise: A1, A4, A12
func TestRecoveryWithAnErrorOfTheAgentIsNone(t *testing.T) {
	w := calls(t, ", output: got")
	o := says("half")
	o.Exit, o.Agent.Result.Error, o.Agent.Result.Class, o.Agent.Result.Cause = 1, true, belay.ClassAuth, "no login"
	w.helps(o)
	w.wantOriginal()
}

// promise: A1, A4
func TestRecoveryWhoseAgentCannotStartIsNone(t *testing.T) {
	w := calls(t, ", output: got")
	w.allow()
	w.turn(Fact{"r", event.AttemptEnded{Key: "r:call@recovery.1", Observation: effect.Observation{Fault: fault.Agent, Detail: "no such program"}}})
	w.wantOriginal()
}

// promise: A1, A12
func TestRecoveryWithoutAnAgentIsNone(t *testing.T) {
	w := beginCalls(t, "name: top\nsteps:\n- {id: call, recipe: sub}\n", func(e *event.RunStarted) { e.Agent = "" })
	w.fall()
	w.wantNobody()
	w.wantOriginal()
	last := w.recs[len(w.recs)-2].Event.(event.RecoveryChosen)
	if !slices.ContainsFunc(last.Plan.Refused, func(n belay.NotTaken) bool { return n.Act == belay.ActRecover && strings.Contains(n.Why, "no agent") }) {
		t.Errorf("it is not said why: %+v", last.Plan.Refused)
	}
}

// promise: A1
func TestRecoveryInARunThatUsesNoAgentsIsNotThoughtOf(t *testing.T) {
	w := beginCalls(t, "name: top\nsteps:\n- {id: call, recipe: sub}\n", func(e *event.RunStarted) { e.Agents = false })
	w.fall()
	w.wantNobody()
	w.wantOriginal()
}

// promise: A12
func TestNoRecoveryWhenTheSubRecipeSucceeded(t *testing.T) {
	w := beginCalls(t, "name: top\nsteps:\n- {id: call, recipe: sub}\n", nil)
	w.print("r/call.1:fine.1", "x")
	w.exit("r/call.1:bad.1", 0)
	w.wantNobody()
	w.wantStatus(belay.Achieved, exit.OK)
}

// promise: A8
func TestRecoveryIsAskedOnceForAFailure(t *testing.T) {
	w := calls(t, "")
	w.helps(says(""))
	asked := 0
	for _, r := range w.recs {
		if e, ok := r.Event.(event.RecoveryChosen); ok && e.Plan.Act == belay.ActRecover {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	w.wantOriginal()
}

// promise: A8
func TestRecoveryComesAfterTheRecipesOwnRetry(t *testing.T) {
	w := beginCalls(t, "name: top\nsteps:\n- {id: call, recipe: sub, retry: 2}\n", nil)
	w.fall()
	w.wantNobody()
	w.print("r/call.2:fine.1", "a result")
	w.end("r/call.2:bad.1", effect.Observation{Exit: 3, Tail: "half of it\n"})
	w.helps(says("finished"))
	w.wantStatus(belay.Partial, exit.Partial)
}

// promise: A2
func TestRecoveryPromptIsFilledFromTheRun(t *testing.T) {
	w := beginCalls(t, "name: top\ncontext: {branch: main, api_token: s3cret}\nsteps:\n- {id: call, recipe: sub}\n", nil)
	w.fall()
	w.allow()
	got := w.prompt()
	for _, want := range []string{
		"Sub-recipe: sub\n", "Failed steps: bad\n", "Error: step bad: bash_failure: exit 3: half of it\n",
		"Partial outputs (first 500 chars): {\"first\":\"a result\"}\n", "  api_token: [REDACTED]\n", "  branch: main\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "s3cret") {
		t.Error("the secret is in it")
	}
}

// promise: A2
func TestRecoveryPromptNamesAllFailedSteps(t *testing.T) {
	w := beginCalls(t, "name: top\nsteps:\n- {id: call, recipe: sub}\n", nil, "sub",
		"name: sub\nsteps:\n- {id: a, command: one, needs: []}\n- {id: b, command: two, needs: []}\n- {id: c, command: three, needs: [], optional: true}\n")
	for _, k := range []belay.Key{"r/call.1:c.1", "r/call.1:a.1", "r/call.1:b.1"} {
		w.exit(k, 1)
	}
	w.allow()
	if got := w.prompt(); !strings.Contains(got, "Failed steps: a, b\n") {
		t.Errorf("got\n%s", got)
	}
}

// promise: A3, A12
func TestRecoveryWorksInTheDirectoryOfTheStep(t *testing.T) {
	w := calls(t, ", working_dir: lower")
	w.allow()
	if got := w.jobs["r:call@recovery.1"].Dir; got != "/d/lower" {
		t.Errorf("it works in %s", got)
	}
}

// promise: A3, A12
func TestRecoveryWorksInTheDirectoryOfTheRun(t *testing.T) {
	w := calls(t, "")
	w.allow()
	if got := w.jobs["r:call@recovery.1"].Dir; got != "/d" {
		t.Errorf("it works in %s", got)
	}
}

// promise: A11
func TestRecoveryHasTheRunsAgentAndNoMoreAccess(t *testing.T) {
	w := beginCalls(t, "name: top\nsteps:\n- {id: call, recipe: sub}\n", func(e *event.RunStarted) {
		e.Roles = map[string]event.Profile{"devops": {Agent: "other", Access: "full"}}
	})
	w.fall()
	w.allow()
	if a := w.jobs["r:call@recovery.1"].Agent; a.Name != "scripted" || a.Access != "" || a.Persona != "" {
		t.Errorf("it is %+v", a)
	}
}

// promise: A5, A8
func TestRecoveryIsSwitchedOff(t *testing.T) {
	for name, src := range map[string]string{
		"step":          "name: top\nsteps:\n- {id: call, recipe: sub, recovery: off}\n",
		"older word":    "name: top\nsteps:\n- {id: call, recipe: sub, recovery_on_failure: false}\n",
		"recipe":        "name: top\nrecovery: off\nsteps:\n- {id: call, recipe: sub}\n",
		"step over run": "name: top\nrecovery: on\nsteps:\n- {id: call, recipe: sub, recovery: off}\n",
	} {
		t.Run(name, func(t *testing.T) {
			w := beginCalls(t, src, nil)
			w.fall()
			w.wantNobody()
			w.wantOriginal()
		})
	}
}

// A flag is over what the recipe says.
//
// promise: A5
func TestRecoveryIsSwitchedByTheRun(t *testing.T) {
	const on, off = "name: top\nrecovery: on\nsteps:\n- {id: call, recipe: sub}\n", "name: top\nrecovery: off\nsteps:\n- {id: call, recipe: sub}\n"
	w := beginCalls(t, on, func(e *event.RunStarted) { e.Recovery = "off" })
	w.fall()
	w.wantNobody()
	w.wantOriginal()
	w = beginCalls(t, off, func(e *event.RunStarted) { e.Recovery = "" }) // on, which is not written down
	w.fall()
	w.helps(says("finished"))
	w.wantStatus(belay.Partial, exit.Partial)
}

// promise: A6
func TestRecoveryMustPassTheCheck(t *testing.T) {
	for code, want := range map[int]belay.Status{0: belay.Achieved, 1: belay.Failed} {
		w := calls(t, `, verify: "test -s result"`)
		w.helps(says("finished"))
		w.wantStarts("r:call@verify.1")
		w.exit("r:call@verify.1", code)
		if want == belay.Failed {
			w.wantOriginal()
			continue
		}
		w.wantStatus(want, exit.OK)
	}
}

// promise: A6
func TestRecoveryWhoseCheckIsLostEveryTimeIsNone(t *testing.T) {
	w := calls(t, `, verify: "test -s result"`)
	w.helps(says("finished"))
	for n := 1; w.out.Status == belay.Running; n++ {
		if n > 20 {
			t.Fatal("it goes on for ever")
		}
		w.reload(map[belay.Key]fault.Found{belay.KeyOf("r", "call", belay.RoleVerify, n): fault.Lost})
	}
	w.wantOriginal()
}

func evidence(before, after string) belay.Evidence {
	return belay.Evidence{Before: belay.TreeState{Repo: true, Tree: before}, After: belay.TreeState{Repo: true, Tree: after}}
}

// promise: A6
func TestRecoveryMustChangeSomethingWhereThatIsExpected(t *testing.T) {
	w := calls(t, ", expect: change")
	o := says("finished")
	o.Agent.Evidence = evidence("a", "a")
	w.helps(o)
	w.wantOriginal()
	w = calls(t, ", expect: change")
	o = says("finished")
	o.Agent.Evidence = evidence("a", "b")
	o.Agent.Evidence.Files, o.Agent.Evidence.Changed = 1, []belay.FileChange{{Path: "x", Change: belay.FileAdded}}
	w.helps(o)
	w.wantStatus(belay.Achieved, exit.OK)
}

// promise: A6
func TestRecoveryMustGiveJSONWhereThatIsAskedFor(t *testing.T) {
	w := calls(t, ", output: got, parse_json_required: true")
	w.allow()
	if j := w.jobs["r:call@recovery.1"]; j.JSON != effect.JSONRequired {
		t.Errorf("JSON is %q", j.JSON)
	}
	o := says("no JSON")
	o.Fault, o.Detail, o.Output = fault.JSON, "there is no JSON in it", nil
	w.turn(Fact{"r", event.AttemptEnded{Key: "r:call@recovery.1", Observation: o}})
	w.wantOriginal()
}

// promise: A6
func TestRecoveryWithNothingToCheckIsUnverified(t *testing.T) {
	w := calls(t, "")
	w.helps(says("finished"))
	w.wantStatus(belay.Partial, exit.Partial)
	if r := w.tree.Run("r").Result(); !strings.Contains(r.Reason, "recovered, unverified") {
		t.Errorf("the reason is %q", r.Reason)
	}
}

// promise: A6
func TestClassicRecoveryTakesAnyAnswer(t *testing.T) {
	for _, more := range []string{"", ", expect: change"} {
		w := calls(t, ", recovery: classic"+more)
		w.helps(says("I have fixed everything."))
		w.wantStatus(belay.Achieved, exit.OK)
	}
	for code, want := range map[int]belay.Status{0: belay.Achieved, 1: belay.Partial} { // a check that does not pass is no evidence
		w := calls(t, `, recovery: classic, verify: "false"`)
		w.helps(says("I have fixed everything."))
		w.exit("r:call@verify.1", code)
		w.wantStatus(want, map[belay.Status]int{belay.Achieved: exit.OK, belay.Partial: exit.Partial}[want])
	}
	w := calls(t, ", recovery: classic")
	w.helps(says("Unrecoverable."))
	w.wantOriginal()
	w = calls(t, ", recovery: classic")
	w.helps(says(" "))
	w.wantOriginal()
}

// promise: A7
func TestNoRecoveryAtTheNestingLimitOrAboveIt(t *testing.T) {
	w := beginCalls(t, "name: top\nsteps:\n- {id: call, recipe: sub}\n", func(e *event.RunStarted) { e.Limits.MaxDepth = 3 },
		"sub", "name: sub\nsteps:\n- {id: again, recipe: sub}\n")
	w.wantNobody()
	w.wantStatus(belay.Failed, exit.Failed)
}

// promise: A7
func TestNoRecoveryOfARecipeThatIsNotThere(t *testing.T) {
	w := beginCalls(t, "name: top\nsteps:\n- {id: call, recipe: nowhere}\n", nil)
	w.wantNobody()
	w.wantStatus(belay.Failed, exit.Failed)
}

// promise: A7
func TestNoRecoveryAfterACancel(t *testing.T) {
	w := beginCalls(t, "name: top\nsteps:\n- {id: call, recipe: sub}\n", nil)
	w.turn(Fact{"r", event.RequestReceived{Request: event.Request{ID: "c", Run: "r", Ask: event.RequestCancel, By: "me"}}})
	w.end("r/call.1:fine.1", effect.Observation{Signal: 15, KilledBy: fault.KilledCancel})
	w.wantNobody()
	w.wantStatus(belay.Aborted, exit.Aborted)
}

// promise: A7
func TestRecoveryThatTheBudgetForbidsIsAPersons(t *testing.T) {
	w := calls(t, "")
	w.turn(Fact{"r", event.AnswerGiven{Key: "r:call@recovery.1?agent", Answer: effect.AnswerAgent{Error: "40 agent starts (limit 40) are used"}}})
	w.wantStarts("")
	w.wantStatus(belay.Held, 0)
}
