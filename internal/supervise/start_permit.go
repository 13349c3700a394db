package supervise

import "github.com/belay-run/belay/effect"

// Permit asks for the n-th start of the CLI in one attempt, where all sessions of
// the tree count, and says why it may not be; "" = it may.
type Permit func(n int) string

// another asks for one more start of the CLI in this attempt: going on, beginning
// anew and asking again are starts too. Without a budget to ask there is nothing
// to refuse it.
func (a *attendant) another(r effect.AgentReport) bool {
	if a.order.State == "" || a.order.Tree == "" || a.parts.permit == nil {
		return true
	}
	why := a.parts.permit(r.Starts() + 1)
	if why != "" {
		a.notes.add(effect.NoteKill, "it may not be started again: "+why, nil)
	}
	return why == ""
}
