package belaytest

import (
	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/flow"
)

type names = map[string]string

// agents: steps that an agent does.
func agents() []Case {
	needs := []Ability{Agents}
	alone := func(script string) []Agent { return []Agent{{"worker", script}} }
	return []Case{
		{
			Name: "an agent changes files", Needs: needs, Repo: texts{"f": "before\n"},
			Recipe: "name: n\nsteps:\n- {id: a, type: agent, prompt: go, expect: change, verify: grep -q after f}\n",
			Agents: alone("- write: {path: f, text: \"after\\n\"}\n- answer: made it\n"),
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 1}, Phases: phases{"a": flow.Done},
				Agents: names{"a": "worker"}, Files: texts{"f": "after\n"},
			},
		},
		{
			Name: "an agent's answer is the output of its step", Needs: needs,
			Recipe: "name: n\ncontext: {who: me}\nsteps:\n" +
				"- {id: a, type: agent, prompt: 'greet {{who}}', expect: answer, output: x}\n" +
				"- {id: b, command: exit 0, condition: \"x == 'hello me'\"}\n",
			Agents: alone("cases:\n- {when: greet me, acts: [answer: hello me]}\n- {acts: [answer: hello nobody]}\n"),
			Want: Want{
				Status: belay.Achieved, Vars: texts{"x": "hello me"}, Attempts: attempts{"a": 1, "b": 1},
				Phases: phases{"a": flow.Done, "b": flow.Done}, Agents: names{"a": "worker"},
			},
		},
		{
			Name: "an agent claims what it did not do", Needs: needs, Repo: texts{"f": "before\n"},
			Recipe: "name: n\nsteps:\n- {id: a, type: agent, prompt: go, expect: change}\n",
			Agents: alone("- hollow: everything is done and all tests pass\n"),
			Want: Want{
				Status: belay.Hollow, Code: exit.Hollow, Failure: belay.HollowSuccess,
				Failures: kinds{"a": belay.HollowSuccess}, Attempts: attempts{"a": 2}, Phases: phases{"a": flow.Failed},
				Files: texts{"f": "before\n"},
			},
		},
		{
			Name: "another agent takes over", Needs: needs,
			Recipe: "name: n\nsteps:\n- {id: a, type: agent, prompt: go, expect: answer, output: x}\n",
			Agents: []Agent{{"worker", "- error: {class: quota, status: 402, text: no credit}\n"}, {"relief", "- answer: done by another\n"}},
			Want: Want{
				Status: belay.Achieved, Vars: texts{"x": "done by another"}, Attempts: attempts{"a": 2}, Phases: phases{"a": flow.Done},
				Agents: names{"a": "relief"},
			},
		},
		{
			Name: "an agent is stopped, and its step begins again", Needs: needs, Repo: texts{"f": "before\n"},
			Recipe: "name: n\nsteps:\n- {id: a, type: agent, prompt: go, expect: change}\n- {id: b, command: exit 0}\n",
			Agents: alone("attempts:\n- [run: touch first, hang]\n- [write: {path: f, text: \"after\\n\"}, answer: made it]\n"),
			Acts:   []Act{{Do: Stop, After: "first"}, {Do: Resume}},
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 2, "b": 1}, Phases: phases{"a": flow.Done, "b": flow.Done},
				Files: texts{"f": "after\n"},
			},
		},
		{
			Name: "an agent outlives its driver", Needs: needs, Repo: texts{"f": "before\n"},
			Recipe: "name: n\nsteps:\n- {id: a, type: agent, prompt: go, expect: change, once: true}\n",
			Agents: alone("- run: 'echo x >> starts; until [ -e go ]; do sleep 0.02; done'\n- write: {path: f, text: \"after\\n\"}\n- answer: made it\n"),
			Acts:   []Act{{Do: KillDriver, After: "starts"}, {Do: Resume}, {Do: Touch, File: "go", Seen: attached(2)}},
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 1}, Phases: phases{"a": flow.Done},
				Files: texts{"f": "after\n", "starts": "x\n"},
			},
			Also: found(fault.Adopted),
		},
	}
}

