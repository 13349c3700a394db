package verdict

import (
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
)

func TestOf(t *testing.T) {
	ok := effect.Observation{Began: true}
	exit := func(n int) effect.Observation {
		return effect.Observation{Began: true, Exit: n, Tail: "one\nlast line\n"}
	}
	killed := func(by fault.KilledBy) effect.Observation {
		return effect.Observation{Began: true, Exit: 143, Signal: 15, KilledBy: by}
	}
	bad := func(f fault.Fault) effect.Observation {
		return effect.Observation{Exit: -1, Fault: f, Detail: "what went wrong"}
	}
	unkept := func(n int) effect.Observation {
		return effect.Observation{Began: true, Exit: n, Fault: fault.Disk, Detail: "what went wrong"}
	}
	child := func(s belay.Status) effect.Observation {
		return effect.Observation{Began: true, Child: &belay.RunResult{
			Status: s, Code: 1, Failure: &belay.Failure{Kind: belay.BashFailure, Op: "step x", Cause: "exit 4"},
		}}
	}
	rows := []struct {
		name string
		c    Case
		want string // ok, partial, unknown, back, or kind: cause
	}{
		{"exit 0", Case{Main: ok}, "ok"},
		{"exit 3 with its last line", Case{Main: exit(3)}, "bash_failure: exit 3: last line"},
		{"declared kind", Case{Main: exit(3), Declared: belay.Infrastructure}, "infrastructure: exit 3: last line"},
		{"signal", Case{Main: effect.Observation{Began: true, Exit: 139, Signal: 11}}, "bash_failure: signal 11"},
		{"deadline", Case{Main: killed(fault.KilledDeadline), Timeout: 5 * time.Second}, "bash_failure: timed out after 5s"},
		{"stop", Case{Main: killed(fault.KilledStop)}, "back"},
		{"cancel", Case{Main: killed(fault.KilledCancel)}, "back"},
		{"check passes", Case{Main: ok, Check: &ok}, "ok"},
		{"check fails", Case{Main: ok, Check: ptr(exit(1))}, "bash_failure: verify: exit 1: last line"},
		{"check fails after a failure: the failure stands", Case{Main: exit(3), Check: ptr(exit(1))}, "bash_failure: exit 3: last line"},
		{"no directory", Case{Main: bad(fault.Dir)}, "bash_failure: what went wrong"},
		{"no bash", Case{Main: bad(fault.Program)}, "infrastructure: what went wrong"},
		{"disk full", Case{Main: bad(fault.Disk)}, "infrastructure: what went wrong"},
		{"no process", Case{Main: bad(fault.Spawn)}, "infrastructure: what went wrong"},
		{"too much environment", Case{Main: bad(fault.TooBig)}, "bash_failure: what went wrong"},
		{"too much output", Case{Main: bad(fault.Output)}, "bash_failure: what went wrong"},
		{"a value with NUL", Case{Main: bad(fault.Input)}, "bash_failure: what went wrong"},

		{"once, stopped", Case{Once: true, Main: killed(fault.KilledStop)}, "unknown"},
		{"once, stopped, work is there", Case{Once: true, Main: killed(fault.KilledStop), Check: &ok}, "ok"},
		{"once, stopped, work is not there", Case{Once: true, Main: killed(fault.KilledStop), Check: ptr(exit(1))}, "back"},
		{"once, timed out", Case{Once: true, Main: killed(fault.KilledDeadline)}, "unknown"},
		{"once, timed out, not there", Case{Once: true, Main: killed(fault.KilledDeadline), Check: ptr(exit(1))}, "bash_failure: timed out"},
		{"once, timed out, silent check", Case{Once: true, Main: killed(fault.KilledDeadline), Check: ptr(killed(fault.KilledDeadline))}, "unknown"},
		{"once, done, silent check", Case{Once: true, Main: ok, Check: ptr(bad(fault.Spawn))}, "unknown"},
		{"not once, done, silent check", Case{Main: ok, Check: ptr(bad(fault.Spawn))}, "infrastructure: verify: what went wrong"},
		{"once, never began", Case{Once: true, Main: bad(fault.Dir)}, "bash_failure: what went wrong"},
		{"once, done, log not kept", Case{Once: true, Main: unkept(0)}, "unknown"},
		{"once, done, log not kept, work is there", Case{Once: true, Main: unkept(0), Check: &ok}, "ok"},
		{"once, failed by itself, log not kept", Case{Once: true, Main: unkept(3)}, "infrastructure: what went wrong"},
		{"not once, done, log not kept", Case{Main: unkept(0)}, "infrastructure: what went wrong"},
		{"once, failed by itself", Case{Once: true, Main: exit(1)}, "bash_failure: exit 1: last line"},

		{"child achieved", Case{Type: belay.TypeRecipe, Main: child(belay.Achieved)}, "ok"},
		{"child partial", Case{Type: belay.TypeRecipe, Main: effect.Observation{Began: true, Child: &belay.RunResult{Status: belay.Partial}}}, "partial"},
		{"child partial because of a failure", Case{Type: belay.TypeRecipe, Main: child(belay.Partial)}, "recipe_failure: step x: bash_failure: exit 4"},
		{"child failed", Case{Type: belay.TypeRecipe, Main: child(belay.Failed)}, "recipe_failure: step x: bash_failure: exit 4"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if got := word(Of(r.c)); got != r.want {
				t.Fatalf("got %q, want %q", got, r.want)
			}
		})
	}
}

