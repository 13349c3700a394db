package main_test

import (
	"encoding/json"
	"strings"
)

func commandRows() []row {
	const talk = "steps: [{id: a, command: 'echo hi'}, {id: b, command: 'true', condition: 'no'}]\ncontext: {no: false}\n"
	return []row{
		unlike("13", "the exit code", "0 done, 1 failed, 2 a file or usage that is wrong, 3 not found, 4 no recipe given", "exit-codes", func(p *place) {
			p.run(0, oneStep)
			p.run(1, "steps: [{id: a, command: 'false'}]\n")
			p.put("bad.yaml", "name: [\n")
			p.belay(65, "run", "bad.yaml")
			p.belay(65, "run", "./nowhere.yaml")
			p.belay(65, "run", "nowhere")
			p.says("not found")
			p.belay(64, "run")
			p.belay(64, "run", "--no-such-flag")
		}),
		unlike("14a", "--version, --explain, --validate-only, list", "are options and a command of the runner", "command-line", func(p *place) {
			p.belay(0, "version")
			p.put("r.yaml", "name: r\n"+oneStep)
			p.belay(0, "explain", "r.yaml")
			p.says("1. a ")
			p.belay(0, "validate", "r.yaml")
			p.belay(0, "recipes")
			p.says("r ")
		}),
		holds("14b", "a name and -R", "finds the recipe in that directory", func(p *place) {
			p.put("shelf/box.yaml", "name: box\n"+oneStep)
			p.start(0, "box", "-R", "shelf")
		}),
		holds("15", "--set", "true, True, 42, -7, 1.23, lists and objects are typed; TRUE and quoted text stay as they are; split at the first =; empty is fine", func(p *place) {
			for text, want := range map[string]string{
				"true": "true", "True": "true", "False": "false", "TRUE": `"TRUE"`, "42": "42", "-7": "-7", "1.23": "1.23",
				`{"a":1}`: `{"a":1}`, "[1]": "[1]", `"hello"`: `"\"hello\""`, "b=c": `"b=c"`, "": `""`, "null": "null", "007": `"007"`,
			} {
				p.belay(0, "expr", "--value", "a", "--set", "a="+text)
				if got := strings.TrimSpace(p.out); got != want {
					p.t.Errorf("--set a=%s is %s, want %s", text, got, want)
				}
			}
		}),
		holds("16", "--include-tags and --exclude-tags", "choose among the steps that have when_tags; the others run", func(p *place) {
			const text = "steps: [{id: q, command: 'true', when_tags: [fast]}, {id: s, command: 'true', when_tags: [slow]}, {id: p, command: 'true'}]\n"
			p.run(0, text, "--include-tags", "fast")
			p.phases("q done", "s not_taken", "p done")
			p.run(0, text, "--exclude-tags", "slow")
			p.phases("q done", "s not_taken", "p done")
		}),
		holds("17a", "--dry-run", "starts nothing, in groups neither, and ends well", func(p *place) {
			p.put("r.yaml", "name: r\nsteps: [{id: a, parallel_group: g, command: 'touch ran'}, {id: b, parallel_group: g, command: 'touch ran'}]\n")
			p.belay(0, "run", "--dry-run", "r.yaml")
			p.standIn("claude", claudeStandIn)
			p.put("r.yaml", "name: r\nsteps: [{id: a, agent: claude, prompt: p, parse_json: true, output: v}, {id: b, agent: claude, prompt: '{{v}}', output: w}]\n")
			p.belay(0, "run", "--dry-run", "r.yaml")
			if p.exists("ran") || p.exists("argv") {
				p.t.Error("a step ran")
			}
		}),
		unlike("17b", "--dry-run and what steps would print", "every step is skipped; outputs hold a text that says so", "dry-run", func(p *place) {
			p.put("r.yaml", "name: r\nsteps: [{id: a, command: 'echo 1', output: n}, {id: b, command: 'true', condition: 'n == 1'}]\n")
			p.belay(0, "run", "--dry-run", "r.yaml")
			p.says("taken", "depends", "output of a")
		}),
		unlike("18", "hooks in a dry run", "run", "hooks-dry", func(p *place) {
			p.put("r.yaml", "name: r\nhooks: {pre_step: touch ran}\n"+oneStep)
			p.belay(0, "run", "--dry-run", "r.yaml")
			if p.exists("ran") {
				p.t.Error("a hook ran")
			}
		}),
		holds("19", "a run", "progress is on stderr only", func(p *place) {
			p.run(0, talk)
			if strings.Contains(p.out, "hi") || !strings.Contains(p.err, "done      a") || !strings.Contains(p.err, "not taken b") {
				p.t.Errorf("stdout %q, stderr %q", p.out, p.err)
			}
		}),
		unlike("20", "--audit-dir", "a file with one line of JSON for each step", "command-line", func(p *place) {
			p.run(1, "steps: [{id: a, command: 'echo hi'}, {id: b, command: 'exit 3'}]\n")
			p.phases("a done", "b failed")
			p.belay(0, "show", p.id(), "--records")
			p.says(`"kind":"run.started"`, `"kind":"attempt.ended"`, `"kind":"run.ended"`)
			p.belay(0, "audit", p.id())
		}),
		unlike("21", "--output-format json", "one object with the name, the results, the context and the duration", "command-line", func(p *place) {
			p.run(0, oneStep, "--json")
			for _, line := range strings.Split(strings.TrimSpace(p.out), "\n") {
				if !json.Valid([]byte(line)) {
					p.t.Errorf("no JSON: %s", line)
				}
			}
			p.says(`"kind":"run.started"`, `"kind":"run.ended"`)
		}),
		unlike("22a", "an output format that does not exist", "text", "command-line", func(p *place) {
			p.put("r.yaml", "name: r\n"+oneStep)
			p.belay(64, "run", "r.yaml", "--output-format", "xml")
		}),
		unlike("22b", "--set without =", "a warning", "set-malformed", func(p *place) {
			p.put("r.yaml", "name: r\n"+oneStep)
			p.belay(64, "run", "r.yaml", "--set", "oops")
			p.says("no =")
		}),
		unlike("22c", "variables of the environment that are called like keys of the context", "fill those that are empty", "context-environment", func(p *place) {
			p.env = append(p.env, "AMPLIHACK_CONTEXT_GOAL=theirs", "AMPLIHACK_TASK_DESCRIPTION=theirs")
			const show = "context: {goal: '', task_description: ''}\nsteps: [{id: a, command: 'echo \"[{{goal}}][{{task_description}}]\"'}]\n"
			p.run(0, show)
			p.printed("a", "[][]\n")
			p.run(0, show, "--var-env", "goal=AMPLIHACK_CONTEXT_GOAL")
			p.printed("a", "[theirs][]\n")
		}),
		unlike("22d", "text on standard input", "is read by agents", "standard-input", func(p *place) {
			p.in = strings.NewReader("not for a step\n")
			p.run(0, "steps: [{id: a, command: 'wc -c'}]\n")
			p.printed("a", "0\n")
		}),
		unlike("22e", "a new version of it", "is looked for at each start, and installed by update", "self-update", func(p *place) {
			p.belay(64, "update")
			p.says("unknown command")
		}),
		unlike("22f", "a run that failed", "begins anew", "failed-again", func(p *place) {
			p.run(1, "steps: [{id: a, command: 'echo done >> log'}, {id: b, command: 'test -e up'}]\n")
			p.put("up", "")
			p.belay(0, "resume", p.id())
			p.put("r.yaml", "name: r\nsteps: [{id: c, command: cat log}]\n")
			p.start(0, "r.yaml")
			p.printed("c", "done\n")
		}),
	}
}
