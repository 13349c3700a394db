package cli

import (
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/story"
)

// together is what the index knows of the runs that belong together.
func together(p journal.BudgetUse) story.Together {
	return story.Together{Starts: p.Starts, Allowed: p.MaxStarts, Tokens: p.Tokens, MicroUSD: p.Micros}
}
