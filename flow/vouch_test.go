package flow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
)

// answer gives a person's answer for the only step that is held.
func (w *world) answer(choice string) {
	w.t.Helper()
	w.turn(Fact{"r", event.RequestReceived{Request: event.Request{
		ID: fmt.Sprint("letter ", len(w.recs)), Run: "r", By: "me", Ask: event.RequestAnswer, Choice: choice, Why: "seen",
	}}})
	for _, r := range w.out.Records {
		if e, refused := r.Event.(event.RequestRefused); refused {
			w.t.Errorf("%s: refused: %s", choice, e.Why)
		}
	}
}

// item is the question that the last turn opened.
func (w *world) item() event.ItemOpened {
	w.t.Helper()
	for _, r := range w.out.Records {
		if e, ok := r.Event.(event.ItemOpened); ok {
			return e
		}
	}
	w.t.Fatal("nobody is asked")
	return event.ItemOpened{}
}

// A person's word is checked where the step has a check: it passes, or the
// person is asked again, as often as there are words.
// promise: X
func TestAWordIsChecked(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n- {id: a, command: x, verify: y, on_failure: escalate}\n- {id: b, command: z}\n")
	w.exit("r:a.1", 1)
	w.wantStatus(belay.Held, exit.Held)
	w.answer(event.ChoiceDone)
	w.wantStarts("r:a@verify.1")
	if n := w.tree.Done(); n != 0 {
		t.Errorf("%d steps count as done before the check", n)
	}
	w.end("r:a@verify.1", effect.Observation{Began: true, Exit: 4, Tail: strings.Repeat("x", 5000) + "no such page\n"})
	if e := w.item(); !strings.Contains(e.Ask, "exit 4: …xxx") || !strings.Contains(e.Ask, "no such page. Shall") || len(e.Ask) > 1200 {
		t.Errorf("asked: %s", e.Ask)
	}
	w.wantStatus(belay.Held, exit.Held)
	w.wantStarts("")
	w.answer(event.ChoiceDone)
	w.reload(map[belay.Key]fault.Found{"r:a@verify.2": fault.Lost}) // the word stays, and so does its check
	w.wantStarts("r:a@verify.3")
	w.exit("r:a@verify.3", 0)
	w.wantStarts("r:b.1")
	w.exit("r:b.1", 0)
	w.wantStatus(belay.Achieved, exit.OK)
	if n := w.tree.Done(); n != 2 {
		t.Errorf("%d steps are done", n)
	}
}

// What a question was about stays known when its answer was not true: "again"
// still allows one start over the budget.
func TestADoubtedWordKeepsItsQuestion(t *testing.T) {
	w := beginAgents(t, belay.Budget{MaxAgents: 1}, "name: n\nsteps:\n- {id: a, agent: x, prompt: y, expect: answer}\n- {id: b, agent: x, prompt: y, expect: answer, verify: z}\n")
	w.allow()
	w.end("r:a.1", answered(belay.Usage{}))
	w.wantStatus(belay.Held, exit.Held)
	w.answer(event.ChoiceDone)
	w.exit("r:b@verify.1", 1)
	if e := w.item(); !strings.HasSuffix(e.ID, budgetItem) {
		t.Errorf("item %s", e.ID)
	}
	w.answer(event.ChoiceAgain)
	w.wantStarts("r:b.1")
}

// Records of before, without the word "check", settle the step.
func TestAnOldAnswerSettles(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n- {id: a, command: x, verify: y, on_failure: escalate}\n")
	w.exit("r:a.1", 1)
	item := w.item()
	w.turn(Fact{"r", event.ItemAnswered{ID: item.ID, Path: "a", By: "me", Choice: event.ChoiceDone, Why: "seen"}})
	w.wantStatus(belay.Achieved, exit.OK)
}

// A step that was left out after a word that its check denied runs again when the run is
// reopened: the check spoke about that word, and is no attempt that could be judged.
func TestAStepLeftOutAfterADeniedWordRunsAgain(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n- {id: a, command: x, once: true, verify: y, on_failure: escalate}\n")
	w.exit("r:a.1", 3)
	w.answer(event.ChoiceDone)
	w.exit("r:a@verify.1", 1)
	w.answer(event.ChoiceSkip)
	w.wantStatus(belay.Partial, exit.Partial)
	w.turn(Fact{"r", event.RunReopened{By: "me", Why: "again"}})
	w.wantStarts("r:a.2")
}
