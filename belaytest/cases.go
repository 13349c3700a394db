package belaytest

import (
	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
)

// Cases is the whole suite.
func Cases() []Case {
	var all []Case
	for _, part := range [][]Case{
		order(), failing(), nesting(), language(), holding(), approving(), stopping(), losing(), orphaning(), clearing(),
		values(), agents(), helpers(), trees(), shared(),
	} {
		all = append(all, part...)
	}
	return all
}

// Short forms for the tables.
type (
	phases   = map[string]flow.Phase
	attempts = map[string]int
	texts    = map[string]string
	kinds    = map[string]belay.FailureKind
)

// order: what runs when, and what it gets and gives.
func order() []Case {
	return []Case{
		{
			Name:   "one after the other",
			Recipe: "name: n\nsteps:\n- {id: a, command: touch one}\n- {id: b, command: test -f one}\n",
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 1, "b": 1}, Phases: phases{"a": flow.Done, "b": flow.Done},
			},
		},
		{
			Name: "side by side, each waits for the other",
			Recipe: "name: n\nsteps:\n" +
				"- {id: a, needs: [], command: 'touch a; while [ ! -f b ]; do sleep 0.02; done'}\n" +
				"- {id: b, needs: [], command: 'touch b; while [ ! -f a ]; do sleep 0.02; done'}\n" +
				"- {id: c, needs: [a, b], command: 'test -f a; test -f b'}\n",
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 1, "b": 1, "c": 1},
				Phases: phases{"a": flow.Done, "b": flow.Done, "c": flow.Done},
			},
		},
		{
			Name: "outputs and conditions",
			Recipe: "name: n\ncontext: {x: '', who: nobody}\nsteps:\n" +
				"- {id: a, command: 'echo \"$WHO\"', output: x}\n" +
				"- {id: b, command: 'exit 0', condition: \"x == 'me'\"}\n" +
				"- {id: c, command: 'exit 1', condition: \"x == 'you'\"}\n",
			Vars: texts{"who": "me"},
			Want: Want{
				Status: belay.Achieved, Vars: texts{"x": "me"}, Attempts: attempts{"a": 1, "b": 1},
				Phases: phases{"a": flow.Done, "b": flow.Done, "c": flow.NotTaken},
			},
		},
		{
			Name:   "nothing was to be done",
			Recipe: "name: n\ncontext: {x: '1'}\nsteps:\n- {id: a, command: exit 0, condition: \"x == '2'\"}\n",
			Want: Want{
				Status: belay.Failed, Code: exit.Failed, Failure: belay.RoutingGap,
				Attempts: attempts{}, Phases: phases{"a": flow.NotTaken},
			},
		},
		{
			Name:   "nothing was to be done, and that is fine",
			Recipe: "name: n\nallow_empty: true\ncontext: {x: '1'}\nsteps:\n- {id: a, command: exit 0, condition: \"x == '2'\"}\n",
			Want:   Want{Status: belay.Achieved, Attempts: attempts{}, Phases: phases{"a": flow.NotTaken}},
		},
	}
}

// failing: what does not end well, and what is done about it.
func failing() []Case {
	return []Case{
		{
			Name:   "a retry that helps",
			Recipe: "name: n\nsteps:\n- {id: a, command: '" + FailUntil(3, "tries") + "', retry: {max_attempts: 3, backoff: 10ms}}\n",
			Want:   Want{Status: belay.Achieved, Attempts: attempts{"a": 3}, Phases: phases{"a": flow.Done}},
		},
		{
			Name:   "retries that do not",
			Recipe: "name: n\nsteps:\n- {id: a, command: exit 3, retry: 2}\n- {id: b, command: exit 0}\n",
			Want: Want{
				Status: belay.Failed, Code: exit.Failed, Failure: belay.BashFailure,
				Failures: kinds{"a": belay.BashFailure},
				Attempts: attempts{"a": 2}, Phases: phases{"a": flow.Failed, "b": flow.Waiting},
			},
		},
		{
			Name:   "a timeout",
			Recipe: "name: n\nsteps:\n- {id: a, command: sleep 60, timeout: 200ms}\n",
			Want: Want{
				Status: belay.Failed, Code: exit.Failed, Failure: belay.BashFailure,
				Attempts: attempts{"a": 1}, Phases: phases{"a": flow.Failed},
			},
		},
		{
			Name:   "a check that agrees",
			Recipe: "name: n\nsteps:\n- {id: a, command: touch work, verify: test -f work}\n",
			Want:   Want{Status: belay.Achieved, Attempts: attempts{"a": 1}, Phases: phases{"a": flow.Done}},
		},
		{
			Name:   "a check that does not",
			Recipe: "name: n\nsteps:\n- {id: a, command: exit 0, verify: test -f work}\n",
			Want: Want{
				Status: belay.Failed, Code: exit.Failed, Failure: belay.BashFailure,
				Attempts: attempts{"a": 1}, Phases: phases{"a": flow.Failed},
			},
		},
		{
			Name:   "an optional step may fail",
			Recipe: "name: n\nsteps:\n- {id: a, command: exit 1, optional: true}\n- {id: b, command: exit 0}\n",
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 1, "b": 1},
				Phases: phases{"a": flow.Failed, "b": flow.Done},
			},
		},
		{
			Name:   "a step says what its failure stands for",
			Recipe: "name: n\nsteps:\n- {id: a, command: exit 1, failure: infrastructure}\n",
			Want: Want{
				Status: belay.Failed, Code: exit.Infra, Failure: belay.Infrastructure,
				Attempts: attempts{"a": 1}, Phases: phases{"a": flow.Failed},
			},
		},
		{
			Name:   "a failed run goes on where it failed",
			Recipe: "name: n\nsteps:\n- {id: a, command: exit 0}\n- {id: b, command: '" + FailUntil(2, "tries") + "'}\n- {id: c, command: exit 0}\n",
			Acts:   []Act{{Do: Reopen}},
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 1, "b": 2, "c": 1},
				Phases: phases{"a": flow.Done, "b": flow.Done, "c": flow.Done},
			},
		},
	}
}

// FailUntil is a script that fails until its n-th attempt; the file counts.
func FailUntil(n int, file string) string {
	return "echo x >> " + file + `; test "$(wc -l < ` + file + `)" -ge ` + string(rune('0'+n))
}
