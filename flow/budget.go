package flow

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay"
)

// spent is what the agents of a tree have used, from the facts alone.
type spent struct {
	starts map[belay.Key]int // how often a CLI was started, by attempts that were allowed to
	usage  belay.Usage
}

// count is how many starts there were in all.
func (s spent) count() int {
	n := 0
	for _, k := range s.starts {
		n += k
	}
	return n
}

// overBudget says why one more agent may not start; "" = it may. The one that
// asks is counted as if it ran.
func (t *Tree) overBudget(k belay.Key, now time.Time) string {
	b := t.started.Limits.Budget
	u := t.spent.usage
	used := t.spent.count()
	switch begun := t.runs[t.root].begun; {
	case t.spent.starts[k] > 0:
		return ""
	case used >= b.Starts():
		return fmt.Sprintf("%d of %d agent starts are used", used, b.Starts())
	case b.MaxTokens > 0 && u.Tokens() >= b.MaxTokens:
		return fmt.Sprintf("%d of %d tokens are used", u.Tokens(), b.MaxTokens)
	case b.MaxMicroUSD > 0 && u.MicroUSD >= b.MaxMicroUSD:
		return fmt.Sprintf("$%.2f of $%.2f are spent", float64(u.MicroUSD)/1e6, float64(b.MaxMicroUSD)/1e6)
	case b.MaxWall > 0 && now.Sub(begun) >= b.MaxWall:
		return fmt.Sprintf("the run has taken %s of %s", now.Sub(begun).Round(time.Millisecond), b.MaxWall)
	}
	return ""
}

// spend keeps what a record says about the use of agents.
func (t *Tree) spend(r belay.Record) {
	switch e := r.Event.(type) {
	case belay.AnswerGiven:
		if k, ok := strings.CutSuffix(string(e.Key), agentQuestion); ok && e.Answer.OK {
			t.spent.starts[belay.Key(k)] = 1
		}
	case belay.AttemptStarted:
		if e.Agent != "" {
			t.spent.starts[e.Key] = 1 // a pardoned one was never asked for
		}
	case belay.AttemptFound:
		if e.How == belay.Unborn {
			delete(t.spent.starts, e.Key)
		}
	case belay.AttemptEnded:
		if a := e.Observation.Agent; a != nil {
			t.spent.usage = t.spent.usage.Add(a.Result.Usage)
			t.spent.starts[e.Key] = a.Starts()
		}
	}
}

// Spent is what the agents of the tree have used: starts, and what they told.
func (t *Tree) Spent() (int, belay.Usage) { return t.spent.count(), t.spent.usage }
