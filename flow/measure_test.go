package flow

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
)

// saw is the end of an agent that found the tree as before and left it as
// after, by what its records tell.
func saw(before, after string, own belay.Doing) *belay.Observation {
	return &belay.Observation{Began: true, Agent: &belay.AgentReport{
		Evidence: belay.Evidence{Before: belay.Print{Tree: before}, After: belay.Print{Tree: after}, Own: own},
	}}
}

// What the next attempt is measured against depends on what this one left.
//
// promise: H3
func TestBaseOfTheNextAttempt(t *testing.T) {
	acted := belay.Doing{Told: true, Writes: true}
	looked := belay.Doing{Told: true}
	named := belay.Doing{Told: true, Writes: true, Named: []string{"a.txt"}}
	broken := saw("", "", acted)
	broken.Agent.Evidence.Before.Error = "no index"
	half := saw("a", "", acted)
	half.Agent.Evidence.After.Error = "no index"
	for name, c := range map[string]struct {
		note   *belay.Print
		beside string
		end    *belay.Observation
		base   string
		blind  bool
	}{
		"nothing changed":                {note: &belay.Print{Tree: "a"}, end: saw("a", "a", acted)},
		"a change":                       {note: &belay.Print{Tree: "a"}, end: saw("a", "b", acted), base: "a"},
		"a change, no note":              {end: saw("a", "b", acted), base: "a"},
		"a change, and it does not tell": {end: saw("a", "b", belay.Doing{}), base: "a"},
		"a change, and it only looked":   {note: &belay.Print{Tree: "a"}, end: saw("a", "b", looked)},
		"a change of somebody else":      {note: &belay.Print{Tree: "a"}, beside: "step b", end: saw("a", "b", acted)},
		"a change beside somebody else":  {note: &belay.Print{Tree: "a"}, beside: "step b", end: saw("a", "b", named), base: "a"},
		"lost":                           {note: &belay.Print{Tree: "a"}, base: "a", blind: true},
		"lost before it was measured":    {},
		"no report":                      {note: &belay.Print{Tree: "a"}, end: &belay.Observation{Began: true, Signal: 9}, base: "a", blind: true},
		"never started":                  {end: &belay.Observation{}},
		"a print that failed":            {note: &belay.Print{Tree: "a", Error: "no index"}, end: broken},
		"an empty print":                 {note: &belay.Print{}},
		"nobody saw what it left":        {note: &belay.Print{Tree: "a"}, end: half, base: "a", blind: true},
	} {
		t.Run(name, func(t *testing.T) {
			m := measure{}
			m.begin(time.Time{})
			if c.note != nil {
				m.noted(c.note)
			}
			if c.beside != "" {
				m.meets(c.beside)
			}
			m.ended(c.end)
			m.begin(time.Time{})
			base := ""
			if m.base != nil {
				base = m.base.Tree
			}
			if base != c.base || m.severed != c.blind {
				t.Errorf("measured from %q, cut off: %v; want %q, %v", base, m.severed, c.base, c.blind)
			}
			if base == "" && !reflect.DeepEqual(m, measure{}) {
				t.Errorf("something is left: %+v", m)
			}
		})
	}
}

