package belaytest

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
)

// shared: what runs have in common, or one run with its own past.
func shared() []Case {
	three := "name: n\nsteps:\n" +
		"- {id: a, type: agent, prompt: go, expect: answer, output: x}\n" +
		"- {id: s, recipe: sub}\n" +
		"- {id: c, type: agent, prompt: go, expect: answer, output: z}\n"
	inner := texts{"sub": "name: sub\nsteps:\n- {id: b, type: agent, prompt: go, expect: answer, output: y}\n"}
	yes := []Agent{{"worker", "- answer: 'yes'\n"}}
	tries := ""
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		tries += "- {id: " + id + ", type: agent, prompt: go, expect: answer, output: x, optional: true}\n"
	}
	nest := func(limit string) texts {
		return texts{"sub": "name: sub\nsteps:\n- {id: a, command: 'echo x >> depth; test \"$(wc -l < depth)\" -lt " + limit + "; nest sub'}\n"}
	}
	return []Case{
		{
			Name: "a budget that is used up holds the run", Needs: []Ability{Agents, Budgets}, Recipe: three, Subs: inner, Agents: yes,
			Budget: belay.Budget{MaxAgents: 2},
			Want: Want{
				Status: belay.Held, Code: exit.Held, Attempts: attempts{"a": 1, "s": 1, "s.1/b": 1},
				Phases: phases{"a": flow.Done, "s": flow.Done, "s.1/b": flow.Done, "c": flow.Held},
			},
		},
		{
			Name: "a budget that is cleared is there once more", Needs: []Ability{Agents, Budgets}, Agents: yes,
			Recipe: three + "- {id: d, type: agent, prompt: go, expect: answer, output: z}\n- {id: e, type: agent, prompt: go, expect: answer, output: z}\n",
			Subs:   inner, Budget: belay.Budget{MaxAgents: 2},
			Acts: []Act{{Do: Clear, What: event.CountBudget}, {Do: Answer, Step: "c", Choice: event.ChoiceAgain}},
			Want: Want{
				Status: belay.Held, Code: exit.Held, Attempts: attempts{"a": 1, "s": 1, "s.1/b": 1, "c": 1, "d": 1},
				Phases: phases{"a": flow.Done, "s": flow.Done, "s.1/b": flow.Done, "c": flow.Done, "d": flow.Done, "e": flow.Held},
			},
		},
		{
			Name: "a run inside a step spends of the same budget", Needs: []Ability{Agents, Budgets, Sessions}, Agents: yes,
			Recipe: "name: n\nsteps:\n" +
				"- {id: a, type: agent, prompt: go, expect: answer, output: x}\n" +
				"- {id: s, command: nest sub}\n" +
				"- {id: c, type: agent, prompt: go, expect: answer, output: z}\n",
			Subs: inner, Budget: belay.Budget{MaxAgents: 2},
			Want: Want{
				Status: belay.Held, Code: exit.Held, Attempts: attempts{"a": 1, "s": 1},
				Phases: phases{"a": flow.Done, "s": flow.Done, "c": flow.Held},
			},
		},
		{
			Name: "a service that failed often is left alone, until somebody clears that", Needs: []Ability{Agents, Breakers},
			Recipe: "name: n\nsteps:\n" + tries + "- {id: f, type: agent, prompt: go, expect: answer, output: z}\n",
			Agents: []Agent{{"worker", "steps:\n  f: [answer: 'yes']\n  '*': [error: {class: auth, status: 401, text: no login}]\n"}},
			Acts:   []Act{{Do: Clear, What: event.CountBreakers, Seen: waits}},
			Want: Want{
				Status: belay.Achieved, Vars: texts{"z": "yes"}, Attempts: attempts{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1},
				Phases: phases{"a": flow.Failed, "b": flow.Failed, "c": flow.Failed, "d": flow.Failed, "e": flow.Failed, "f": flow.Done},
			},
			Also: notWaited("f"),
		},
		{
			Name: "a run inside a step", Needs: []Ability{Sessions},
			Recipe: "name: n\nsteps:\n- {id: a, command: nest sub}\n- {id: b, command: test -f work}\n",
			Subs:   texts{"sub": "name: sub\nsteps:\n- {id: a, command: touch work}\n"},
			Want:   Want{Status: belay.Achieved, Attempts: attempts{"a": 1, "b": 1}, Phases: phases{"a": flow.Done, "b": flow.Done}},
		},
		{
			Name: "a run inside a step, inside a step, too often", Needs: []Ability{Sessions},
			Recipe: "name: n\nsteps:\n- {id: a, command: nest sub}\n", Subs: nest("6"),
			Want: Want{
				Status: belay.Failed, Code: exit.Failed, Failure: belay.BashFailure, Attempts: attempts{"a": 1},
				Phases: phases{"a": flow.Failed}, Files: texts{"depth": "x\nx\nx\n"},
			},
		},
	}
}

// waits tells that an agent may not start before a time.
func waits(r event.Record) bool { return !waitsUntil(r).IsZero() }

// waitsUntil is the time before which an agent may not start; zero = it may.
func waitsUntil(r event.Record) time.Time {
	e, _ := r.Event.(event.AnswerGiven)
	if a, ok := e.Answer.(effect.AnswerAgent); ok && !a.OK {
		return a.Until
	}
	return time.Time{}
}

// notWaited: the step started before the time was over for which its agent had
// to wait.
func notWaited(step belay.Path) func([]event.Record) error {
	return func(recs []event.Record) error {
		until := recs[0].At
		for _, r := range recs {
			if e, ok := r.Event.(event.AttemptStarted); ok && e.Path == step {
				if !r.At.Before(until) {
					return fmt.Errorf("%s started at %s; it was to wait until %s, and that was cleared", step, r.At, until)
				}
				return nil
			}
			if waits(r) {
				until = waitsUntil(r)
			}
		}
		return fmt.Errorf("%s never started", step)
	}
}
