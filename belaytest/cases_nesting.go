package belaytest

import (
	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
)

// nesting: recipes that call recipes.
func nesting() []Case {
	call := func(more string) string { return "name: n\nsteps:\n- {id: s, recipe: sub" + more + "}\n" }
	return []Case{
		{
			Name:   "context goes down, outputs come up",
			Recipe: "name: n\ncontext: {who: me, greeting: ''}\nsteps:\n- {id: s, recipe: sub, context: {name: 'dear {{who}}'}}\n- {id: b, command: exit 0, condition: \"greeting == 'dear me'\"}\n",
			Subs:   texts{"sub": "name: sub\ncontext: {name: nobody}\nsteps:\n- {id: a, command: 'echo \"$NAME\"', output: greeting}\n"},
			Want: Want{
				Status: belay.Achieved, Vars: texts{"greeting": "dear me"}, Attempts: attempts{"s": 1, "b": 1, "s.1/a": 1},
				Phases: phases{"s": flow.Done, "b": flow.Done, "s.1/a": flow.Done},
			},
		},
		{
			Name: "a failure inside", Recipe: call(""),
			Subs: texts{"sub": "name: sub\nsteps:\n- {id: a, command: exit 1}\n"},
			Want: Want{
				Status: belay.Failed, Code: exit.Failed, Failure: belay.RecipeFailure,
				Failures: kinds{"s": belay.RecipeFailure, "s.1/a": belay.BashFailure},
				Attempts: attempts{"s": 1, "s.1/a": 1}, Phases: phases{"s": flow.Failed, "s.1/a": flow.Failed},
			},
		},
		{
			Name: "a second attempt is a second child", Recipe: call(", retry: 2"),
			Subs: texts{"sub": "name: sub\nsteps:\n- {id: a, command: '" + FailUntil(2, "tries") + "'}\n"},
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"s": 2, "s.1/a": 1, "s.2/a": 1},
				Phases: phases{"s": flow.Done, "s.1/a": flow.Failed, "s.2/a": flow.Done},
			},
		},
		{
			Name: "a child that takes too long", Recipe: call(", timeout: 300ms"),
			Subs: texts{"sub": "name: sub\nsteps:\n- {id: a, command: sleep 60}\n"},
			Want: Want{
				Status: belay.Failed, Code: exit.Failed, Failure: belay.RecipeFailure,
				Attempts: attempts{"s": 1, "s.1/a": 1}, Phases: phases{"s": flow.Failed, "s.1/a": flow.Waiting},
			},
		},
		{
			Name: "a failed run goes on inside its child", Recipe: call(""),
			Subs: texts{"sub": "name: sub\nsteps:\n- {id: a, command: exit 0}\n- {id: b, command: '" + FailUntil(2, "tries") + "'}\n"},
			Acts: []Act{{Do: Reopen}},
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"s": 2, "s.1/a": 1, "s.1/b": 2},
				Phases: phases{"s": flow.Done, "s.1/a": flow.Done, "s.1/b": flow.Done},
			},
		},
		{
			Name:   "nested too deep",
			Recipe: "name: n\nrecursion: {max_depth: 1}\nsteps:\n- {id: s, recipe: sub}\n",
			Subs: texts{
				"sub":  "name: sub\nsteps:\n- {id: t, recipe: deep}\n",
				"deep": "name: deep\nsteps:\n- {id: a, command: exit 0}\n",
			},
			Want: Want{
				Status: belay.Failed, Code: exit.Failed, Failure: belay.RecipeFailure,
				Failures: kinds{"s": belay.RecipeFailure, "s.1/t": belay.RecursionLimit},
				Attempts: attempts{"s": 1}, Phases: phases{"s": flow.Failed, "s.1/t": flow.Failed},
			},
		},
		{
			Name:   "too many nested steps",
			Recipe: "name: n\nrecursion: {max_total_steps: 2}\nsteps:\n- {id: s, recipe: sub}\n",
			Subs:   texts{"sub": "name: sub\nsteps:\n- {id: a, command: exit 0}\n- {id: b, command: exit 0}\n- {id: c, command: exit 0}\n"},
			Want: Want{
				Status: belay.Failed, Code: exit.Failed, Failure: belay.RecipeFailure,
				Failures: kinds{"s": belay.RecipeFailure, "s.1/c": belay.RecursionLimit},
				Attempts: attempts{"s": 1, "s.1/a": 1, "s.1/b": 1},
				Phases:   phases{"s": flow.Failed, "s.1/a": flow.Done, "s.1/b": flow.Done, "s.1/c": flow.Failed},
			},
		},
	}
}
