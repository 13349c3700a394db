package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// agentRows are about steps that an agent does. Most are shown with the built-in
// agent that plays a script; where it matters how a CLI is called, a stand-in
// for it writes down what it is given.
func agentRows() []row {
	return append(append(callRows(), nameRows()...), endRows()...)
}

// callRows are about how an agent is called.
func callRows() []row {
	return []row{
		holds("57a", "model on an agent step", "reaches the agent; without it the agent chooses", func(p *place) {
			p.standIn("claude", claudeStandIn)
			p.run(0, "steps: [{id: a, agent: claude, model: large, prompt: p, output: v, expect: answer}]\n")
			if argv := p.content("argv"); !strings.Contains(argv, "\n--model\nlarge\n") {
				p.t.Errorf("the model is not among the arguments: %q", argv)
			}
			p.run(0, "steps: [{id: a, agent: claude, prompt: p, output: v, expect: answer}]\n")
			if argv := p.content("argv"); strings.Contains(argv, "--model") {
				p.t.Errorf("a model that nobody named: %q", argv)
			}
		}),
		holds("57b", "mode on an agent step", "has no effect", func(p *place) {
			p.played(0, "steps: [{id: a, mode: plan, prompt: p, output: v, expect: answer}]\n", "[{answer: fine}]\n")
			p.says(`r.yaml:2:17: warning: "mode" has no effect`)
		}),
		unlike("57c", "auto_stage on an agent step, or nothing about it", "everything is staged after the step: git add -A", "auto-stage", func(p *place) {
			p.command("git", "init", "-q")
			script := "[{write: {path: made.txt, text: new}}, {answer: made}]\n"
			p.played(0, "steps: [{id: a, prompt: p, expect: change}]\n", script)
			p.played(0, "steps: [{id: a, auto_stage: true, prompt: p, expect: change}]\n", strings.ReplaceAll(script, "new", "newer"))
			p.says(`"auto_stage" has no effect`, "git add -A")
			if staged := p.command("git", "diff", "--cached", "--name-only"); staged != "" {
				p.t.Errorf("staged: %q", staged)
			}
		}),
		holds("58", "an agent program that is not there", "no step runs, and it is a failure", func(p *place) {
			p.own("nowhere", "{kind: command, program: [no-such-program]}")
			p.put("r.yaml", "name: r\nsteps: [{id: a, command: 'touch ran'}, {id: b, agent: nowhere, prompt: p, output: v, expect: answer}]\n")
			p.belay(8, "run", "r.yaml")
			p.says("agent nowhere: no-such-program is not on the PATH", "hint: install it")
			if p.exists("ran") {
				p.t.Error("a step ran")
			}
		}),
		unlike("64a", "how an agent is called, and with a long prompt", "program, two dashes, options, the prompt as an argument; over 32 KiB its first 8 KiB", "agent-call", func(p *place) {
			p.standIn("claude", claudeStandIn)
			p.put(".claude/agents/core/writer.md", "You are the writer of this house.")
			p.put("big.txt", strings.Repeat("a long line of a long prompt\n", 8000)+"the end of it")
			p.run(0, "steps: [{id: big, command: 'cat big.txt', output: text}, {id: a, agent: 'core:writer', prompt: 'Read: {{text}}', output: v}, {id: b, command: 'echo {{v}}'}]\n", "--agent", "claude")
			p.printed("b", "fine\n")
			argv, stdin := p.content("argv"), p.content("stdin")
			if strings.Contains(argv, "a long line") || strings.Contains(argv, "\n--\n") {
				p.t.Errorf("arguments: %.200q", argv)
			}
			for _, part := range []string{"You are the writer of this house.", "Do not start another orchestration", "Read: " + p.content("big.txt")} {
				if !strings.Contains(stdin, part) {
					p.t.Errorf("not in what it is told: %.80q", part)
				}
			}
		}),
		holds("64b", "copilot as the agent", "is allowed all tools, unless told otherwise; a long prompt is in a file that only its owner reads", func(p *place) {
			p.standIn("copilot", copilotStandIn)
			p.own("timid", "{kind: copilot, access: read}")
			long := strings.Repeat("and more ", 20000)
			p.run(0, "context: {long: '"+long+"'}\nsteps: [{id: a, agent: copilot, prompt: 'Do it: {{long}}!', output: v}]\n")
			argv := p.content("argv")
			if !strings.Contains(argv, "--allow-all-tools\n") {
				p.t.Errorf("arguments: %.500q", argv)
			}
			wholePrompt(p, argv, "Do it: "+strings.TrimSpace(long))
			p.run(0, "steps: [{id: a, agent: timid, prompt: p, output: v, expect: answer}]\n")
			if argv := p.content("argv"); strings.Contains(argv, "--allow-all") {
				p.t.Errorf("one that may only read is allowed more: %.500q", argv)
			}
		}),
	}
}

