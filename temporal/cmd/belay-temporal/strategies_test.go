package main

// staff are the scripted agents of a play, of whom one takes over from the other, and
// the roles that they have.
const staff = "roles:\n  coder: {access: edit}\n  devops: {access: full}\n" +
	"agents:\n  worker: {kind: scripted, script: $HERE/worker.yaml}\n  other: {kind: scripted, script: $HERE/other.yaml}\n"

// strategies have a recipe for each recovery, beside those of the examples; those that
// need no agent are for the simulator, too.
func strategies() []play {
	shell := func(name, recipe, flags string) play {
		p := play{
			name: "strategy-" + name, calm: recipe, files: map[string]string{"recipe.yaml": recipe},
			commands: []string{"run \"$HERE/recipe.yaml\" -C \"$PLACE\" --id ID " + flags, "show ID"},
		}
		if flags != "" || name == "fallback" {
			p.calm = "" // it has the policy of Belay, and takes the attempts of a fallback for too many
		}
		return p
	}
	agents := func(name, recipe, worker, flags string) play {
		return play{
			name: "strategy-" + name, repo: map[string]string{"README": "x"},
			files:    map[string]string{"recipe.yaml": recipe, "worker.yaml": worker, "other.yaml": "- answer: 'yes'\n", "settings.yaml": staff},
			commands: []string{"run \"$HERE/recipe.yaml\" -C \"$PLACE\" --id ID --agent worker " + flags, "show ID"},
		}
	}
	first := func(failure string) string { return "attempts:\n- [error: {" + failure + "}]\n- [answer: 'yes']\n" }
	until := "echo x >> tries; test \"$(wc -l < tries)\" -ge 2"
	ask := "name: n\nsteps:\n- {id: a, type: agent, prompt: go, expect: answer, output: x}\n- {id: b, command: exit 0}\n"
	two := func(a string) string { return "name: n\nsteps:\n- {id: a, " + a + "}\n- {id: b, command: exit 0}\n" }
	return []play{
		shell("retry", two("command: '"+until+"', retry: {max_attempts: 3, backoff: 10ms}"), ""),
		shell("give-up", two("command: exit 3, retry: 2"), ""),
		shell("optional", two("command: exit 1, optional: true"), ""),
		shell("hold", two("command: exit 5, on_failure: escalate"), ""),
		shell("fallback", "name: n\nsteps:\n- {id: a, command: exit 5, fallback: {step: c}}\n- {id: b, command: exit 0}\n- {id: c, command: exit 0}\n", ""),
		shell("skip", two("command: 'echo some glitch; exit 1', optional: true"), "--policy classic --max-retries 1"),
		agents("retry-of-an-agent", ask, first("class: transient, status: 529, text: overloaded"), ""),
		agents("failover", ask, "- error: {class: quota, status: 429, text: used up}\n", "--staff other"),
		agents("fresh", ask, first("class: token_limit, text: too long"), ""),
		agents("reassign", "name: n\nsteps:\n- {id: a, type: agent, role: coder, prompt: go, expect: answer, output: x}\n",
			first("class: permission, text: 'permission denied: cannot write'"), ""),
		agents("resume", "name: n\nsteps:\n- {id: a, type: agent, prompt: go, expect: change}\n",
			"attempts:\n- [write: {path: half.txt, text: half}, error: {class: turn_limit, text: out of turns}]\n- [write: {path: whole.txt, text: whole}, answer: done]\n", ""),
		agents("abort", "name: n\nsteps:\n- {id: a, type: agent, prompt: go, expect: answer, output: x, needs: []}\n- {id: b, command: exit 0, needs: [a]}\n",
			"- exit: 78\n", ""),
	}
}
