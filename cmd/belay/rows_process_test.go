package main_test

import (
	"os/exec"
	"strings"
	"syscall"
)

func processRows() []row {
	return []row{
		holds("63a", "timeout on a bash step", "ends it, and it failed", func(p *place) {
			p.run(1, "steps: [{id: a, command: 'sleep 600', timeout: 1}]\n")
			p.says("timed out")
			p.phases("a failed")
		}),
		holds("63b", "a script of more than 64 KiB", "is fine", func(p *place) {
			p.run(0, "steps:\n  - id: a\n    command: |\n"+strings.Repeat("      : "+strings.Repeat("x", 90)+"\n", 1000)+"      echo end\n")
			p.printed("a", "end\n")
		}),
		holds("63c", "what a script finds in its environment", "HOME and PATH; no CLAUDECODE; the depth and the id of the tree of sessions", func(p *place) {
			p.env = append(p.env, "CLAUDECODE=1")
			p.run(0, "steps: [{id: a, command: 'echo ${HOME:+home} ${PATH:+path} [${CLAUDECODE-}] $AMPLIHACK_SESSION_DEPTH ${AMPLIHACK_TREE_ID:+tree}'}]\n")
			p.printed("a", "home path [] 0 tree\n")
		}),
		unlike("66b", "what a step started in the background, after its timeout", "goes on", "killing", func(p *place) {
			p.run(1, "steps: [{id: a, timeout: 1, command: 'setsid bash -c \"trap : TERM; echo \\$\\$ > pid; while :; do sleep 1; done\" & wait'}]\n")
			ended(p)
		}),
		unlike("67", "SIGTERM to the runner", "leaves what it started running; nothing can be continued", "stopping", func(p *place) {
			p.put("r.yaml", "name: r\nsteps: [{id: a, command: 'echo once >> log'}, {id: b, command: 'test -e go && exit 0; echo $$ > pid; exec sleep 600'}]\n")
			p.runs++
			cmd := exec.Command(program, "run", "r.yaml", "--id", p.id())
			cmd.Dir, cmd.Env = p.dir, p.env
			if err := cmd.Start(); err != nil {
				p.t.Fatal(err)
			}
			if err := until("step b to begin", func() bool { return p.exists("pid") }); err != nil {
				p.t.Error(err)
			}
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				p.t.Fatal(err)
			}
			if code := codeOf(cmd.Wait()); code != 143 {
				p.t.Errorf("exit code %d, want 143", code)
			}
			ended(p)
			p.put("go", "")
			p.belay(0, "resume", p.id())
			if got := p.content("log"); got != "once\n" {
				p.t.Errorf("the first step ran again: %q", got)
			}
		}),
		unlike("68", "what a failed script printed", "is lost", "failed-output", func(p *place) {
			p.run(1, "steps: [{id: a, command: 'echo some evidence; exit 1'}]\n")
			p.printed("a", "some evidence\n")
		}),
		unlike("69", "a relative working_dir, and -C", "counts from where the runner was started", "working-dir", func(p *place) {
			p.put("there/sub/mark", "here")
			p.run(0, "context: {d: sub}\nsteps: [{id: a, working_dir: '{{d}}', command: 'cat mark'}]\n", "-C", "there")
			p.printed("a", "here")
		}),
	}
}

// ended checks that nothing is left of what a run started.
func ended(p *place) {
	p.t.Helper()
	if err := nothingLeft(p.root); err != nil {
		p.t.Error(err)
	}
}

func wrapperRows() []row {
	return []row{
		hasNot("71", "commands that register and complete sessions by hand", "keep a file with the tree of sessions", "Belay registers its own runs; `belay tree` shows them."),
		holds("72", "a runner inside a step, beyond the limit of depth; a depth that is no number", "is refused before it starts", func(p *place) {
			p.put("r.yaml", "name: r\n"+oneStep)
			for _, depth := range []string{"3", "999999", "lots"} {
				p.env = append(p.env, "AMPLIHACK_SESSION_DEPTH="+depth)
				p.belay(1, "run", "r.yaml")
				p.says("recursion_limit")
			}
		}),
		unlike("73a", "processes that are left over when a run has ended", "the wrapper ends those of its own group", "killing", func(p *place) {
			p.run(0, "steps: [{id: a, command: '(echo $BASHPID > pid; exec sleep 600) > /dev/null 2>&1 & until test -s pid; do read -t 0.01 < /dev/zero || true; done'}]\n")
			ended(p)
		}),
		hasNot("73b", "core.bare of the caller's repository after a failure", "is put back", "Belay does not change the settings of a repository."),
		hasNot("74", "a runner that prints nothing, or no JSON", "the wrapper makes it a failure", "There is no second program between you and the run: its end is in the journal."),
		unlike("75", "JSON between words: several blocks, one of them broken, brackets in texts", "a second program looks for it, fenced blocks first", "json-first", func(p *place) {
			p.put("text.txt", "a {broken\n```\n{no}\n```\n```json\n{\"k\": \"}{\"}\n```\n")
			p.run(0, "steps: [{id: say, command: 'cat text.txt', output: v, parse_json: true}, {id: see, command: 'echo {{v.k}}'}]\n")
			p.printed("see", "}{\n")
		}),
	}
}
