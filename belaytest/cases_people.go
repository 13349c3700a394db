package belaytest

import (
	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
)

// cutOff is a script that is cut off by its timeout the first time.
const cutOff = "test -f first && exit 0; touch first; sleep 60"

// holding: what only a person can settle.
func holding() []Case {
	recipe := "name: n\nsteps:\n- {id: a, once: true, timeout: 300ms, command: '" + cutOff + "'}\n- {id: b, command: exit 0}\n"
	answer := func(choice string) []Act { return []Act{{Do: Answer, Step: "a", Choice: choice}} }
	return []Case{
		{
			Name: "once and cut off: held", Recipe: recipe,
			Want: Want{
				Status: belay.Held, Code: exit.Held, Attempts: attempts{"a": 1},
				Phases: phases{"a": flow.Held, "b": flow.Waiting},
			},
		},
		{
			Name: "held and answered: done", Recipe: recipe, Acts: answer(event.ChoiceDone),
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 1, "b": 1},
				Phases: phases{"a": flow.Done, "b": flow.Done},
			},
		},
		{
			Name: "held and answered: again", Recipe: recipe, Acts: answer(event.ChoiceAgain),
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 2, "b": 1},
				Phases: phases{"a": flow.Done, "b": flow.Done},
			},
		},
		{
			Name: "held and answered: fail", Recipe: recipe, Acts: answer(event.ChoiceFail),
			Want: Want{
				Status: belay.Failed, Code: exit.Failed, Failure: belay.BashFailure, Attempts: attempts{"a": 1},
				Phases: phases{"a": flow.Failed, "b": flow.Waiting},
			},
		},
		{
			Name: "held and answered: skip", Recipe: recipe, Acts: answer(event.ChoiceSkip),
			Want: Want{
				Status: belay.Partial, Code: exit.Partial, Attempts: attempts{"a": 1, "b": 1},
				Phases: phases{"a": flow.Skipped, "b": flow.Done},
			},
		},
		{
			Name:   "a failure is put before a person",
			Recipe: "name: n\nsteps:\n- {id: a, command: exit 1, on_failure: escalate}\n",
			Want:   Want{Status: belay.Held, Code: exit.Held, Attempts: attempts{"a": 1}, Phases: phases{"a": flow.Held}},
		},
	}
}

// stopping: runs that are ended from outside.
func stopping() []Case {
	const waits = "test -f first && exit 0; touch first; sleep 60"
	recipe := "name: n\nsteps:\n- {id: a, command: '" + waits + "'}\n- {id: b, command: exit 0}\n"
	return []Case{
		{
			Name: "cancelled", Recipe: recipe, Acts: []Act{{Do: Cancel, After: "first"}},
			Want: Want{
				Status: belay.Aborted, Code: exit.Aborted, Attempts: attempts{"a": 1},
				Phases: phases{"a": flow.Waiting, "b": flow.Waiting},
			},
		},
		{
			Name: "stopped", Recipe: recipe, Acts: []Act{{Do: Stop, After: "first"}},
			Want: Want{
				Status: belay.Stopped, Code: exit.Terminated, Attempts: attempts{"a": 1},
				Phases: phases{"a": flow.Waiting, "b": flow.Waiting},
			},
		},
		{
			Name: "stopped and resumed", Recipe: recipe, Acts: []Act{{Do: Stop, After: "first"}, {Do: Resume}},
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 2, "b": 1},
				Phases: phases{"a": flow.Done, "b": flow.Done},
			},
		},
		{
			Name:   "stopped with a child, and resumed",
			Recipe: "name: n\nsteps:\n- {id: s, recipe: sub}\n- {id: b, command: exit 0}\n",
			Subs:   texts{"sub": "name: sub\nsteps:\n- {id: a, command: '" + waits + "'}\n"},
			Acts:   []Act{{Do: Stop, After: "first"}, {Do: Resume}},
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"s": 1, "s.1/a": 2, "b": 1},
				Phases: phases{"s": flow.Done, "s.1/a": flow.Done, "b": flow.Done},
			},
		},
		{
			Name:   "stopped twice",
			Recipe: "name: n\nsteps:\n- {id: a, command: 'touch here$BELAY_ATTEMPT; test -f here3 && exit 0; sleep 60'}\n",
			Acts:   []Act{{Do: Stop, After: "here1"}, {Do: Resume}, {Do: Stop, After: "here2"}, {Do: Resume}},
			Want:   Want{Status: belay.Achieved, Attempts: attempts{"a": 3}, Phases: phases{"a": flow.Done}},
		},
		{
			Name:   "cancelled with a child",
			Recipe: "name: n\nsteps:\n- {id: s, recipe: sub}\n",
			Subs:   texts{"sub": "name: sub\nsteps:\n- {id: a, command: '" + waits + "'}\n"},
			Acts:   []Act{{Do: Cancel, After: "first"}},
			Want: Want{
				Status: belay.Aborted, Code: exit.Aborted, Attempts: attempts{"s": 1, "s.1/a": 1},
				Phases: phases{"s": flow.Waiting, "s.1/a": flow.Waiting},
			},
		},
	}
}

// losing: runs whose keeper is killed.
func losing() []Case {
	kill := func(file string) Act { return Act{Do: KillKeeper, After: file} }
	return []Case{
		{
			Name:   "lost, and done again",
			Recipe: "name: n\nsteps:\n- {id: a, command: 'test -f first && exit 0; touch first; sleep 60'}\n",
			Acts:   []Act{kill("first")},
			Want:   Want{Status: belay.Achieved, Attempts: attempts{"a": 2}, Phases: phases{"a": flow.Done}},
		},
		{
			Name:   "lost too often",
			Recipe: "name: n\nsteps:\n- {id: a, command: 'touch here$BELAY_ATTEMPT; sleep 60'}\n",
			Acts:   []Act{kill("here1"), kill("here2"), kill("here3"), kill("here4")},
			Want: Want{
				Status: belay.Failed, Code: exit.Infra, Failure: belay.Infrastructure,
				Attempts: attempts{"a": 4}, Phases: phases{"a": flow.Failed},
			},
		},
		{
			Name:   "lost, and must not run twice",
			Recipe: "name: n\nsteps:\n- {id: a, once: true, command: 'touch first; sleep 60'}\n",
			Acts:   []Act{kill("first")},
			Want:   Want{Status: belay.Held, Code: exit.Held, Attempts: attempts{"a": 1}, Phases: phases{"a": flow.Held}},
		},
		{
			Name:   "lost, and its check says that the work is there",
			Recipe: "name: n\nsteps:\n- {id: a, once: true, verify: test -f work, command: 'touch work; touch first; sleep 60'}\n",
			Acts:   []Act{kill("first")},
			Want:   Want{Status: belay.Achieved, Attempts: attempts{"a": 1}, Phases: phases{"a": flow.Done}},
		},
		{
			Name: "lost, and its check says that it is not",
			Recipe: "name: n\nsteps:\n- {id: a, once: true, verify: test -f work, " +
				"command: 'test -f first && touch work; test -f first && exit 0; touch first; sleep 60'}\n",
			Acts: []Act{kill("first")},
			Want: Want{Status: belay.Achieved, Attempts: attempts{"a": 2}, Phases: phases{"a": flow.Done}},
		},
	}
}
