package flow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
)

// An agent may ask a person three times; what it asks is no failure, the same
// session goes on with the answer, and a fourth question is what an agent lacks.
// promise: H3
func TestAnAgentAsksAPerson(t *testing.T) {
	asks := func() effect.Observation {
		return effect.Observation{Agent: &effect.AgentReport{Result: belay.AgentResult{
			Text: "I looked.", Session: "s1", Closing: &belay.Closing{Word: belay.ClosedInput, Text: "Which one?"},
		}}}
	}
	w := begin(t, "name: n\nsteps:\n- {id: a, agent: one, prompt: do it, expect: answer}\n")
	w.say(effect.AnswerAgent{OK: true})
	for n := 1; n <= maxInputs; n++ {
		w.end(belay.Key(fmt.Sprintf("r:a.%d", n)), asks())
		w.wantStatus(belay.Held, exit.Held)
		if e := w.item(); e.About != event.ItemInput || e.Ask != "Which one?" || e.ID != fmt.Sprintf("a.%d.input", n) {
			t.Fatalf("asked: %+v", e)
		}
		if why := w.reply(event.Request{Item: "a", Choice: " "}); !strings.Contains(why, "is answered with a text") {
			t.Errorf("an empty answer: %q", why)
		}
		w.reload(nil)
		if why := w.reply(event.Request{Item: "a", Choice: "the second\nof them"}); why != "" {
			t.Fatal(why)
		}
		w.say(effect.AnswerAgent{OK: true})
		j := w.jobs[belay.Key(fmt.Sprintf("r:a.%d", n+1))].Agent
		if j == nil || j.Resume != "s1" || !strings.Contains(j.Brief, "> the second\n> of them") {
			t.Fatalf("attempt %d: %+v", n+1, j)
		}
	}
	w.end(belay.Key(fmt.Sprintf("r:a.%d", maxInputs+1)), asks())
	for _, r := range w.out.Records {
		if e, ok := r.Event.(event.ItemOpened); ok && e.About == event.ItemInput {
			t.Errorf("asked once more: %+v", e)
		}
	}
}
