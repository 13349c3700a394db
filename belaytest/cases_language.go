package belaytest

import (
	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
)

// language: lists and hooks, which are runs and attempts like others.
func language() []Case {
	const hooks = "name: n\nhooks: {pre_step: touch before, post_step: touch after, on_error: touch sorry}\n"
	return []Case{
		{
			Name:   "a step for each item",
			Recipe: "name: n\ncontext: {list: [x, y, z]}\nsteps:\n- {id: s, foreach: list, command: 'echo \"$ITEM\"', output: out}\n- {id: b, command: exit 0, condition: \"out[2] == 'z' and len(out) == 3\"}\n",
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"s": 1, "b": 1, "s.1/item-1": 1, "s.1/item-2": 1, "s.1/item-3": 1},
				Phases: phases{"s": flow.Done, "b": flow.Done, "s.1/item-1": flow.Done, "s.1/item-2": flow.Done, "s.1/item-3": flow.Done},
			},
		},
		{
			Name:   "a list goes on where an item failed",
			Recipe: "name: n\ncontext: {list: [x, y]}\nsteps:\n- {id: s, foreach: list, max_parallel: 1, command: '" + FailUntil(3, "tries") + "', retry: 2}\n",
			Acts:   []Act{{Do: Reopen}},
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"s": 2, "s.1/item-1": 3, "s.1/item-2": 1},
				Phases: phases{"s": flow.Done, "s.1/item-1": flow.Done, "s.1/item-2": flow.Done},
			},
		},
		{
			Name:   "hooks come before and after a step",
			Recipe: hooks + "steps:\n- {id: a, command: test -f before}\n- {id: b, command: test -f after}\n",
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 1, "b": 1}, Phases: phases{"a": flow.Done, "b": flow.Done},
			},
		},
		{
			Name:   "a hook follows a failure",
			Recipe: hooks + "steps:\n- {id: a, command: exit 1, optional: true}\n- {id: b, command: test -f sorry}\n",
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 1, "b": 1}, Phases: phases{"a": flow.Failed, "b": flow.Done},
				Failures: kinds{"a": belay.BashFailure},
			},
		},
		{
			Name:   "what a hook does changes nothing",
			Recipe: "name: n\nhooks: {pre_step: exit 3, post_step: exit 4}\nsteps:\n- {id: a, command: exit 0}\n",
			Want:   Want{Status: belay.Achieved, Attempts: attempts{"a": 1}, Phases: phases{"a": flow.Done}},
		},
	}
}