// An attempt that was lost with its keeper leaves the next one what its attendant
// reported, as if its end were known; without a report nobody knows.
//
// promise: H3, K4
func TestBaseAfterALostAttempt(t *testing.T) {
	acted := belay.Doing{Told: true, Writes: true}
	for name, c := range map[string]struct {
		left   *belay.Evidence
		beside []belay.RunID
		base   string
		blind  bool
		met    string
	}{
		"no report":       {base: "a", blind: true},
		"nothing changed": {left: &saw("a", "a", acted).Agent.Evidence},
		"it only looked":  {left: &saw("a", "b", belay.Doing{Told: true}).Agent.Evidence},
		"a change":        {left: &saw("a", "b", acted).Agent.Evidence, base: "a"},
		"beside a run":    {left: &saw("a", "b", acted).Agent.Evidence, beside: []belay.RunID{"01ab"}},
		"a named change beside a run": {
			left:   &saw("a", "b", belay.Doing{Told: true, Writes: true, Named: []string{"a.txt"}}).Agent.Evidence,
			beside: []belay.RunID{"01ab"}, base: "a", met: "run 01ab",
		},
		"nobody saw what it left": {left: &belay.Evidence{Before: belay.Print{Tree: "a"}, After: belay.Print{Error: "no index"}}, base: "a", blind: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := beginAgents(t, belay.Budget{}, "name: n\nsteps:\n- {id: a, agent: scripted, prompt: x, expect: change}\n")
			w.allow()
			w.turn(Fact{"r", belay.AttemptNoted{Key: "r:a.1", What: belay.NoteBase, Base: &belay.Print{Tree: "a"}}})
			w.turn(Fact{"r", belay.RunAttached{Epoch: 2}}, Fact{"r", belay.AttemptFound{Key: "r:a.1", How: belay.Lost, Count: 1, Left: c.left, Beside: c.beside}})
			w.allow()
			m := w.tree.Run("r").steps[0].agent
			base := ""
			if m.base != nil {
				base = m.base.Tree
			}
			if base != c.base || m.severed != c.blind || strings.Join(m.beside, ", ") != c.met {
				t.Errorf("measured from %q, cut off: %v, beside %q; want %q, %v, %q", base, m.severed, m.beside, c.base, c.blind, c.met)
			}
			if m.cut != "" && w.tree.Run("r").steps[0].phase != Running {
				t.Errorf("it does not go on: %+v", m)
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
		want  string
	}{
		"two agents": {"- {id: a, " + agentStep + ", needs: []}\n- {id: b, " + agentStep + ", needs: []}\n", "step b"},
		"a command":  {"- {id: a, " + agentStep + ", needs: []}\n- {id: b, command: x, needs: []}\n", "step b"},
		"two others": {"- {id: a, " + agentStep + ", needs: []}\n- {id: b, command: x, needs: []}\n- {id: c, command: x, needs: []}\n", "step b, step c"},
		"one after the other": {
			"- {id: a, " + agentStep + "}\n- {id: b, command: x}\n", ""},
		"a worktree": {"- {id: a, " + agentStep + ", needs: []}\n- {id: b, " + agentStep + ", needs: [], isolate: worktree}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := beginAgents(t, belay.Budget{}, "name: n\nsteps:\n"+c.steps)
			for w.asks() != "" {
				w.allow()
			}
			if got := strings.Join(w.tree.Run("r").steps[0].agent.beside, ", "); got != c.want {
				t.Errorf("beside: %q, want %q", got, c.want)
			}
		})
	}
}

// Other runs that an attempt met stay known as long as its work is measured
// from the same state, and are told to the judge.
//
// promise: H3
func TestRunsBesideAreKept(t *testing.T) {
	m := measure{}
	m.begin(time.Time{})
	end := saw("a", "b", belay.Doing{Told: true, Writes: true, Named: []string{"a.txt"}})
	end.Beside = []belay.RunID{"01ab"}
	m.ended(end)
	m.begin(time.Time{})
	if strings.Join(m.beside, ", ") != "run 01ab" || !m.acted {
		t.Errorf("the next attempt knows %q, acted %v", m.beside, m.acted)
	}
	m = measure{}
	m.begin(time.Time{})
	end.Agent.Evidence.Own.Named = nil
	m.ended(end)
	if m.begin(time.Time{}); m.base != nil || len(m.beside) != 0 {
		t.Errorf("somebody else's change is a base: %+v", m)
	}
}

// Who worked in the tree between two attempts that are measured from the same
// base may have made the change, and is told to the judge of the second. It is
// nothing to the first, nor to one that is measured from its own beginning.
//
// promise: H3
func TestWhoWorkedBetween(t *testing.T) {
	const steps = "- {id: a, agent: scripted, prompt: x, expect: change, needs: []}\n" +
		"- {id: b, command: x, needs: []}\n- {id: c, command: x, needs: [b]%s}\n"
	for name, c := range map[string]struct {
		isolate, seen string
		want          string
	}{
		"measured":     {seen: "first", want: "step b, step c"},
		"not measured": {},
		"elsewhere":    {seen: "first", isolate: ", isolate: worktree", want: "step b"},
	} {
		t.Run(name, func(t *testing.T) {
			w := beginAgents(t, belay.Budget{}, "name: n\nsteps:\n"+strings.Replace(steps, "%s", c.isolate, 1))
			w.allow()
			if c.seen != "" {
				w.turn(Fact{"r", belay.AttemptNoted{Key: "r:a.1", What: belay.NoteBase, Base: &belay.Print{Tree: c.seen}}})
			}
			began := w.now
			w.now = w.now.Add(time.Hour)
			w.reload(map[belay.Key]belay.Found{"r:a.1": belay.Lost, "r:b.1": belay.Adopted})
			question := belay.Key(w.asks())
			w.exit("r:b.1", 0)
			for w.asks() != "" { // a worktree
				w.allow()
			}
			if got := strings.Join(w.tree.Run("r").steps[0].agent.beside, ", "); got != "step b" {
				t.Errorf("beside the first: %q", got)
			}
			w.exit("r:c.1", 0)
			w.turn(Fact{"r", belay.AnswerGiven{Key: question, Answer: belay.Answer{OK: true}}})
			w.wantStarts("r:a.2")
			if got := strings.Join(w.tree.Run("r").steps[0].agent.beside, ", "); got != c.want {
				t.Errorf("beside the second: %q, want %q", got, c.want)
			}
			since := w.jobs["r:a.2"].Agent.Since
			if want := map[bool]time.Time{true: began}[c.seen != ""]; !since.Equal(want) {
				t.Errorf("measured since %s, want %s", since, want)
			}
		})
	}
}
