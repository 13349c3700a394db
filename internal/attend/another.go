package attend

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/journal"
)

// another asks for one more start of the CLI in this attempt, where all
// sessions of the tree count: going on, beginning anew and asking again are
// starts too. Without a budget to ask there is nothing to refuse it.
func (a *attendant) another(r belay.AgentReport) bool {
	if a.order.State == "" || a.order.Tree == "" {
		return true
	}
	why := a.refused(r.Starts() + 1)
	if why != "" {
		a.notes.add(belay.NoteKill, "it may not be started again: "+why, nil)
	}
	return why == ""
}

// refused says why the n-th start may not be, "" when it may.
func (a *attendant) refused(n int) string {
	state, err := journal.OpenState(a.order.State)
	if err != nil {
		return err.Error()
	}
	defer state.Close()
	now := time.Now()
	p, err := state.Permit(a.order.Tree, belay.Key(fmt.Sprintf("%s%s%s%d", a.order.Tally, a.order.Key, journal.Further, n)), now)
	if err != nil {
		return err.Error()
	}
	if short := p.Short(now); short != journal.ShortNothing {
		return "the budget is used up (" + string(short) + ")"
	}
	return ""
}
