package classic

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/recovery"
)

// The vectors of the classic policy that are decisions.
// promise: R1 R2 R3 R9 R12
func TestVectors(t *testing.T) {
	t.Parallel()
	parts := []Subtask{{"Part 1 of: build it", recovery.Coder, []string{}}, {"Part 2 of: build it", recovery.Coder, []string{}}}
	for _, r := range []struct {
		vector   int
		retries  int
		text     string
		attempts int
		critical bool
		want     Strategy
		rule     Rule
	}{
		{1, 3, "some random error", 1, false, Strategy{Kind: belay.ActRetry, MaxAttempts: 3, BackoffMS: 1100}, RuleAttemptsLeft},
		{2, 5, "connection reset", 0, true, Strategy{Kind: belay.ActRetry, MaxAttempts: 5, BackoffMS: 500}, RuleAttemptsLeft},
		{3, 2, "permission denied: cannot access /etc/secrets", 3, false, Strategy{Kind: belay.ActReassign, NewRole: recovery.Reviewer}, RuleDenied},
		{4, 1, "access denied for resource X", 2, false, Strategy{Kind: belay.ActReassign, NewRole: recovery.Reviewer}, RuleDenied},
		{5, 2, "operation timeout after 30s", 3, false, Strategy{Kind: belay.ActRetry, MaxAttempts: 4, BackoffMS: 16300}, RuleTimeout},
		{6, 2, "task is too complex for single agent", 3, false, Strategy{Kind: belay.ActDecompose, Subtasks: parts}, RuleTooBig},
		{7, 1, "token limit exceeded", 2, false, Strategy{Kind: belay.ActDecompose, Subtasks: parts}, RuleTooBig},
		{8, 2, "unknown internal error", 5, true, Strategy{Kind: belay.ActEscalate}, RuleCritical},
		{9, 2, "some transient glitch", 5, false, Strategy{Kind: belay.ActSkip, Reason: "Non-critical task failed after 5 attempts: some transient glitch"}, RuleOptional},
		{16, 2, "permission denied on deployment", 3, true, Strategy{Kind: belay.ActReassign, NewRole: recovery.DevOps}, RuleDenied},
		{17, 2, "transient glitch", 0, false, Strategy{Kind: belay.ActRetry, MaxAttempts: 2, BackoffMS: 500}, RuleAttemptsLeft},
		// beyond the vectors: order, letters, edges
		{0, 2, "PERMISSION for the Timeout", 2, true, Strategy{Kind: belay.ActReassign, NewRole: recovery.Reviewer}, RuleDenied},
		{0, 2, "TimeOut, token limit", 2, true, Strategy{Kind: belay.ActRetry, MaxAttempts: 3, BackoffMS: 8200}, RuleTimeout},
		{0, 2, "Too Complex", 2, true, Strategy{Kind: belay.ActDecompose, Subtasks: parts}, RuleTooBig},
		{0, 0, "permission", 0, true, Strategy{Kind: belay.ActReassign, NewRole: recovery.Reviewer}, RuleDenied},
		{0, 3, "permission", 2, true, Strategy{Kind: belay.ActRetry, MaxAttempts: 3, BackoffMS: 2200}, RuleAttemptsLeft},
		{0, 0, "timeout", math.MaxInt, true, Strategy{Kind: belay.ActRetry, MaxAttempts: math.MaxInt, BackoffMS: 60000}, RuleTimeout},
		{0, 0, "", 0, true, Strategy{Kind: belay.ActEscalate}, RuleCritical},
		{0, 0, "timed out", 1, false, Strategy{Kind: belay.ActSkip, Reason: "Non-critical task failed after 1 attempts: timed out"}, RuleOptional},
	} {
		x := Context{"t", "build it", recovery.Coder, r.text, r.attempts, r.critical}
		d := Policy{r.retries}.Decide(x)
		if !reflect.DeepEqual(d.Strategy, r.want) || d.Rule != r.rule {
			t.Errorf("vector %d, %q: %+v, want %+v by %s", r.vector, r.text, d, r.want, r.rule)
		}
		if d.Reason(x) == "" || !strings.Contains(d.Line(x), `task="t" rule=`+string(r.rule)) {
			t.Errorf("vector %d, %q: reason %q, line %q", r.vector, r.text, d.Reason(x), d.Line(x))
		}
	}
}