// Too much of an answer is the cause, however the agent left: we may have ended
// it for that. A deadline that passed is the stronger reason.
// promise: H3
func TestTooMuchOfAnAnswer(t *testing.T) {
	for _, a := range []effect.AgentReport{
		{Ended: effect.EndedOutput, Result: belay.AgentResult{Signal: 15, Exit: -1}},
		{Ended: effect.EndedOutput, Result: belay.AgentResult{Exit: 1, Error: true, Class: belay.ClassUnknown, Cause: "terminated"}},
		{Result: belay.AgentResult{}}, // the record that ends a run was in the line that was not read
		{Result: belay.AgentResult{Final: true}},
	} {
		c := Case{Type: belay.TypeAgent, Expect: belay.ExpectAnswer, Main: effect.Observation{
			Began: true, Exit: 1, Fault: fault.Output, Detail: "the answer has more than 5 bytes", Agent: &a}}
		v := Of(c)
		if got := word(v); got != "bash_failure: the answer has more than 5 bytes" || v.Failure.Class != belay.ClassInvalidInput || v.Failure.Hint == "" {
			t.Errorf("%+v: %s, class %s", a, got, v.Failure.Class)
		}
		a.Ended, c.Main.KilledBy = effect.EndedDeadline, fault.KilledDeadline
		if got := Of(c); got.Failure == nil || got.Failure.Kind != belay.AgentTimeout {
			t.Errorf("%+v: %s", a, word(got))
		}
	}
}

func ptr(o effect.Observation) *effect.Observation { return &o }

func word(v effect.Verdict) string {
	switch {
	case v.OK && v.Partial:
		return "partial"
	case v.OK:
		return "ok"
	case v.Unknown:
		return "unknown"
	case v.GivenBack:
		return "back"
	}
	return string(v.Failure.Kind) + ": " + v.Failure.Cause
}

func TestEveryVerdictHasItsEvidence(t *testing.T) {
	for _, c := range []Case{
		{Main: effect.Observation{Began: true}},
		{Main: effect.Observation{Began: true, Exit: 2}},
		{Once: true, Main: effect.Observation{Began: true, Signal: 9}},
	} {
		if v := Of(c); len(v.For)+len(v.Against) == 0 {
			t.Errorf("%+v: no evidence", v)
		}
	}
}

func TestALongLastLineIsCut(t *testing.T) {
	v := Of(Case{Main: effect.Observation{Began: true, Exit: 1, Tail: strings.Repeat("ä", 5000)}})
	if n := len([]rune(v.Failure.Cause)); n > 220 {
		t.Fatalf("cause of %d characters", n)
	}
}

func TestNeedsCheck(t *testing.T) {
	for _, r := range []struct {
		c    Case
		want bool
	}{
		{Case{Main: effect.Observation{Began: true}}, true},
		{Case{Main: effect.Observation{Began: true, Exit: 1}}, false},
		{Case{Once: true, Main: effect.Observation{Began: true, KilledBy: fault.KilledStop}}, true},
		{Case{Main: effect.Observation{Began: true, KilledBy: fault.KilledStop}}, false},
	} {
		if got := NeedsCheck(r.c); got != r.want {
			t.Errorf("%+v: %v", r.c, got)
		}
	}
}