var promptFile = regexp.MustCompile(`in the file (\S+)\. Read`)

// wholePrompt looks for a text in the file that an argument names.
func wholePrompt(p *place, argv, text string) {
	p.t.Helper()
	m := promptFile.FindStringSubmatch(argv)
	if m == nil {
		p.t.Fatalf("no file is named: %.500q", argv)
	}
	info, err := os.Stat(m[1])
	if err != nil {
		p.t.Fatal(err)
	}
	told, err := os.ReadFile(m[1])
	if err != nil {
		p.t.Fatal(err)
	}
	if info.Mode().Perm()&0o077 != 0 || !strings.Contains(string(told), text) {
		p.t.Errorf("%s (%s) does not have all of it to itself: %d bytes", m[1], info.Mode(), len(told))
	}
}

// nameRows are about who does a step.
func nameRows() []row {
	return []row{
		holds("60a", "agent references of two and three parts", "are looked up among the Markdown files of the directory and of the user", func(p *place) {
			p.put(".claude/agents/core/writer.md", "You write like nobody else.")
			p.put("amplifier-bundle/agents/core/security/reviewer.md", "You trust nobody.")
			p.played(0, "steps: [{id: a, agent: 'core:writer', prompt: p, output: v, expect: answer}, {id: b, agent: 'core:security:reviewer', prompt: p, output: w, expect: answer}, {id: c, command: 'echo {{v}}, {{w}}'}]\n",
				"cases:\n  - {when: You write like nobody else., acts: [{answer: a writer}]}\n  - {when: You trust nobody., acts: [{answer: a reviewer}]}\n")
			p.printed("c", "a writer, a reviewer\n")
			for _, file := range []string{
				".claude/agents/amplihack/core/architect.md", "amplifier-bundle/agents/specialized/architect.md",
				".claude/agents/architect.md", "../home/.amplihack/.claude/agents/amplihack/specialized/architect.md",
			} {
				p.put(file, "You draw in "+file)
				p.played(0, "steps: [{id: a, agent: 'amplihack:architect', prompt: p, output: v, expect: answer}]\n",
					"cases:\n  - {when: You draw in "+file+", acts: [{answer: drawn}]}\n")
				remove(p, file)
			}
		}),
		holds("60b", "a reference that leads to no file, also by a link that leads out", "a warning, and the step runs without a persona", func(p *place) {
			p.put("secret.md", "secret words")
			p.put(".claude/agents/core/keep", "")
			if err := os.Symlink("../../../secret.md", filepath.Join(p.dir, ".claude/agents/core/out.md")); err != nil {
				p.t.Fatal(err)
			}
			for _, name := range []string{"nobody", "out"} {
				p.played(0, "steps: [{id: a, agent: 'core:"+name+"', prompt: p, output: v, expect: answer}]\n",
					"cases:\n  - {when: secret words, acts: [{exit: 9}]}\n  - acts: [{answer: fine}]\n")
				p.says("warning: there is no persona core:" + name)
			}
		}),
		unlike("60c", "references of four parts, with an empty part, with a path in them", "a line in a log, and the step runs without a persona", "agent-references", func(p *place) {
			for _, name := range []string{"a:b:c:d", "core:", ":writer", "core:../../secret"} {
				text := "steps: [{id: a, agent: '" + name + "', prompt: p, output: v, expect: answer}]\n"
				p.validate(65, text)
				p.says("r.yaml:2:24: error:", "namespace:category:name")
				p.played(0, text, "[{answer: fine}]\n", "--compat")
				p.says("warning: ")
			}
		}),
		unlike("60d", "agent: with a word without a colon", "a line in a log, and the agent of the runner does it", "agent-names", func(p *place) {
			p.standIn("claude", claudeStandIn)
			p.run(0, "steps: [{id: a, agent: claude, prompt: p, output: v, expect: answer}]\n")
			p.run(65, "steps: [{id: a, agent: builder, prompt: p, output: v, expect: answer}]\n")
			p.says(`there is no agent "builder"`, "claude, codex")
		}),
		holds("61", "a sub-recipe that fails, and recovery_on_failure", "an agent is asked to finish what it left, unless the key is false", func(p *place) {
			p.put("sub.yaml", "name: sub\nsteps: [{id: s, prompt: p, output: v, expect: answer}, {id: look, command: test -e made}]\n")
			script := "roles: {main: [{answer: fine}], recovery: [{write: {path: made, text: x}}, {answer: it is made}]}\n"
			for _, key := range []string{"", ", recovery_on_failure: true"} {
				p.played(0, "steps: [{id: a, recipe: sub, verify: test -e made"+key+"}]\n", script)
				p.says("an agent finished what the sub-recipe left")
				p.phases("a done")
				remove(p, "made")
			}
			p.played(1, "steps: [{id: a, recipe: sub, verify: test -e made, recovery_on_failure: false}]\n", script)
			p.phases("a failed")
		}),
		unlike("62", "a recovery agent that says that it cannot be recovered, or only says that it is", "counts as recovered", "recovery-claims", func(p *place) {
			p.put("sub.yaml", "name: sub\nsteps: [{id: s, prompt: p, output: v, expect: answer}, {id: look, command: test -e made}]\n")
			script := func(answer string) string {
				return "roles: {main: [{answer: fine}], recovery: [{answer: '" + answer + "'}]}\n"
			}
			p.played(1, "steps: [{id: a, recipe: sub}]\n", script("UNRECOVERABLE: nobody can do this"))
			p.says("a/look                exit 1")
			p.phases("a failed")
			p.played(1, "steps: [{id: a, recipe: sub, verify: test -e made}]\n", script("Everything is recovered."))
			p.phases("a failed")
			p.played(5, "steps: [{id: a, recipe: sub}]\n", script("The file was there under another name: it is called done, and all is well."))
			p.says("PARTIAL", "unverified")
		}),
	}
}