// promise: R5 R6 R9
func TestAlternateRoles(t *testing.T) { // vectors 10 to 12
	t.Parallel()
	for _, r := range []struct {
		role recovery.Role
		text string
		want recovery.Role
	}{
		{recovery.Coder, "security vulnerability found", recovery.SecurityAuditor},
		{recovery.Coder, "deploy pipeline failed", recovery.DevOps},
		{recovery.Coder, "generic error", recovery.Reviewer},
		{recovery.Tester, "generic error", recovery.Coder},
		{recovery.Reviewer, "generic error", recovery.Architect},
		{recovery.Spec, "generic error", recovery.Architect},
		{recovery.DocumentWriter, "generic error", recovery.Reviewer},
		{recovery.Orchestrator, "generic error", recovery.Orchestrator},
		{recovery.Architect, "generic error", recovery.Orchestrator},
		{recovery.SecurityAuditor, "generic error", recovery.Orchestrator},
		{recovery.DevOps, "generic error", recovery.Orchestrator},
		{"custom:poet", "generic error", recovery.Orchestrator},
		{recovery.Tester, "VULNERABILITY in the Design of the deploy", recovery.SecurityAuditor},
		{recovery.Tester, "Infrastructure design", recovery.DevOps},
		{recovery.Tester, "the Architecture", recovery.Architect},
		{recovery.Coder, "bad DESIGN", recovery.Architect},
	} {
		if got := AlternateRole(r.role, r.text); got != r.want {
			t.Errorf("%s, %q: %s, want %s", r.role, r.text, got, r.want)
		}
	}
}

// promise: R4 R9
func TestBackoff(t *testing.T) { // vectors 13 and 14, and the two series
	t.Parallel()
	for base, series := range map[int64][]int64{
		1000: {1000, 2100, 4200},
		500:  {500, 1100, 2200, 4300, 8400, 16500, 32600, 60000},
		2000: {2000, 4100, 8200, 16300, 32400, 60000, 60000, 60000},
		1:    {1, 102, 204, 308, 416, 532, 664, 828, 1056, 1412, 2024, 2124, 2224}, // doubled ten times at most
	} {
		for n, want := range series {
			if got := Backoff(n, base); got != want {
				t.Errorf("failure %d, base %d: %d, want %d", n, base, got, want)
			}
		}
	}
	for _, r := range []struct {
		n    int
		base int64
		want int64
	}{{20, 5000, 60000}, {math.MaxInt, math.MaxInt64, 60000}, {math.MaxInt, 0, 60000}, {0, math.MaxInt64, 60000}, {63, 1, 7324}, {-1, -1, 0}} {
		if got := Backoff(r.n, r.base); got != r.want {
			t.Errorf("failure %d, base %d: %d, want %d", r.n, r.base, got, r.want)
		}
	}
}

// promise: R8 R9 R14
func TestRecord(t *testing.T) { // vector 15
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	var r Record
	if got, err := json.Marshal(r); err != nil || string(got) != "[]" {
		t.Errorf("an empty record: %s, %v", got, err)
	}
	r.Add(Entry{"a", at, Strategy{Kind: belay.ActRetry, MaxAttempts: 3, BackoffMS: 500}, "first"})
	r.Add(Entry{"b", at.Add(1), Strategy{Kind: belay.ActEscalate}, "second"})
	r.Add(Entry{"a", at.Add(2), Strategy{Kind: belay.ActAbort, Reason: "no"}, "third"})
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Record
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, r) {
		t.Fatalf("%s came back as %+v, %v", text, back, err)
	}
	if !strings.Contains(string(text), `{"task_id":"a","timestamp":"2026-01-02T03:04:05.000000006Z","strategy_chosen":{"retry":{"max_attempts":3,"backoff_ms":500}},"reason":"first"}`) {
		t.Errorf("%s", text)
	}
	a := back.Of("a")
	if back.Total() != 3 || len(a) != 2 || a[0].Reason != "first" || a[1].Reason != "third" || len(back.Of("b")) != 1 {
		t.Errorf("total %d, a %+v, b %+v", back.Total(), a, back.Of("b"))
	}
	if none := back.Of("c"); none == nil || len(none) != 0 {
		t.Errorf("an unknown task: %#v", none)
	}
	a[0].Reason, back.All()[0].Reason = "forged", "forged" // copies: what is written stays
	if back.Of("a")[0].Reason != "first" {
		t.Error("a reader changed the record")
	}
	if got := a[1].Line(); got != `task="a" recorded=abort reason="third"` {
		t.Error(got)
	}
}

