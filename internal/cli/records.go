package cli

import "github.com/belay-run/belay/event"

// records prints records as they are, one per line.
func (a *app) records(recs []event.Record) {
	for _, r := range recs {
		a.object(r)
	}
}
