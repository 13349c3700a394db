package recovery

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
)

func classic(n int) func(Situation) belay.Plan {
	return func(s Situation) belay.Plan { return ChooseClassic(s, n) }
}

// promise: R3, R12, R15
func TestClassicOfAStep(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name  string
		s     Situation
		cause string
		want  string
		rules string
	}{
		{"critical", agentStep(), "hm", "retry retry hold", "attempts_left attempts_left critical"},
		{"optional", with(agentStep(), func(s *Situation) { s.Optional = true }), "hm", "retry retry skip", "attempts_left attempts_left optional"},
		{"a shell step too", shell(), "hm", "retry retry hold", "attempts_left attempts_left critical"},
		{"timeouts end with the run's recoveries", with(agentStep(), func(s *Situation) { s.MaxReplans = 3 }), "Timeout",
			"retry retry retry retry retry hold", "attempts_left attempts_left timeout timeout timeout replans_spent"},
		{"of an optional step too", with(agentStep(), func(s *Situation) { s.MaxReplans, s.Optional = 1, true }), "Timeout",
			"retry retry retry skip", "attempts_left attempts_left timeout replans_spent"},
		{"denied", with(agentStep(), func(s *Situation) { s.MaxReplans = 3 }), "denied",
			"retry retry reassign:reviewer reassign:architect reassign:orchestrator hold", "attempts_left attempts_left denied denied denied replans_spent"},
		{"denied, a shell step", shell(), "denied", "retry retry hold", "attempts_left attempts_left critical"},
		{"denied, no agents", with(agentStep(), func(s *Situation) { s.Agents = false }), "denied", "retry retry hold", "attempts_left attempts_left critical"},
		{"too big", agentStep(), "too complex", "retry retry decompose decompose hold", "attempts_left attempts_left too_big too_big critical"},
		{"once", with(shell(), func(s *Situation) { s.Once = true }), "hm", "hold", "critical"},
		{"its own retry first", with(shell(), func(s *Situation) { s.Declared.MaxAttempts = 2 }), "hm", "retry retry hold", "retry attempts_left critical"},
		{"another way", with(shell(), func(s *Situation) { s.Fallback = true }), "hm", "retry retry fallback hold", "attempts_left attempts_left fallback critical"},
		{"a person is wanted", with(shell(), func(s *Situation) { s.Optional, s.Declared.Escalate = true, true }), "hm", "retry retry hold", "attempts_left attempts_left on_failure"},
		{"a sub-recipe", recipeStep(), "hm", "retry retry recover hold", "attempts_left attempts_left recover critical"},
		{"no retries left", with(agentStep(), func(s *Situation) { s.Spent = true }), "hm", "hold", "critical"},
		{"no time left", with(agentStep(), func(s *Situation) { s.Deadline = now.Add(time.Second) }), "hm", "retry hold", "attempts_left critical"},
	} {
		y := play(r.s, belay.Failure{Class: belay.ClassUnknown, Cause: r.cause}, false, classic(2))
		var rules []string
		for _, p := range y.plans {
			rules = append(rules, p.Rule)
			if p.Policy != "classic" || p.Reason == "" {
				t.Errorf("%s: %+v", r.name, p)
			}
			if counted := starts(p.Act) && p.Rule != "attempts_left" && p.Rule != "retry"; p.Counts != counted {
				t.Errorf("%s: counts %v: %+v", r.name, p.Counts, p)
			}
		}
		if got := strings.Join(rules, " "); y.acts() != r.want || got != r.rules {
			t.Errorf("%s:\n got %s (%s)\nwant %s (%s)", r.name, y.acts(), got, r.want, r.rules)
		}
	}
}

// promise: R3, R4
func TestClassicPlansInFull(t *testing.T) {
	t.Parallel()
	s := agentStep()
	s.Failure.Cause, s.History.Failed = "connection reset", 2
	if p := ChooseClassic(s, 3); !p.Due.Equal(now.Add(1100*time.Millisecond)) || p.Counts || p.Reason != "1 of 3 retries used" {
		t.Errorf("%+v", p)
	}
	s.Failure.Cause, s.History.Failed = "token limit exceeded", 4
	want := []belay.Part{{Title: "Part 1 of: write the parser", Task: "Part 1 of: write the parser"}, {Title: "Part 2 of: write the parser", Task: "Part 2 of: write the parser"}}
	if p := ChooseClassic(s, 3); !reflect.DeepEqual(p.Parts, want) || !p.Counts {
		t.Errorf("%+v", p)
	}
	s.Failure = belay.Failure{Class: belay.ClassCancelled, Level: belay.LevelAct}
	if p := ChooseClassic(s, 9); p.Act != belay.ActGiveUp || p.Rule != "cancelled" {
		t.Errorf("%+v", p)
	}
}

func BenchmarkChoose(b *testing.B) {
	s := agentStep()
	s.History = History{Key: "r:a.2", Failed: 2}
	s.Past = []Past{{Act: belay.ActRetry, Class: belay.ClassTransient, Print: "x", Agent: "a", Role: Coder}}
	for name, class := range map[string]belay.Class{"retry": belay.ClassTransient, "failover": belay.ClassAuth, "give_up": belay.ClassCancelled} {
		s.Failure = failure(class, belay.LevelTyped, "")
		for policy, choose := range map[string]func(Situation) belay.Plan{"belay": Choose, "classic": classic(DefaultMaxRetries)} {
			b.Run(policy+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					choose(s)
				}
			})
		}
	}
}
