package flow

import (
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
)

// What the simulator found, in its smallest form.

func request(id string, ask event.RequestKind, choice string) Fact {
	return Fact{"r", event.RequestReceived{Request: event.Request{
		ID: id, Run: "r", By: "me", Ask: ask, Choice: choice, Why: "because",
	}}}
}

// A cancelled run once began the check of a step, ended it at once because of
// the cancel, found the step unchecked and began the check again, for ever.
func TestACancelledRunChecksNothing(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n- {id: a, command: x, once: true, verify: y}\n")
	w.turn(request("c", event.RequestCancel, ""))
	w.end("r:a.1", effect.Observation{Signal: 15, KilledBy: fault.KilledCancel})
	w.wantStarts("")
	w.wantStatus(belay.Aborted, exit.Aborted)
}

// "Again" for an attempt that was cut off once granted two attempts: the one
// that was cut off had not been counted.
func TestAgainGrantsOneAttempt(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n- {id: a, command: x, once: true, timeout: 1}\n")
	w.end("r:a.1", effect.Observation{Signal: 15, Exit: 143, KilledBy: fault.KilledDeadline})
	w.wantStatus(belay.Held, exit.Held)
	w.turn(request("q", event.RequestAnswer, event.ChoiceAgain))
	w.wantStarts("r:a.2")
	w.exit("r:a.2", 1)
	w.wantStarts("")
	w.wantStatus(belay.Failed, exit.Failed)
}

// The check of a step that had ended well was lost too often; the run was
// reopened, and the step, which must not run twice, was run a second time.
func TestALostCheckIsNoReasonToRunTwice(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n- {id: a, command: x, once: true, verify: y}\n")
	w.exit("r:a.1", 0)
	w.wantStarts("r:a@verify.1")
	for n := 1; w.out.Status == belay.Running; n++ {
		if n > 10 {
			t.Fatal("lost for ever")
		}
		w.reload(map[belay.Key]fault.Found{belay.KeyOf("r", "a", belay.RoleVerify, n): fault.Lost})
	}
	w.wantStatus(belay.Failed, exit.Infra)
	w.turn(w.tree.Reopen("me", "again")...)
	w.wantStarts("r:a@verify.5")
}

// A step whose attempts had been lost before failed at once when one of them
// at last ended well: its check was given up before it was tried.
func TestACheckIsTriedBeforeItIsGivenUp(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n- {id: a, command: x, verify: y}\n")
	w.tree = NewTree("r", w.lib)
	for _, r := range w.recs {
		if err := w.tree.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	w.turn(Fact{"r", event.RunAttached{Epoch: 2}}, Fact{"r", event.AttemptFound{Key: "r:a.1", How: fault.Lost, Count: 9}})
	w.wantStarts("r:a@verify.1") // the work may be there
	w.exit("r:a@verify.1", 1)
	w.wantStatus(belay.Failed, exit.Infra)
	w.turn(w.tree.Reopen("me", "again")...)
	w.wantStarts("r:a.2")
	w.exit("r:a.2", 0)
	w.wantStarts("r:a@verify.2")
}

// A run ended while one of its steps waited for its next attempt; reopened, it
// made that attempt at once, before a step that it needs and that had been
// left out was done.
func TestAReopenedRunKeepsItsOrder(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n"+
		"- {id: a, command: x, on_failure: escalate}\n"+
		"- {id: b, needs: [a], command: y, retry: {max_attempts: 2, backoff: 1s}}\n"+
		"- {id: c, needs: [a], command: z}\n")
	w.exit("r:a.1", 1)
	w.turn(request("q", event.RequestAnswer, event.ChoiceSkip))
	w.wantStarts("r:b.1 r:c.1")
	w.exit("r:b.1", 1)
	w.exit("r:c.1", 1)
	w.wantStatus(belay.Failed, exit.Failed)
	w.now = w.now.Add(time.Hour)
	w.turn(w.tree.Reopen("me", "again")...)
	w.wantStarts("r:a.2")
	w.exit("r:a.2", 0)
	w.wantStarts("r:c.2 r:b.2")
}

// A stop that came when the run was held left it both; the last word counts.
func TestAStoppedRunIsNotHeld(t *testing.T) {
	w := begin(t, "name: n\nsteps:\n- {id: a, command: x, on_failure: escalate}\n")
	w.exit("r:a.1", 1)
	w.wantStatus(belay.Held, exit.Held)
	w.turn(request("s", event.RequestStop, ""))
	w.wantStatus(belay.Stopped, 0)
	w.reload(nil)
	w.wantStatus(belay.Held, exit.Held)
}
