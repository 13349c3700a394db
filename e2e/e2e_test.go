//go:build e2e && linux

package e2e

import (
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/verdict"
)

// TestRealAgents drives each CLI through each behaviour of the model: started
// as its adapter says, read by its adapter, judged by verdict.
// promise: H3
func TestRealAgents(t *testing.T) {
	t.Parallel()
	for _, kind := range clis(t) {
		for _, r := range rows(kind) {
			t.Run(string(kind)+"/"+string(r.behaviour), func(t *testing.T) {
				t.Parallel()
				want := r.cells[kind]
				c := Case{CLI: kind, Behaviour: r.behaviour, Access: r.access, Timeout: want.timeout()}
				if want.cut {
					c.Timeout = bound
				}
				got := Run(t, c)
				check(t, r, want, got)
				judge(t, kind, r, want, got)
				if t.Failed() {
					t.Log(got)
				}
			})
		}
	}
}

// check holds what the CLI did and what its adapter says of it against the table.
func check(t *testing.T, r row, want cell, got Result) {
	t.Helper()
	a := got.Agent
	if got.Cut != want.cut {
		t.Errorf("ended by the harness: %v, want %v", got.Cut, want.cut)
	}
	if !want.cut && a.Exit != want.exit {
		t.Errorf("exit %d, want %d", a.Exit, want.exit)
	}
	if !got.Prompted {
		t.Error("the prompt did not reach the model")
	}
	if got.Calls == 0 || want.calls > 0 && got.Calls > want.calls {
		t.Errorf("%d calls of the model, want 1 to %d", got.Calls, want.calls)
	}
	if wrote := got.File == content; wrote != r.file || got.File != "" && !wrote {
		t.Errorf("out.txt holds %q, want it written: %v", got.File, r.file)
	}
	if want.stop != "" && a.Stop != want.stop {
		t.Errorf("stop %q, want %q", a.Stop, want.stop)
	}
	if want.text != (strings.TrimSpace(a.Text) == "Done.") {
		t.Errorf("text %q, want a final one: %v", a.Text, want.text)
	}
	if !want.cut && a.Session == "" {
		t.Error("no session is known")
	}
}

// judge holds the verdict against the table: the class and the exit code that a
// run of this one step has.
func judge(t *testing.T, kind agent.Kind, r row, want cell, got Result) {
	t.Helper()
	report := effect.AgentReport{Name: string(kind), Result: got.Agent, Evidence: evidence(got)}
	if got.Cut {
		report.Ended = effect.EndedDeadline
	}
	c := verdict.Case{
		Step: "work", Type: belay.TypeAgent, Expect: r.expect,
		Main: effect.Observation{Began: true, Exit: got.Agent.Exit, Signal: got.Agent.Signal, Agent: &report},
	}
	v := verdict.Of(c)
	if want.code == exit.OK {
		if !v.OK {
			t.Errorf("verdict: %+v, want done", v.Failure)
		}
		return
	}
	if v.Failure == nil {
		t.Fatalf("verdict: done, want %s", want.kind)
	}
	verdict.NewClassifier().Explain(c, v.Failure, verdict.Look{})
	if v.Failure.Kind != want.kind || v.Failure.Class != want.class {
		t.Errorf("verdict: %s, class %q (%s), want %s, class %q", v.Failure.Kind, v.Failure.Class, v.Failure.Cause, want.kind, want.class)
	}
}

// evidence is what there is to see of the one file that the scripts write.
func evidence(got Result) belay.Evidence {
	e := belay.Evidence{Before: belay.TreeState{Tree: "empty"}, After: belay.TreeState{Tree: "empty"}}
	if got.File != "" {
		e.After.Tree, e.Files = "with out.txt", 1
		e.Changed = []belay.FileChange{{Path: "out.txt", Change: belay.FileAdded, Added: 1}}
	}
	return e
}
