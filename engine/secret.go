package engine

import (
	"slices"

	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
)

// unsecret takes the secrets out of what people typed, before it becomes a
// record: a reason is free text, and a value that stands in it would be in the
// journal for good.
func unsecret(facts []flow.Fact, clean func(string) string) []flow.Fact {
	out := slices.Clone(facts)
	for i, f := range facts {
		switch e := f.Event.(type) {
		case event.RequestReceived:
			e.Request.Why, e.Request.Choice = clean(e.Request.Why), clean(e.Request.Choice)
			out[i].Event = e
		case event.RunReopened:
			e.Why = clean(e.Why)
			out[i].Event = e
		case event.RunResumed:
			e.Why = clean(e.Why)
			out[i].Event = e
		case event.StepReset:
			e.Why = clean(e.Why)
			out[i].Event = e
		}
	}
	return out
}