// helpers: agents that are called when a step failed.
func helpers() []Case {
	needs := []Ability{Agents, Helpers}
	const tests = `echo '--- FAIL: TestIt (0.00s)' >&2; echo '    it_test.go:7: wrong' >&2; echo FAIL >&2; exit 1`
	return []Case{
		{
			Name: "an agent repairs what made a step fail", Needs: needs, Repo: texts{"f": "broken\n"},
			Recipe: "name: n\nsteps:\n- id: a\n  command: |\n    grep -q mended f && exit 0\n    " + tests + "\n",
			Agents: []Agent{{"worker", "roles:\n  repair:\n  - write: {path: f, text: \"mended\\n\"}\n  - answer: mended\n"}},
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 2}, Phases: phases{"a": flow.Done},
				Helpers: attempts{"a@repair": 1}, Files: texts{"f": "mended\n"},
			},
		},
		{
			Name: "an agent finishes what a sub-recipe left", Needs: needs, Repo: texts{"f": "half\n"},
			Recipe: "name: n\nsteps:\n- {id: s, recipe: sub, output: x, verify: grep -q whole f}\n",
			Subs:   texts{"sub": "name: sub\nsteps:\n- {id: a, command: exit 3}\n- {id: b, command: exit 0}\n"},
			Agents: []Agent{{"worker", "roles:\n  recovery:\n  - write: {path: f, text: \"whole\\n\"}\n  - answer: finished\n"}},
			Want: Want{
				Status: belay.Achieved, Vars: texts{"x": "finished"}, Attempts: attempts{"s": 1, "s.1/a": 1},
				Phases:  phases{"s": flow.Done, "s.1/a": flow.Failed, "s.1/b": flow.Waiting},
				Helpers: attempts{"s@recovery": 1, "s@verify": 1}, Files: texts{"f": "whole\n"},
			},
		},
		{
			Name: "an agent cannot finish what a sub-recipe left", Needs: needs, Repo: texts{"f": "half\n"},
			Recipe: "name: n\nsteps:\n- {id: s, recipe: sub, output: x}\n",
			Subs:   texts{"sub": "name: sub\nsteps:\n- {id: a, command: exit 3}\n"},
			Agents: []Agent{{"worker", "- answer: 'UNRECOVERABLE: there is no network'\n"}},
			Want: Want{
				Status: belay.Failed, Code: exit.Failed, Failure: belay.RecipeFailure, Attempts: attempts{"s": 1, "s.1/a": 1},
				Phases: phases{"s": flow.Failed, "s.1/a": flow.Failed}, Helpers: attempts{"s@recovery": 1},
			},
		},
		{
			Name: "a task that is too big is split", Needs: needs, Repo: texts{"f": "before\n"},
			Recipe: "name: n\nsteps:\n- {id: a, type: agent, prompt: write two files, expect: change, verify: test -f one && test -f two}\n",
			Agents: []Agent{{"worker", "roles:\n" +
				"  plan:\n  - answer: {parts: [{title: first, task: write the first file, files: [one]}, {title: second, task: write the second file, files: [two]}]}\n" +
				"  main:\n    steps:\n      a: [error: {class: token_limit, text: prompt is too long}]\n" +
				"      part-1: [write: {path: one, text: \"1\\n\"}, answer: one]\n" +
				"      part-2: [write: {path: two, text: \"2\\n\"}, answer: two]\n"}},
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 3, "a.3/part-1": 1, "a.3/part-2": 1},
				Phases:  phases{"a": flow.Done, "a.3/part-1": flow.Done, "a.3/part-2": flow.Done},
				Helpers: attempts{"a@plan": 1, "a@verify": 1}, Files: texts{"one": "1\n", "two": "2\n"},
			},
		},
	}
}

// trees: agents that work at the same time, and what comes of their work.
func trees() []Case {
	needs := []Ability{Agents, Worktrees}
	recipe := "name: n\nsteps:\n" +
		"- {id: a, type: agent, prompt: go, expect: change, parallel_group: g}\n" +
		"- {id: b, type: agent, prompt: go, expect: change, parallel_group: g, on_failure: escalate}\n"
	const later = `until grep -q one "$(git rev-parse --path-format=absolute --git-common-dir)/../f"; do sleep 0.02; done; ` // the other's work is merged first
	return []Case{
		{
			Name: "the work of two agents is merged", Needs: needs, Repo: texts{"f": "1\n\n\n\n2\n"}, Recipe: recipe,
			Agents: []Agent{{"worker", "steps:\n  a: [run: sed -i s/1/one/ f, answer: one]\n  b: [run: sed -i s/2/two/ f, answer: two]\n"}},
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 1, "b": 1}, Phases: phases{"a": flow.Done, "b": flow.Done},
				Helpers: attempts{"a@merge": 1, "b@merge": 1}, Files: texts{"f": "one\n\n\n\ntwo\n"},
			},
		},
		{
			Name: "the work of two agents conflicts, and an agent resolves it", Needs: append(needs, Helpers),
			Repo: texts{"f": "1\n"}, Recipe: recipe,
			Agents: []Agent{{"worker", "roles:\n" +
				"  repair: [run: grep -q '<<<<<<<' f && echo one and two > f, answer: both]\n" +
				"  main:\n    steps:\n      a: [run: echo one > f, answer: one]\n      b: [run: '" + later + "echo two > f', answer: two]\n"}},
			Want: Want{
				Status: belay.Achieved, Attempts: attempts{"a": 1, "b": 1}, Phases: phases{"a": flow.Done, "b": flow.Done},
				Helpers: attempts{"a@merge": 1, "b@merge": 2, "b@repair": 1}, Files: texts{"f": "one and two\n"},
			},
		},
		{
			Name: "the work of two agents conflicts, and a person is asked", Needs: append(needs, Helpers),
			Repo: texts{"f": "1\n"}, Recipe: recipe,
			Agents: []Agent{{"worker", "roles:\n" +
				"  repair: [write: {path: other, text: x}, answer: no idea]\n" +
				"  main:\n    steps:\n      a: [run: echo one > f, answer: one]\n      b: [run: '" + later + "echo two > f', answer: two]\n"}},
			Want: Want{
				Status: belay.Held, Code: exit.Held, Attempts: attempts{"a": 1, "b": 1}, Phases: phases{"a": flow.Done, "b": flow.Held},
				Files: texts{"f": "one\n"},
			},
		},
	}
}
