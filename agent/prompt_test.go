package agent

import (
	"strings"
	"testing"

	"github.com/belay-run/belay"
)

// promise: H4
func TestPromptsAreAsWritten(t *testing.T) {
	t.Parallel()
	task := "  Fix the failing test in parse.go.\n"
	cases := []struct {
		name  string
		brief Brief
	}{
		{"plain", Brief{Prompt: task, Expect: belay.ExpectNone}},
		{"persona, answer", Brief{Persona: "You are a careful reviewer.\n", Prompt: task, Expect: belay.ExpectAnswer}},
		{"change", Brief{Prompt: task, Expect: belay.ExpectChange}},
		{"change, with a closing line", Brief{Prompt: task, Expect: belay.ExpectChange, Note: "It was tried before.", Closes: true}},
		{"session goes on, with a closing line", Brief{Prompt: task, Resumed: true, Note: "Go on.", Closes: true}},
		{"tests", Brief{Prompt: task, Expect: belay.ExpectTests}},
		{"pull request", Brief{Prompt: task, Expect: belay.ExpectPR}},
		{"session goes on", Brief{Persona: "You are a careful reviewer.", Prompt: task, Expect: belay.ExpectChange, Cut: "it said nothing for 10m", Resumed: true}},
		{"session goes on, reason unknown", Brief{Prompt: task, Resumed: true}},
		{"session goes on, told why", Brief{Prompt: task, Expect: belay.ExpectChange, Resumed: true, Note: "You used up your turns."}},
		{"another agent takes over", Brief{Prompt: task, Expect: belay.ExpectChange, Note: "claude began, and its service is down."}},
		{"fresh after a cut", Brief{Prompt: task, Expect: belay.ExpectChange, Cut: "the machine went down"}},
	}
	var b strings.Builder
	for _, c := range cases {
		b.WriteString("=== " + c.name + "\n" + Compose(c.brief))
	}
	golden(t, "prompts.golden", b.String())
}

// Neither form of going on leaves out what is unknown, and only a fresh
// session is told the task again.
func TestACutIsTold(t *testing.T) {
	t.Parallel()
	for _, resumed := range []bool{true, false} {
		got := Compose(Brief{Prompt: "THE TASK", Cut: "HOW IT WAS CUT", Resumed: resumed})
		if !strings.Contains(got, "HOW IT WAS CUT") || !strings.Contains(got, "may have taken effect") {
			t.Errorf("resumed %v: does not tell the cut:\n%s", resumed, got)
		}
		if strings.Contains(got, "THE TASK") == resumed {
			t.Errorf("resumed %v: the task is told wrongly:\n%s", resumed, got)
		}
	}
}
