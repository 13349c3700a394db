package flow

import (
	"testing"

	"github.com/belay-run/belay"
)

// saw is the end of an agent that found the tree as before and left it as
// after, by the tools of its records.
func saw(before, after string, tools ...belay.ToolCall) *belay.Observation {
	return &belay.Observation{Began: true, Agent: &belay.AgentReport{
		Result:   belay.AgentResult{Tools: tools},
		Evidence: belay.Evidence{Before: belay.Print{Tree: before}, After: belay.Print{Tree: after}},
	}}
}

// What the next attempt is measured against depends on what this one left.
//
// promise: H3
func TestBaseOfTheNextAttempt(t *testing.T) {
	wrote := belay.ToolCall{Name: "Write", Path: "a.txt"}
	broken := saw("", "")
	broken.Agent.Evidence.Before.Error = "no index"
	half := saw("a", "")
	half.Agent.Evidence.After.Error = "no index"
	for name, c := range map[string]struct {
		note   *belay.Print
		shared bool
		end    *belay.Observation
		base   string
		blind  bool
	}{
		"nothing changed":               {note: &belay.Print{Tree: "a"}, end: saw("a", "a")},
		"a change":                      {note: &belay.Print{Tree: "a"}, end: saw("a", "b"), base: "a"},
		"a change, no note":             {end: saw("a", "b"), base: "a"},
		"a change of somebody else":     {note: &belay.Print{Tree: "a"}, shared: true, end: saw("a", "b")},
		"a change beside somebody else": {note: &belay.Print{Tree: "a"}, shared: true, end: saw("a", "b", wrote), base: "a"},
		"lost":                          {note: &belay.Print{Tree: "a"}, base: "a", blind: true},
		"lost before it was measured":   {},
		"no report":                     {note: &belay.Print{Tree: "a"}, end: &belay.Observation{Began: true, Signal: 9}, base: "a", blind: true},
		"never started":                 {end: &belay.Observation{}},
		"a print that failed":           {note: &belay.Print{Tree: "a", Error: "no index"}, end: broken},
		"an empty print":                {note: &belay.Print{}},
		"nobody saw what it left":       {note: &belay.Print{Tree: "a"}, end: half, base: "a", blind: true},
	} {
		t.Run(name, func(t *testing.T) {
			m := measure{}
			m.begin()
			if c.note != nil {
				m.noted(c.note)
			}
			m.shared = c.shared
			m.ended(c.end)
			m.begin()
			base := ""
			if m.base != nil {
				base = m.base.Tree
			}
			if base != c.base || m.severed != c.blind {
				t.Errorf("measured from %q, cut off: %v; want %q, %v", base, m.severed, c.base, c.blind)
			}
			if base == "" && m != (measure{}) {
				t.Errorf("something is left: %+v", m)
			}
		})
	}
}

// Who works at the same time in the same tree shares it; a worktree of its own,
// or another time, does not.
//
// promise: H3
func TestWhoSharesATree(t *testing.T) {
	const agentStep = "agent: scripted, prompt: x, expect: change"
	for name, c := range map[string]struct {
		steps string
		want  bool
	}{
		"two agents": {"- {id: a, " + agentStep + ", needs: []}\n- {id: b, " + agentStep + ", needs: []}\n", true},
		"a command":  {"- {id: a, " + agentStep + ", needs: []}\n- {id: b, command: x, needs: []}\n", true},
		"one after the other": {
			"- {id: a, " + agentStep + "}\n- {id: b, command: x}\n", false},
		"a worktree": {"- {id: a, " + agentStep + ", needs: []}\n- {id: b, " + agentStep + ", needs: [], isolate: worktree}\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := beginAgents(t, belay.Budget{}, "name: n\nsteps:\n"+c.steps)
			for w.asks() != "" {
				w.allow()
			}
			if got := w.tree.Run("r").steps[0].agent.shared; got != c.want {
				t.Errorf("shared: %v, want %v", got, c.want)
			}
		})
	}
}
