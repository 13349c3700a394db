package flow

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/recipe"
)

// spent is what the agents of a tree have used, from the facts alone.
type spent struct {
	starts map[belay.Key]int // how often a CLI was started, by attempts that were allowed to
	usage  belay.Usage
	told   bool  // an attempt has told what it used
	tokens int64 // the most that one attempt used
	micros int64 // the same in money
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
	used, most := t.spent.count(), t.Allowed()
	switch begun := t.runs[t.root].begun; {
	case t.spent.starts[k] > 0:
		return ""
	case used >= most:
		return fmt.Sprintf("%d of %d agent starts are used", used, most)
	case b.MaxTokens > 0 && u.Tokens() >= b.MaxTokens:
		return fmt.Sprintf("%d of %d tokens are used", u.Tokens(), b.MaxTokens)
	case b.MaxMicroUSD > 0 && u.MicroUSD >= b.MaxMicroUSD:
		return fmt.Sprintf("$%.2f of $%.2f are spent", float64(u.MicroUSD)/1e6, float64(b.MaxMicroUSD)/1e6)
	case b.MaxWall > 0 && now.Sub(begun) >= b.MaxWall:
		return fmt.Sprintf("the run has taken %s of %s", now.Sub(begun).Round(time.Millisecond), b.MaxWall)
	}
	return ""
}

// tight tells whether one more agent has to wait for another to end, so that
// tokens and money go over their limit by one agent's use at the most. What an
// agent will use nobody knows: each that runs is counted for the most that one
// has used so far, and the first runs alone.
func (t *Tree) tight() bool {
	b := t.started.Limits.Budget
	if b.MaxTokens == 0 && b.MaxMicroUSD == 0 {
		return false
	}
	n := int64(len(t.granting) + len(t.slots))
	for k := range t.agents {
		if t.spent.starts[k] > 0 && !t.granting[k] && !t.slots[k] {
			n++
		}
	}
	over := func(used, each, most int64) bool { return most > 0 && used+n*each >= most }
	switch u := t.spent.usage; {
	case n == 0:
		return false
	case !t.spent.told:
		return true
	default:
		return over(u.Tokens(), t.spent.tokens, b.MaxTokens) || over(u.MicroUSD, t.spent.micros, b.MaxMicroUSD)
	}
}

// waits tells whether a step is one that has to wait where the budget is tight.
func (s *State) waits(i int) bool {
	st := &s.steps[i]
	if !s.typeOf(i).Agent() || s.prog.Steps[i].Foreach != "" || st.nextAttempt.fallback || st.nextAttempt.parts != nil {
		return false
	}
	return st.agent.grant == nil && !st.agent.pardon && !st.asked
}

// spend keeps what a record says about the use of agents.
func (t *Tree) spend(r event.Record) {
	switch e := r.Event.(type) {
	case event.AnswerGiven:
		if a, ok := e.Answer.(effect.AnswerAgent); ok && a.OK {
			k, _ := e.Key.Is(belay.TopicAgent)
			t.spent.starts[k] = 1
		}
	case event.AttemptStarted:
		if e.Agent != "" {
			t.spent.starts[e.Key] = 1 // a pardoned one was never asked for
		}
	case event.AttemptFound:
		if e.How == fault.Unborn {
			delete(t.spent.starts, e.Key)
		}
	case event.AttemptEnded:
		if a := e.Observation.Agent; a != nil {
			u := a.Result.Usage
			t.spent.usage = t.spent.usage.Add(u)
			t.spent.told, t.spent.tokens, t.spent.micros = t.spent.told || !a.Unreached(), max(t.spent.tokens, u.Tokens()), max(t.spent.micros, u.MicroUSD)
			t.spent.starts[e.Key] = a.Starts()
		}
	}
}

// Allowed is how many agents may start, by what is known now: where the recipe says
// it, that may come with a plan. A variable that is not in the records tells nothing.
func (t *Tree) Allowed() int {
	limits, root := t.started.Limits, t.runs[t.root]
	if !limits.RecipeAgents || root == nil || root.prog == nil || root.prog.MaxAgents == nil {
		return limits.Starts()
	}
	n, most := belay.Budget{}.Starts(), root.prog.MaxAgents
	if !root.vars.big(most.Names()) {
		if said, ok := recipe.Agents(most, root.vars.lookup()); ok {
			n = said
		}
	}
	return min(n, limits.Starts())
}

// Resumed tells whether the driver that has the tree is not its first one.
func (t *Tree) Resumed() bool { return t.driver.Epoch > 1 }

// Spent is what the agents of the tree have used: starts, and what they told.
func (t *Tree) Spent() (int, belay.Usage) { return t.spent.count(), t.spent.usage }