// promise: R1 R11 R14
func TestStrategiesAsJSON(t *testing.T) {
	t.Parallel()
	for text, s := range map[string]Strategy{
		`{"retry":{"max_attempts":3,"backoff_ms":500}}`: {Kind: belay.ActRetry, MaxAttempts: 3, BackoffMS: 500},
		`{"reassign":{"new_role":"reviewer"}}`:          {Kind: belay.ActReassign, NewRole: recovery.Reviewer},
		`{"decompose":{"subtasks":[{"description":"d","assigned_to":"coder","dependencies":[]}]}}`: {
			Kind: belay.ActDecompose, Subtasks: []Subtask{{"d", recovery.Coder, []string{}}}},
		`{"decompose":{"subtasks":[]}}`: {Kind: belay.ActDecompose, Subtasks: []Subtask{}},
		`{"skip":{"reason":"r"}}`:       {Kind: belay.ActSkip, Reason: "r"},
		`{"abort":{"reason":"r"}}`:      {Kind: belay.ActAbort, Reason: "r"},
		`"escalate"`:                    {Kind: belay.ActEscalate},
	} {
		got, err := json.Marshal(s)
		if err != nil || string(got) != text {
			t.Errorf("%+v: %s, %v, want %s", s, got, err, text)
		}
		var back Strategy
		if err := json.Unmarshal([]byte(text), &back); err != nil || !reflect.DeepEqual(back, s) {
			t.Errorf("%s: %+v, %v", text, back, err)
		}
	}
	if got, err := json.Marshal(Strategy{Kind: belay.ActDecompose, Subtasks: []Subtask{{Description: "d"}}}); err != nil || strings.Contains(string(got), "null") {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := json.Marshal(Strategy{}); err == nil {
		t.Error("a strategy without a kind was written")
	}
	for _, bad := range []string{`"retry"`, `{}`, `null`, `7`, `[]`, `{"retry":null}`, `{"escalate":{}}`, `{"hope":{}}`, `{"reassign":{}}`,
		`{"reassign":{"new_role":"poet"}}`, `{"retry":{"tries":3}}`, `{"skip":{"reason":"a"},"abort":{"reason":"b"}}`} {
		var s Strategy
		if err := s.UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s was read as %+v", bad, s)
		}
	}
}

// promise: R2 R7 R14
func TestPolicyAndContextAsJSON(t *testing.T) {
	t.Parallel()
	x := Context{"t1", "build", "custom:poet", "no", 2, true}
	const want = `{"task_id":"t1","description":"build","assigned_to":"custom:poet","error_message":"no","attempt_count":2,"is_critical":true}`
	text, err := json.Marshal(x)
	if err != nil || string(text) != want {
		t.Fatalf("%s, %v", text, err)
	}
	var back Context
	if err := json.Unmarshal(text, &back); err != nil || back != x {
		t.Fatalf("%+v, %v", back, err)
	}
	var c Policy
	if err := json.Unmarshal([]byte(`{"max_retries":2}`), &c); err != nil || c.MaxRetries != 2 {
		t.Fatalf("%+v, %v", c, err)
	}
	if text, err := json.Marshal(c); err != nil || string(text) != `{"max_retries":2}` {
		t.Fatalf("%s, %v", text, err)
	}
	if !reflect.DeepEqual(c.Decide(x), c.Decide(back)) {
		t.Error("the same context, another decision")
	}
}

// promise: R13
func TestLinesOfDecisions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"timeout":     `task="t" rule=timeout strategy=retry attempt=4 backoff_ms=32400`,
		"denied":      `task="t" rule=denied strategy=reassign from=tester to=coder`,
		"token limit": `task="t" rule=too_big strategy=decompose subtask_count=2`,
		"else":        `task="t" rule=critical strategy=escalate`,
	} {
		x := Context{"t", "d", recovery.Tester, text, 4, true}
		if got := (Policy{3}).Decide(x).Line(x); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

func TestAllocatesNothing(t *testing.T) {
	c := Policy{DefaultMaxRetries}
	for name, x := range paths() {
		if n := testing.AllocsPerRun(100, func() { c.Decide(x) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// paths are the failures whose decisions must be cheap.
func paths() map[string]Context {
	return map[string]Context{
		"retry":    {"t", "build it", recovery.Coder, "connection reset", 1, true},
		"reassign": {"t", "build it", recovery.Coder, "open /etc/x: Permission DENIED", 3, true},
		"timeout":  {"t", "build it", recovery.Coder, "Operation TIMEOUT after 30s", 9, true},
	}
}

func BenchmarkDecide(b *testing.B) {
	c := Policy{DefaultMaxRetries}
	for name, x := range paths() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Decide(x)
			}
		})
	}
}