var waited = regexp.MustCompile(`recovery: retry after (\S+), too many calls`)

// endRows are about how the work of an agent ends.
func endRows() []row {
	throttled := "{error: {class: rate_limit, status: 429, text: too many requests}}"
	count := "{append: {path: starts, text: x}}"
	return []row{
		unlike("65a", "an agent that meets a rate limit", "is started again by itself, up to five times", "rate-limits", func(p *place) {
			limited := "[" + count + ", " + throttled + "]"
			p.played(0, "steps: [{id: a, prompt: p, output: v, retry: 3, expect: answer}]\n", "attempts: ["+limited+", "+limited+", ["+count+", {answer: fine}]]\n")
			p.started("xxx")
			p.played(0, "steps: [{id: a, prompt: p, output: v, expect: answer}]\n", "["+count+", {answer: 'Too many requests gave a 429: the rate limit was hit. Mended.'}]\n")
			p.started("x")
			p.put("r.yaml", "name: r\nsteps: [{id: a, prompt: p, output: v, expect: answer}]\n") // its clock is fast: these waits are long
			p.belay(0, "rehearse", "r.yaml", "--inject", "a=429", "--staff", "")
			p.says("recovery: retry after ", "too many calls", "attempt 2, same session", "done by a.2")
			p.belay(0, "rehearse", "r.yaml", "--inject", "a=429:3", "--staff", "understudy")
			p.says("understudy takes over", "done by a.4")
			p.belay(8, "rehearse", "r.yaml", "--inject", "a=429:*", "--staff", "")
			p.says("too many requests (HTTP 429)", "attempts failed, and no other recovery applies")
		}),
		unlike("65b", "how long it waits before it starts an agent again after a rate limit", "1, 2, 4, 8 and 10 minutes", "rate-limit-waits", func(p *place) {
			p.put("r.yaml", "name: r\nsteps: [{id: a, prompt: p, output: v, expect: answer}]\n")
			for fault, least := range map[string]time.Duration{"a=429:1:1": 15 * time.Second, "a=429:1:90": 90 * time.Second} {
				p.belay(0, "rehearse", "r.yaml", "--inject", fault, "--staff", "")
				m := waited.FindStringSubmatch(p.out)
				if m == nil {
					p.t.Fatalf("nothing is said about a wait: %s", p.out)
				}
				if d, err := time.ParseDuration(m[1]); err != nil || d < least || d > least+time.Minute {
					p.t.Errorf("%s: it waits for %s (%v), and %s is the least", fault, d, err, least)
				}
			}
		}),
		holds("66a", "timeout on an agent step", "ends it, and it failed", func(p *place) {
			p.played(1, "steps: [{id: a, prompt: p, timeout: 1, output: v, expect: answer}]\n", "roles: {main: [hang], '*': [{exit: 1}]}\n")
			p.says("it took too long: timed out after 1s")
			p.phases("a failed")
		}),
		unlike("66c", "what an agent started in a session of its own, after its timeout", "goes on", "killing", func(p *place) {
			p.played(1, "steps: [{id: a, prompt: p, timeout: 3, output: v, expect: answer}]\n", "roles: {main: [ignore_term, {fork: {how: setsid, pid: pid}}, hang], '*': [{exit: 1}]}\n")
			if !p.exists("pid") {
				p.t.Error("nothing was started")
			}
			ended(p)
		}),
		unlike("70", "an agent that ends well and prints nothing", "is done", "hollow", func(p *place) {
			p.played(6, "steps: [{id: a, prompt: p, output: v, expect: answer}]\n", "[{answer: ''}]\n")
			p.says("there is no answer")
			p.phases("a failed")
			p.played(0, "steps: [{id: a, prompt: p, expect: none}]\n", "[{answer: ''}]\n")
			p.phases("a done")
		}),
	}
}

