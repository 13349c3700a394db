package belaytest

import (
	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
)

// approving: steps that are questions to a person. Each time it asks counts as one attempt, without a process.
func approving() []Case {
	recipe := func(more string) string {
		return "name: n\nsteps:\n- {id: a, needs: [], approve: {prompt: 'Ship?'" + more + "}, output: x}\n" +
			"- {id: b, needs: [], command: exit 0}\n- {id: c, needs: [a], command: exit 0}\n"
	}
	answer := func(choice string) []Act { return []Act{{Do: Answer, Step: "a", Choice: choice}} }
	return []Case{
		{
			Name: "asked, and nobody answers", Recipe: recipe(""),
			Want: Want{
				Status: belay.Held, Code: exit.Held, Attempts: attempts{"a": 1, "b": 1},
				Phases: phases{"a": flow.Held, "b": flow.Done, "c": flow.Waiting},
			},
		},
		{
			Name: "asked and approved", Recipe: recipe(""), Acts: answer(belay.ChoiceApprove),
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 1, "b": 1, "c": 1},
				Phases: phases{"a": flow.Done, "b": flow.Done, "c": flow.Done},
			},
		},
		{
			Name: "asked and rejected", Recipe: recipe(""), Acts: answer(belay.ChoiceReject),
			Want: Want{
				Status: belay.Failed, Code: exit.Failed, Failure: belay.BashFailure, Attempts: attempts{"a": 1, "b": 1},
				Phases: phases{"a": flow.Failed, "b": flow.Done, "c": flow.Waiting},
			},
		},
		{
			Name: "asked, and rejected by its timeout", Recipe: recipe(", timeout: 300ms, on_timeout: reject"),
			Want: Want{
				Status: belay.Failed, Code: exit.Failed, Failure: belay.BashFailure, Attempts: attempts{"a": 1, "b": 1},
				Phases: phases{"a": flow.Failed, "b": flow.Done, "c": flow.Waiting},
			},
		},
		{
			Name: "asked, and a choice by its timeout", Recipe: recipe(", choices: [approve, later], timeout: 300ms, on_timeout: later"),
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 1, "b": 1, "c": 1},
				Phases: phases{"a": flow.Done, "b": flow.Done, "c": flow.Done},
			},
		},
	}
}
