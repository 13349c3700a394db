package sim

import (
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
)

// asked checks that only a step that is a question asks for approval, and not
// once more after it was settled.
func (t *truth) asked(run belay.RunID, e event.ItemOpened) {
	d := t.steps[stepName(run, e.Path)]
	if d == nil || e.About != event.ItemApproval {
		return
	}
	if !d.def.Type.Asks() || d.settled {
		t.w.violate("an approval is asked for once", "%s of a %s step that is %q", e.ID, d.def.Type, d.phase)
	}
}

// expired checks that nothing times out too early, or is approved by that.
func (t *truth) expired(run belay.RunID, e event.ItemExpired) {
	id := string(run) + " " + e.ID
	d := t.steps[t.items[id]]
	if d == nil || d.def.Approve == nil || e.Then != d.def.Approve.OnTimeout || e.Then == belay.ChoiceApprove {
		t.w.violate("a timeout is no approval", "%s becomes %s", id, e.Then)
		return
	}
	if e.Then == belay.TimeoutHold {
		return
	}
	delete(t.items, id)
	t.decided(run, d, e.Then)
}

// decided settles a step that is a question.
func (t *truth) decided(run belay.RunID, d *stepTruth, choice string) {
	switch {
	case !slices.Contains(d.def.Approve.Choices, choice):
		t.w.violate("an approval has its choices", "%s is answered with %q", d.path, choice)
	case choice == belay.ChoiceReject:
		t.settle(run, d.path, "failed", false)
	default:
		t.settle(run, d.path, "done", true)
	}
}