// jsonAgentRows are about agents whose answer must hold JSON.
func jsonAgentRows() []row {
	ask := "steps: [{id: ask, prompt: p, output: v, parse_json: true%s}, {id: see, command: 'echo {{v.k | default(\"none\")}}'}]\n"
	return []row{
		holds("37a", "parse_json and an agent that prints no JSON", "it is asked once more, with a reminder that has IMPORTANT in it; then the text stays and the step is degraded", func(p *place) {
			p.played(0, fmt.Sprintf(ask, ""), "cases:\n  - {when: IMPORTANT, acts: [{answer: {k: 2}}]}\n  - acts: [{answer: just words}]\n")
			p.printed("see", "2\n")
			words := "[{append: {path: starts, text: x}}, {answer: just words}]\n"
			p.played(0, "steps: [{id: ask, prompt: p, output: v, parse_json: true}, {id: see, command: 'echo {{v}}'}]\n", words)
			p.says("degraded")
			p.started("xx")
			p.printed("see", "just words\n")
		}),
		unlike("37d", "parse_json_required and an agent that prints no JSON", "the step fails when it was asked once more", "repairs", func(p *place) {
			p.played(1, fmt.Sprintf(ask, ", parse_json_required: true"), "[{append: {path: starts, text: x}}, {answer: just words}]\n")
			p.says("which is told what failed")
			p.started("xxxx") // asked once more, and both again as a repair
			p.phases("ask failed", "see waiting")
		}),
		unlike("37c", "how that agent is asked again", "anew, without its persona, its model and its timeout", "json-again", func(p *place) {
			p.standIn("claude", claudeStandIn)
			p.put("answer", "just words")
			p.run(0, "steps: [{id: ask, agent: claude, model: large, prompt: p, output: v, parse_json: true}]\n")
			argv, stdin := p.content("argv"), p.content("stdin")
			if !strings.Contains(argv, "\n--model\nlarge\n") || !strings.Contains(argv, "\n--resume\n") || !strings.Contains(stdin, "IMPORTANT") {
				p.t.Errorf("asked again with %q and %q", argv, stdin)
			}
		}),
	}
}

