package flow

import (
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
)

// What the machine ended goes on where it was when it is opened again, also in the steps
// that may fail, and what was decided without them is decided anew.
func TestTheMachineEndsNoStep(t *testing.T) {
	const caller = "name: n\nsteps:\n- {id: s, recipe: sub}\n"
	noShell := effect.Observation{Fault: fault.Program, Detail: "there is no shell"}
	t.Run("a step", func(t *testing.T) {
		w := begin(t, caller, "sub", "name: sub\ncontext: {why: \"\"}\nsteps:\n"+
			"- {id: a, command: x, optional: true, failed: why}\n- {id: b, condition: not why, command: y}\n- {id: c, command: z}\n")
		w.end("r/s.1:a.1", noShell)
		w.end("r/s.1:c.1", noShell)
		w.wantStatus(belay.Failed, exit.Infra)
		w.turn(w.tree.Reopen("ann", "there is a shell")...)
		w.wantStarts("r/s.1:a.2")
		w.exit("r/s.1:a.2", 0)
		w.wantStarts("r/s.1:b.1")
		w.exit("r/s.1:b.1", 0)
		w.exit("r/s.1:c.2", 0)
		w.wantStatus(belay.Achieved, exit.OK)
		w.checked()
	})
	t.Run("a recipe", func(t *testing.T) {
		w := begin(t, "name: n\nsteps:\n- {id: s, recipe: sub, optional: true}\n- {id: c, command: z}\n", "sub", "name: sub\nsteps:\n"+
			"- {id: a, command: x}\n- {id: b, command: y}\n")
		w.exit("r/s.1:a.1", 0)
		w.end("r/s.1:b.1", noShell)
		w.end("r:c.1", noShell)
		w.wantStatus(belay.Failed, exit.Infra)
		w.turn(w.tree.Reopen("ann", "there is a shell")...)
		w.wantStarts("r/s.1:b.2") // what is done stays done
		w.exit("r/s.1:b.2", 0)
		w.exit("r:c.2", 0)
		w.wantStatus(belay.Achieved, exit.OK)
		w.checked()
	})
	for name, c := range map[string]struct {
		first, last effect.Observation // of the step that may fail, and of the one at the end
		middle      bool               // another step went on without it
	}{
		"others went on":               {noShell, noShell, true},
		"the work ended it":            {effect.Observation{Began: true, Exit: 1}, noShell, false},
		"the machine did not end them": {noShell, effect.Observation{Began: true, Exit: 1}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, caller, "sub", "name: sub\ncontext: {go: "+map[bool]string{true: "x", false: `""`}[c.middle]+"}\nsteps:\n"+
				"- {id: a, command: x, optional: true}\n- {id: b, condition: go, command: y}\n- {id: c, command: z}\n")
			w.end("r/s.1:a.1", c.first)
			if c.middle {
				w.exit("r/s.1:b.1", 0)
			}
			w.end("r/s.1:c.1", c.last)
			w.turn(w.tree.Reopen("ann", "again")...)
			w.wantStarts("r/s.1:c.2")
		})
	}
}
