package belaytest

import (
	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
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
			Name: "a function is called, and its result is a value",
			Recipe: "name: n\ncontext: {list: [One, Two]}\nsteps:\n- {id: a, command: 'echo \"Fix It\"', output: x}\n" +
				"- {id: b, call: branch-name, with: {text: '{{x}}', issue: 3}, output: y}\n" +
				"- {id: c, command: exit 0, condition: \"y.branch == 'feat/issue-3-fix-it'\"}\n" +
				"- {id: s, foreach: list, call: branch-name, with: {text: '{{item}}'}, output: z}\n" +
				"- {id: d, command: exit 0, condition: \"z[1].slug == 'two'\"}\n",
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 1, "b": 1, "c": 1, "s": 1, "s.1/item-1": 1, "s.1/item-2": 1, "d": 1},
				Phases: phases{"a": flow.Done, "b": flow.Done, "c": flow.Done, "s": flow.Done, "s.1/item-1": flow.Done, "s.1/item-2": flow.Done, "d": flow.Done},
			},
		},
		{
			Name: "a function that cannot use its input fails once",
			Recipe: "name: n\ncontext: {n: many}\nsteps:\n" +
				"- {id: a, call: branch-name, with: {text: x, issue: '{{n}}'}, output: y, optional: true}\n- {id: b, command: exit 0}\n",
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 1, "b": 1}, Phases: phases{"a": flow.Failed, "b": flow.Done},
				Failures: kinds{"a": belay.BashFailure},
			},
		},
		{
			Name:   "an item waits for those that it needs",
			Recipe: "name: n\ncontext: {list: [{id: b, needs: [a]}, {id: a}]}\nsteps:\n- {id: s, foreach: list, command: '" + FailUntil(2, "tries") + "'}\n",
			Acts:   []Act{{Do: Reopen}},
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"s": 2, "s.1/item-1": 1, "s.1/item-2": 2},
				Phases: phases{"s": flow.Done, "s.1/item-1": flow.Done, "s.1/item-2": flow.Done},
			},
		},
		{
			Name:   "an item whose need failed is not started",
			Recipe: "name: n\ncontext: {list: [{id: a}, {id: b, needs: [a]}, {id: c}]}\nsteps:\n- {id: s, foreach: list, optional: true, command: exit 3}\n- {id: t, command: exit 0}\n",
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"s": 1, "s.1/item-1": 1, "s.1/item-3": 1, "t": 1},
				Phases:   phases{"s": flow.Failed, "s.1/item-1": flow.Failed, "s.1/item-2": flow.Failed, "s.1/item-3": flow.Failed, "t": flow.Done},
				Failures: kinds{"s": belay.RecipeFailure, "s.1/item-1": belay.BashFailure, "s.1/item-2": belay.RecipeFailure, "s.1/item-3": belay.BashFailure},
			},
		},
		{
			Name:   "rounds until a condition holds",
			Recipe: "name: n\nsteps:\n- {id: s, command: 'echo \"$ROUND\"', output: out, repeat: {max: 4, until: last.output == 2}}\n- {id: b, command: exit 0, condition: \"out.output == 2 and out.round == 2 and out.stopped == 'until' and len(out.rounds) == 2\"}\n",
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"s": 1, "b": 1, "s.1/round-1": 1, "s.1/round-2": 1},
				Phases: phases{"s": flow.Done, "b": flow.Done, "s.1/round-1": flow.Done, "s.1/round-2": flow.Done, "s.1/round-3": flow.NotTaken, "s.1/round-4": flow.NotTaken},
			},
		},
		{
			Name:   "a round that fails is followed by the next",
			Recipe: "name: n\nsteps:\n- {id: s, command: '" + FailUntil(2, "tries") + "', repeat: {max: 3}}\n",
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"s": 1, "s.1/round-1": 1, "s.1/round-2": 1},
				Phases: phases{"s": flow.Done, "s.1/round-1": flow.Failed, "s.1/round-2": flow.Done, "s.1/round-3": flow.NotTaken}, Failures: kinds{"s.1/round-1": belay.BashFailure},
			},
		},
		{
			Name:   "all rounds are used up",
			Recipe: "name: n\nsteps:\n- {id: s, command: 'echo \"$ROUND\"', output: out, repeat: {max: 2, until: last.output == 9}}\n",
			Want: Want{
				Status: belay.Failed, Code: exit.Failed, Failure: belay.RecipeFailure, Attempts: attempts{"s": 1, "s.1/round-1": 1, "s.1/round-2": 1},
				Phases: phases{"s": flow.Failed, "s.1/round-1": flow.Done, "s.1/round-2": flow.Done}, Failures: kinds{"s": belay.RecipeFailure},
			},
		},
		{
			Name:   "a recipe says how it ends",
			Recipe: "name: n\nends: out\nsteps:\n- {id: s, command: 'echo \"NOT_ACHIEVED -- nothing\"', output: out}\n",
			Want: Want{
				Status: belay.NotAchieved, Code: exit.Failed, Failure: belay.RecipeFailure, Attempts: attempts{"s": 1}, Phases: phases{"s": flow.Done},
			},
		},
		{
			Name:   "a recipe cannot call itself better than it is",
			Recipe: "name: n\nends: ACHIEVED\nsteps:\n- {id: s, command: exit 3}\n",
			Want: Want{
				Status: belay.Failed, Code: exit.Failed, Failure: belay.BashFailure, Attempts: attempts{"s": 1}, Phases: phases{"s": flow.Failed}, Failures: kinds{"s": belay.BashFailure},
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
