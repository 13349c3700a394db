package cli

import "github.com/belay-run/belay"

// records prints records as they are, one per line.
func (a *app) records(recs []belay.Record) {
	for _, r := range recs {
		a.object(r)
	}
}
