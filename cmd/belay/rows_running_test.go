package main_test

import (
	"os"
	"path/filepath"
	"strings"
)

func runningRows() []row {
	return []row{
		holds("49a", "a step that fails", "no later step runs", func(p *place) {
			p.run(1, "steps: [{id: a, command: 'true'}, {id: b, command: 'exit 3'}, {id: c, command: 'touch ran'}]\n")
			p.phases("a done", "b failed", "c waiting")
			if p.exists("ran") {
				p.t.Error("a later step ran")
			}
		}),
		holds("49b", "continue_on_error, nonfatal, or fatal: false", "the failure is kept, later steps run, the run succeeds", func(p *place) {
			for _, key := range []string{"continue_on_error: true", "nonfatal: true", "fatal: false"} {
				p.run(0, "steps: [{id: a, command: 'exit 3', "+key+"}, {id: b, command: 'true'}]\n")
				p.phases("a failed", "b done")
			}
		}),
		holds("50a", "the message of a failed script", "has the exit code and what it wrote to stderr", func(p *place) {
			p.run(1, "steps: [{id: a, command: 'echo went wrong >&2; exit 3'}]\n")
			p.says("exit 3", "went wrong")
		}),
		holds("50b", "the message of a failed sub-recipe", "names its step, with what that wrote", func(p *place) {
			p.put("c.yaml", "name: c\nsteps: [{id: inner, command: 'echo went wrong >&2; exit 4'}]\n")
			p.run(1, "steps: [{id: call, recipe: c}]\n")
			p.says("inner", "exit 4", "went wrong")
		}),
		unlike("51", "max_total_steps: 3 and a recipe of 4 steps", "the fourth fails", "step-limit", func(p *place) {
			four := "steps: [{id: a, command: 'true'}, {id: b, command: 'true'}, {id: c, command: 'true'}, {id: d, command: 'true'}]\n"
			p.run(0, "recursion: {max_total_steps: 3}\n"+four)
			p.put("c.yaml", "name: c\nrecursion: {max_total_steps: 100}\n"+four)
			p.run(1, "recursion: {max_total_steps: 3}\nsteps: [{id: call, recipe: c}]\n")
			p.says("limit is 3")
		}),
		holds("52", "a recipe that calls itself", "fails below the sixth level", func(p *place) {
			p.run(1, "context: {more: true}\nsteps: [{id: again, recipe: r, condition: more}]\n")
			p.says("would be nested", "limit is 6")
		}),
		holds("53a", "where a sub-recipe is found", "in -R, beside the recipe, in amplifier-bundle/recipes of the directory and of those above it up to .git", func(p *place) {
			box := "name: box\nsteps: [{id: x, command: 'true'}]\n"
			for _, where := range []string{"shelf/box.yaml", "in/box.yaml", "top/deep/amplifier-bundle/recipes/box.yaml", "top/amplifier-bundle/recipes/box.yaml"} {
				p.put("top/.git/HEAD", "")
				p.put("in/call.yaml", "name: call\nsteps: [{id: a, recipe: box}]\n")
				p.put("top/deep/file", "")
				p.put(where, box)
				p.start(0, "in/call.yaml", "-R", "shelf", "-C", "top/deep")
				remove(p, where)
			}
			p.belay(65, "run", "in/call.yaml", "-R", "shelf", "-C", "top/deep")
			p.says(`no recipe named "box"`)
			p.belay(65, "run", "box", "-R", "shelf", "-C", "top/deep")
			p.says("shelf", "top/deep/amplifier-bundle/recipes", "top/amplifier-bundle/recipes")
		}),
		holds("53b", "a sub-recipe named with dots or a slash, or a link that leads out", "is refused", func(p *place) {
			p.put("c.yaml", "name: c\n"+oneStep)
			p.put("sub/keep", "")
			p.validate(65, "steps: [{id: a, recipe: ../c}]\n")
			p.validate(65, "steps: [{id: a, recipe: sub/c}]\n")
		}),
		holds("54", "outputs of a sub-recipe, names in its context, two of them in a row", "are seen by the caller, filled in, and reach the second", func(p *place) {
			p.put("one.yaml", "name: one\ncontext: {who: ''}\nsteps: [{id: x, command: 'echo hello {{who}}', output: greeting}]\n")
			p.put("two.yaml", "name: two\ncontext: {greeting: ''}\nsteps: [{id: x, command: 'echo {{greeting}}!', output: loud}]\n")
			p.run(0, "context: {name1: ann}\nsteps: [{id: a, recipe: one, context: {who: 'big {{name1}}'}}, {id: b, recipe: two}, {id: c, command: 'echo {{loud}}'}]\n")
			p.printed("c", "hello big ann!\n")
		}),
		holds("55a", "a parallel_group", "all run at the same time, their outputs are kept; a failure stops what follows, unless continue_on_error", func(p *place) {
			const wait = "touch %; until test -e ~; do read -t 0.01 < /dev/zero || true; done; echo %"
			a := strings.NewReplacer("%", "a", "~", "b").Replace(wait)
			b := strings.NewReplacer("%", "b", "~", "a").Replace(wait)
			p.run(0, "steps: [{id: a, parallel_group: g, timeout: 30, output: a, command: '"+a+"'}, {id: b, parallel_group: g, timeout: 30, output: b, command: '"+b+"'}, {id: c, command: 'echo {{a}} {{b}}'}]\n")
			p.printed("c", "a b\n")
			p.run(1, "steps: [{id: a, parallel_group: g, command: 'false'}, {id: b, parallel_group: g, command: 'true'}, {id: c, command: 'true'}]\n")
			p.phases("a failed", "b done", "c waiting")
			p.run(0, "steps: [{id: a, parallel_group: g, command: 'false', continue_on_error: true}, {id: b, parallel_group: g, command: 'true'}, {id: c, command: 'true'}]\n")
			p.phases("a failed", "b done", "c done")
		}),
		unlike("55b", "agent steps in a parallel_group", "run one after the other", "group-agents", func(p *place) {
			const meet = "[{run: 'touch %; until test -e ~; do read -t 0.01 < /dev/zero || true; done'}, {answer: %}]"
			a := strings.NewReplacer("%", "a", "~", "b").Replace(meet)
			b := strings.NewReplacer("%", "b", "~", "a").Replace(meet)
			p.played(0, "steps: [{id: a, parallel_group: g, timeout: 30, output: a, prompt: p, isolate: 'off', verify: 'true'}, {id: b, parallel_group: g, timeout: 30, output: b, prompt: p, isolate: 'off', verify: 'true'}, {id: c, command: 'echo {{a}} {{b}}'}]\n",
				"steps:\n  a: "+a+"\n  b: "+b+"\n")
			p.printed("c", "a b\n")
		}),
		unlike("55c", "sub-recipes in a parallel_group", "run one after the other, and what they set is lost", "group-context", func(p *place) {
			p.put("c.yaml", "name: c\ncontext: {n: ''}\nsteps: [{id: x, command: 'echo {{n}}', output: made}]\n")
			p.run(0, "steps: [{id: a, parallel_group: g, recipe: c, context: {n: one}}, {id: b, parallel_group: g, command: 'true'}, {id: d, command: 'echo {{made}}'}]\n")
			p.printed("d", "one\n")
		}),
		holds("56a", "hooks", "are scripts around each step: before it, after it, after a failure; that they fail changes nothing", func(p *place) {
			p.run(1, "hooks: {pre_step: 'echo pre >> log; exit 1', post_step: 'echo post >> log', on_error: 'echo error >> log'}\n"+
				"steps: [{id: a, command: 'echo a >> log'}, {id: b, command: 'exit 1'}]\n")
			if got := p.content("log"); got != "pre\na\npost\npre\nerror\n" {
				p.t.Errorf("log: %q", got)
			}
		}),
		unlike("56b", "what hooks know", "nothing about the step", "hooks-told", func(p *place) {
			p.run(1, "hooks: {on_error: 'echo $BELAY_HOOK_STEP $BELAY_HOOK_STATUS >> log'}\nsteps: [{id: a, command: 'exit 1'}]\n")
			if got := p.content("log"); got != "a failed\n" {
				p.t.Errorf("log: %q", got)
			}
		}),
		holds("59a", "box.yaml beside box.yml", "the first is taken", func(p *place) {
			p.put("shelf/box.yaml", "name: box\nsteps: [{id: x, command: 'echo yaml'}]\n")
			p.put("shelf/box.yml", "name: box\nsteps: [{id: x, command: 'echo yml'}]\n")
			p.start(0, "box", "-R", "shelf")
			p.printed("x", "yaml\n")
		}),
		unlike("56c", "hooks and a step whose condition is false", "run around it", "hooks-skipped", func(p *place) {
			text := "hooks: {pre_step: 'echo pre $BELAY_HOOK_STEP >> log', post_step: 'echo post $BELAY_HOOK_STEP >> log'}\n" +
				"steps: [{id: a, condition: \"go == 'yes'\", command: 'true'}, {id: b, command: 'true'}]\n"
			p.run(0, "context: {go: 'no'}\n"+text)
			if got := p.content("log"); got != "pre b\npost b\n" {
				p.t.Errorf("the hooks wrote %q", got)
			}
			p.put("log", "")
			p.run(0, "context: {go: 'no'}\n"+text, "--compat")
			if got := p.content("log"); got != "pre a\npost a\npre b\npost b\n" {
				p.t.Errorf("with --compat the hooks wrote %q", got)
			}
		}),
		unlike("54b", "output of a recipe step", "is a text that lists how its steps ended", "recipe-output", func(p *place) {
			p.put("c.yaml", "name: c\nsteps: [{id: one, command: 'echo 1', output: n}]\n")
			text := "steps: [{id: call, recipe: c, output: told}, {id: a, command: 'printf %s {{told}}'}]\n"
			p.run(0, text)
			p.printed("a", `{"n":1}`)
			p.run(0, text, "--compat")
			p.printed("a", "Recipe 'c': SUCCESS\n  [completed] one\n"+`{"n":1}`)
		}),
		unlike("54c", "a sub-recipe in which every step was left out", "has succeeded", "empty-call", func(p *place) {
			p.put("c.yaml", "name: c\ncontext: {go: 'no'}\nsteps: [{id: one, condition: \"go == 'yes'\", command: 'true'}]\n")
			text := "steps: [{id: call, recipe: c}, {id: a, command: 'true'}]\n"
			p.run(1, text)
			p.phases("call failed", "a waiting")
			p.run(0, text, "--compat")
			p.phases("call not_taken", "a done")
			p.run(1, "steps: [{id: call, recipe: c}]\n", "--compat")
		}),
		unlike("59b", "one name in two directories", "the list shows the last, a call takes the first", "command-line", func(p *place) {
			p.put("one/box.yaml", "name: box\nsteps: [{id: x, command: 'echo one'}]\n")
			p.put("two/box.yaml", "name: box\nsteps: [{id: x, command: 'echo two'}]\n")
			p.belay(0, "recipes", "-R", "one", "-R", "two")
			p.says("not used")
			p.start(0, "box", "-R", "one", "-R", "two")
			p.printed("x", "one\n")
		}),
		hasNot("59c", "a manifest of recipes with their hashes", "tells which files are new, changed or gone", "The journal of each run holds the recipe that it ran, and its hash."),
	}
}

func (p *place) content(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

func remove(p *place, name string) {
	p.t.Helper()
	if err := os.Remove(filepath.Join(p.dir, name)); err != nil {
		p.t.Fatal(err)
	}
}
