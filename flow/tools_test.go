package flow

import (
	"slices"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
)

// The single tools of a role go with its agent; who splits a task is held to
// reading and gets none, unless the role says what it may do.
func TestToolsOfARoleGoWithItsAgent(t *testing.T) {
	tools := []string{"Bash"}
	for access, plans := range map[string][]string{"": nil, "edit": tools} {
		w := beginWays(t, "name: n\nsteps:\n- {id: a, agent: one, prompt: do it, role: coder}\n", func(e *event.RunStarted) {
			e.Roles = map[string]event.Profile{"coder": {Access: access, Tools: tools}}
		})
		w.say(effect.AnswerAgent{OK: true})
		if got := w.jobs["r:a.1"].Agent; got == nil || !slices.Equal(got.Tools, tools) {
			t.Fatalf("access %q: the agent of the step has other tools", access)
		}
		w.end("r:a.1", bad(belay.ClassComplexity, "too big"))
		w.say(effect.AnswerAgent{OK: true})
		got := w.jobs[belay.KeyOf("r", "a", belay.RolePlan, 1)].Agent
		if got == nil || !slices.Equal(got.Tools, plans) {
			t.Fatalf("access %q: who splits has other tools than %q", access, plans)
		}
	}
}
