package recovery_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/recovery"
	"github.com/belay-run/belay/recovery/classic"
)

func byClassic(n int) func(recovery.Situation) belay.Plan {
	return func(s recovery.Situation) belay.Plan { return classic.Choose(s, n) }
}

// promise: R3, R12, R15
func TestClassicOfAStep(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name  string
		s     recovery.Situation
		cause string
		want  string
		rules string
	}{
		{"critical", recovery.AgentStep(), "hm", "retry retry hold", "attempts_left attempts_left critical"},
		{"optional", recovery.With(recovery.AgentStep(), func(s *recovery.Situation) { s.Optional = true }), "hm", "retry retry skip", "attempts_left attempts_left optional"},
		{"a shell step too", recovery.ShellStep(), "hm", "retry retry hold", "attempts_left attempts_left critical"},
		{"timeouts end with the run's recoveries", recovery.With(recovery.AgentStep(), func(s *recovery.Situation) { s.MaxReplans = 3 }), "Timeout",
			"retry retry retry retry retry hold", "attempts_left attempts_left timeout timeout timeout replans_spent"},
		{"of an optional step too", recovery.With(recovery.AgentStep(), func(s *recovery.Situation) { s.MaxReplans, s.Optional = 1, true }), "Timeout",
			"retry retry retry skip", "attempts_left attempts_left timeout replans_spent"},
		{"denied", recovery.With(recovery.AgentStep(), func(s *recovery.Situation) { s.MaxReplans = 3 }), "denied",
			"retry retry reassign:reviewer reassign:architect reassign:orchestrator hold", "attempts_left attempts_left denied denied denied replans_spent"},
		{"denied, a shell step", recovery.ShellStep(), "denied", "retry retry hold", "attempts_left attempts_left critical"},
		{"denied, no agents", recovery.With(recovery.AgentStep(), func(s *recovery.Situation) { s.Agents = false }), "denied", "retry retry hold", "attempts_left attempts_left critical"},
		{"too big", recovery.AgentStep(), "too complex", "retry retry decompose decompose hold", "attempts_left attempts_left too_big too_big critical"},
		{"once", recovery.With(recovery.ShellStep(), func(s *recovery.Situation) { s.Once = true }), "hm", "hold", "critical"},
		{"its own retry first", recovery.With(recovery.ShellStep(), func(s *recovery.Situation) { s.Declared.MaxAttempts = 2 }), "hm", "retry retry hold", "retry attempts_left critical"},
		{"another way", recovery.With(recovery.ShellStep(), func(s *recovery.Situation) { s.Fallback = true }), "hm", "retry retry fallback hold", "attempts_left attempts_left fallback critical"},
		{"a person is wanted", recovery.With(recovery.ShellStep(), func(s *recovery.Situation) { s.Optional, s.Declared.Escalate = true, true }), "hm", "retry retry hold", "attempts_left attempts_left on_failure"},
		{"a sub-recipe", recovery.RecipeStep(), "hm", "retry retry recover hold", "attempts_left attempts_left recover critical"},
		{"no retries left", recovery.With(recovery.AgentStep(), func(s *recovery.Situation) { s.Spent = true }), "hm", "hold", "critical"},
		{"no time left", recovery.With(recovery.AgentStep(), func(s *recovery.Situation) { s.Deadline = recovery.Now.Add(time.Second) }), "hm", "retry hold", "attempts_left critical"},
	} {
		y := recovery.Play(r.s, belay.Failure{Class: belay.ClassUnknown, Cause: r.cause}, false, byClassic(2))
		var rules []string
		for _, p := range y.Plans() {
			rules = append(rules, p.Rule)
			if p.Policy != "classic" || p.Reason == "" {
				t.Errorf("%s: %+v", r.name, p)
			}
			if counted := recovery.Starts(p.Act) && p.Rule != "attempts_left" && p.Rule != "retry"; p.Counts != counted {
				t.Errorf("%s: counts %v: %+v", r.name, p.Counts, p)
			}
		}
		if got := strings.Join(rules, " "); y.Acts() != r.want || got != r.rules {
			t.Errorf("%s:\n got %s (%s)\nwant %s (%s)", r.name, y.Acts(), got, r.want, r.rules)
		}
	}
}

// promise: R3, R4
func TestClassicPlansInFull(t *testing.T) {
	t.Parallel()
	s := recovery.AgentStep()
	s.Failure.Cause, s.History.Failed = "connection reset", 2
	if p := classic.Choose(s, 3); !p.Due.Equal(recovery.Now.Add(1100*time.Millisecond)) || p.Counts || p.Reason != "1 of 3 retries used" {
		t.Errorf("%+v", p)
	}
	s.Failure.Cause, s.History.Failed = "token limit exceeded", 4
	want := []belay.Part{{Title: "Part 1 of: write the parser", Task: "Part 1 of: write the parser"}, {Title: "Part 2 of: write the parser", Task: "Part 2 of: write the parser"}}
	if p := classic.Choose(s, 3); !reflect.DeepEqual(p.Parts, want) || !p.Counts {
		t.Errorf("%+v", p)
	}
	s.Failure = belay.Failure{Class: belay.ClassCancelled, Level: belay.LevelAct}
	if p := classic.Choose(s, 9); p.Act != belay.ActGiveUp || p.Rule != "cancelled" {
		t.Errorf("%+v", p)
	}
}

func TestClassicStreamsEnd(t *testing.T) {
	t.Parallel()
	recovery.Each(t, 2, byClassic(3), func(recovery.Situation, belay.Plan) {}, func(y *recovery.Story) {
		if last := y.Plans()[len(y.Plans())-1]; !recovery.Ended(last.Act) || len(y.Plans()) > y.Most(3) {
			t.Errorf("%d decisions, the last is %+v", len(y.Plans()), last)
		}
	})
}

func BenchmarkChoose(b *testing.B) {
	s := recovery.AgentStep()
	s.History = recovery.History{Key: "r:a.2", Failed: 2}
	s.Past = []recovery.Past{{Act: belay.ActRetry, Class: belay.ClassTransient, Print: "x", Agent: "a", Role: recovery.Coder}}
	for name, class := range map[string]belay.Class{"retry": belay.ClassTransient, "failover": belay.ClassAuth, "give_up": belay.ClassCancelled} {
		s.Failure = recovery.FailureOf(class, belay.LevelTyped, "")
		for policy, choose := range map[string]func(recovery.Situation) belay.Plan{"belay": recovery.Choose, "classic": byClassic(classic.DefaultMaxRetries)} {
			b.Run(policy+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					choose(s)
				}
			})
		}
	}
}