// claudeStandIn is a program in the place of Claude Code: it writes down its
// arguments and what it is told, and answers in the form of that CLI.
const claudeStandIn = `#!/bin/bash
printf '%s\n' call "$@" > argv
cat > stdin
text=fine; test ! -e answer || text=$(cat answer)
echo '{"type":"system","subtype":"init","session_id":"6d3fd1c0-0000-4000-8000-000000000001","model":"m"}'
echo '{"type":"result","subtype":"success","is_error":false,"stop_reason":"end_turn","result":"'"$text"'","session_id":"6d3fd1c0-0000-4000-8000-000000000001"}'
`

// copilotStandIn is one in the place of Copilot.
const copilotStandIn = `#!/bin/bash
printf '%s\n' call "$@" > argv
echo '{"type":"assistant.message","data":{"content":"fine"}}'
echo '{"type":"result","sessionId":"6d3fd1c0-0000-4000-8000-000000000002","exitCode":0}'
`

// standIn puts a program on the PATH.
func (p *place) standIn(name, script string) {
	p.t.Helper()
	bin := filepath.Join(p.root, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
		p.t.Fatal(err)
	}
	p.env = append(p.env, "PATH="+bin+string(os.PathListSeparator)+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// own makes an agent of the user's, in the settings.
func (p *place) own(name, entry string) {
	p.t.Helper()
	p.put(filepath.Join("..", "home", ".config", "belay", "config.yaml"), "agents:\n  "+name+": "+entry+"\n")
}

// played runs a recipe, without its name line, with an agent that plays a script.
func (p *place) played(code int, text, script string, args ...string) {
	p.t.Helper()
	p.put("script", script)
	if err := os.RemoveAll(filepath.Join(p.dir, "starts")); err != nil {
		p.t.Fatal(err)
	}
	p.run(code, text, append([]string{"--agent", "scripted:script"}, args...)...)
}

// started holds the marks that an agent made, one for each start.
func (p *place) started(marks string) {
	p.t.Helper()
	if got := p.content("starts"); got != marks {
		p.t.Errorf("it was started %d times, want %d", len(got), len(marks))
	}
}

// command runs another program.
func (p *place) command(argv ...string) string {
	p.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return string(out)
}

// TestMuteAgent shows that validate points at an agent step that does not say
// what is expected of it.
// promise: H4
func TestMuteAgent(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.validate(0, "steps:\n  - id: first\n    prompt: do it\n    output: v\n  - id: mute\n    prompt: do it\n")
	p.says("r.yaml:6:5: warning: a change of files is expected of this agent, because its step does not say what to expect\n    - id: mute\n      ^\nhint: say so with expect: change, or give it expect:, verify: or output:")
	p.validate(0, "compat: true\nsteps: [{id: mute, prompt: do it}]\n")
	p.says("warning: nothing tells whether this agent did anything")
	for _, key := range []string{"expect: none", "verify: test -e made", "output: w", "outputs: {w: {file: made}}"} {
		p.validate(0, "steps: [{id: mute, prompt: do it, "+key+"}]\n")
		if strings.Contains(p.out, "is expected of this agent") {
			t.Errorf("%s: %s", key, p.out)
		}
	}
}
