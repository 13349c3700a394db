package main_test

import "strings"

const (
	oneStep  = "steps: [{id: a, command: 'echo hi'}]\n"
	askAgent = "steps: [{id: a, agent: 'x:y', prompt: 'do it'}]\n"
)

func readingRows() []row {
	return []row{
		holds("1a", "an empty file, or only blanks", "an error", refusedFile("", " \n\n")),
		holds("1b", "no name, or an empty one", "an error", refusedFile(oneStep, "name: ''\n"+oneStep)),
		holds("1c", "no steps, or an empty list", "an error", refusedFile("name: r\n", "name: r\nsteps: []\n")),
		holds("1d", "an empty step id", "an error", refusedFile("name: r\nsteps: [{id: '', command: 'true'}]\n")),
		holds("1e", "a step id that is there twice", "an error", func(p *place) {
			p.validate(65, "steps: [{id: a, command: 'true'}, {id: a, command: 'true'}]\n")
			p.says("a", "twice")
		}),
		unlike("2", "a file of more than 1,000,000 bytes", "an error: too large", "file-size", func(p *place) {
			p.validate(0, "description: '"+strings.Repeat("x", 1_000_001)+"'\n"+oneStep)
			p.validate(65, "description: '"+strings.Repeat("x", 16<<20)+"'\n"+oneStep)
		}),
		holds("3a", "a name with blanks and parentheses", "is fine", func(p *place) {
			p.put("x.yaml", "name: my recipe (new)\n"+oneStep)
			p.start(0, "x.yaml")
		}),
		unlike("3b", "`command: ''`", "runs and succeeds", "empty-command", func(p *place) {
			const text = "steps: [{id: a, command: ''}]\n"
			p.validate(65, text)
			p.says("r.yaml:2:")
			p.run(0, text, "--compat")
			p.phases("a done")
		}),
		unlike("4", "unknown keys, at the top or in a step", "are ignored when it runs; validation warns with their names", "unknown-keys", func(p *place) {
			const text = "colour: red\nsteps: [{id: a, command: 'echo hi', depends_on: [x]}]\n"
			p.validate(65, text)
			p.says("colour", "depends_on")
			p.validate(0, text, "--compat")
			p.says("colour", "depends_on")
			p.run(0, text, "--compat")
		}),
		unlike("5a", "an agent step without a prompt", "validation warns", "empty-prompt", func(p *place) {
			p.validate(65, "steps: [{id: a, agent: 'x:y'}]\n")
			p.says("prompt")
			p.validate(0, "steps: [{id: a, agent: 'x:y'}]\n", "--compat")
			p.says("prompt")
		}),
		unlike("5b", "a bash step without a command", "validation warns", "empty-command", func(p *place) {
			p.validate(65, "steps: [{id: a, type: bash}]\n")
			p.says("command")
			p.validate(0, "steps: [{id: a, type: bash}]\n", "--compat")
			p.says("command")
		}),
		holds("6a", "steps without a type", "recipe before agent before a prompt without a command before bash", func(p *place) {
			p.put("c.yaml", "name: c\n"+oneStep)
			p.put("r.yaml", "name: r\nsteps: [{id: a, recipe: c}, {id: b, agent: 'x:y', prompt: p}, {id: c, prompt: p}, {id: d, command: 'true'}]\n")
			p.belay(0, "explain", "r.yaml")
			p.says("1. a  recipe", "2. b  agent", "3. c  agent", "4. d  bash")
		}),
		unlike("6b", "`type: bash` with a command and a prompt", "is a bash step; the prompt is ignored", "idle-keys", func(p *place) {
			const text = "steps: [{id: a, type: bash, prompt: p, command: 'echo hi'}]\n"
			p.validate(65, text)
			p.says("prompt")
			p.run(0, text, "--compat")
			p.printed("a", "hi\n")
		}),
		holds("7", "no recursion and no hooks", "6 levels and 200 steps, no hooks", func(p *place) {
			p.run(0, oneStep, "--json")
			p.says(`"max_depth":6,"max_total_steps":200`)
			p.phases("a done")
		}),
		holds("8a", "extends, three levels", "the steps of the eldest come first, the youngest's context wins", func(p *place) {
			p.put("grand.yaml", "name: grand\ncontext: {who: grand, only: old}\nsteps: [{id: g, command: 'echo {{who}} {{only}}'}]\n")
			p.put("mid.yaml", "name: mid\nextends: grand\ncontext: {who: mid}\nsteps: [{id: m, command: 'echo {{who}}'}]\n")
			p.run(0, "extends: mid\ncontext: {who: leaf}\nsteps: [{id: l, command: 'echo {{who}}'}]\n", "-R", ".")
			p.printed("g", "leaf old\n")
			p.belay(0, "explain", "r.yaml")
			p.says("1. g ", "2. m ", "3. l ")
		}),
		holds("8b", "recipes that extend each other in a circle", "an error", func(p *place) {
			p.put("b.yaml", "name: b\nextends: r\n"+oneStep)
			p.validate(65, "extends: b\n"+oneStep, "-R", ".")
			p.says("circle")
		}),
		holds("8c", "a parent that is nowhere", "an error", func(p *place) {
			p.validate(65, "extends: nobody\n"+oneStep)
			p.says("nobody")
		}),
		unlike("9", "a parent beside the file, without -R", "is not found; the run fails without a step", "extends-search", func(p *place) {
			p.put("base.yaml", "name: base\nsteps: [{id: b, command: 'echo base'}]\n")
			p.run(0, "extends: base\n"+oneStep)
			p.printed("b", "base\n")
		}),
		unlike("10", "a step of the child with the id of a parent's step", "both run", "extends-same-id", func(p *place) {
			p.put("base.yaml", "name: base\nsteps: [{id: a, command: 'echo base >> log'}]\n")
			p.run(0, "extends: base\nsteps: [{id: a, command: 'echo child >> log; cat log'}]\n")
			p.printed("a", "child\n")
		}),
		holds("11", "`type: skill` or `type: loop`", "an error that lists the types", func(p *place) {
			p.validate(65, "steps: [{id: a, type: skill}, {id: b, type: loop}]\n")
			p.says("bash, agent, recipe, call or approve", `"skill"`, `"loop"`)
		}),
		holds("12a", "a number or boolean in quotes, a negative timeout, a list as command", "errors", refusedFile(
			"name: r\nsteps: [{id: a, command: 'true', timeout: '3'}]\n",
			"name: r\nsteps: [{id: a, command: 'true', parse_json: 'true'}]\n",
			"name: r\nsteps: [{id: a, command: 'true', timeout: -1}]\n",
			"name: r\nsteps: [{id: a, command: [echo, hi]}]\n",
		)),
		holds("12b", "numbers as name, id or version", "are texts", func(p *place) {
			p.put("x.yaml", "name: 7\nversion: 2\nsteps: [{id: 5, command: 'echo hi'}]\n")
			p.start(0, "x.yaml")
			p.printed("5", "hi\n")
		}),
	}
}

// refusedFile checks that files are errors before anything runs.
func refusedFile(texts ...string) func(*place) {
	return func(p *place) {
		for _, text := range texts {
			p.put("x.yaml", text)
			p.belay(65, "validate", "x.yaml")
			p.says("x.yaml:")
			p.belay(65, "run", "x.yaml")
		}
	}
}
