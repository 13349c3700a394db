package main_test

import "strings"

// hostile is a value that breaks scripts which paste it.
const hostile = "a  b * $(touch canary) `touch canary` \"q\" 's' ; touch canary"

func valueRows() []row {
	return append(templateRows(), exportRows()...)
}

func templateRows() []row {
	return []row{
		unlike("23a", "a name that nothing sets", "is empty, with a line in a log", "missing-names", func(p *place) {
			const text = "steps: [{id: a, command: 'echo [{{nobody}}]'}]\n"
			p.validate(65, text)
			p.says("nobody")
			p.run(0, text, "--compat")
			p.printed("a", "[]\n")
		}),
		holds("23b", "null, booleans, numbers, lists, objects, names with dots, several in one text", "null is empty, the rest is its JSON", func(p *place) {
			p.run(0, "context: {no: null, b: true, n: 42, l: [1, x], o: {k: {d: deep}}}\n"+
				"steps: [{id: a, command: 'echo [{{no}}] {{b}} {{n}} {{l}} {{o}} {{o.k.d}}'}]\n")
			p.printed("a", `[] true 42 [1,"x"] {"k":{"d":"deep"}} deep`+"\n")
		}),
		holds("24", "--set over a default, outputs of steps, letters of all kinds, 100 kB of output", "the given value wins; each output reaches the next step whole", func(p *place) {
			p.run(0, `context: {who: nobody}
steps:
  - {id: a, command: "echo {{who}} grüßt 日本", output: one}
  - {id: b, command: "echo \"<{{one}}>\"", output: two}
  - {id: c, command: "echo {{two}}"}
  - {id: big, command: "printf '%0100000d' 0 | tr 0 x", output: big}
  - {id: d, command: "echo {{big}} | wc -c"}
`, "--set", "who=Ann")
			p.printed("c", "<Ann grüßt 日本>\n")
			p.printed("d", "100001\n")
		}),
		holds("25", "`echo {{v}}` in a script", "the value is a variable, never part of the script; blanks stay", func(p *place) {
			p.run(0, "context: {v: ''}\nsteps: [{id: a, command: 'echo {{v}}; echo \"$RECIPE_VAR_v\"'}]\n", "--set", "v="+hostile)
			p.printed("a", hostile+"\n"+hostile+"\n")
			safe(p)
		}),
		holds("26", "`{{v}}` in a heredoc, also with <<- and with dots", "the value stands there as it is", func(p *place) {
			p.run(0, "context: {v: '', o: {k: deep}}\nsteps:\n  - id: a\n    command: |\n"+
				"      cat <<END\n      {{v}} {{o.k}} $RECIPE_VAR_o__k\n      END\n      cat <<-END\n      \t{{v}}\n      \tEND\n", "--set", "v="+hostile)
			p.printed("a", hostile+" deep deep\n"+hostile+"\n")
			safe(p)
		}),
		holds("27a", "`{{v}}` in a heredoc with a quoted end, in either quotes, and a value of several lines", "the value stands there as it is", func(p *place) {
			p.run(0, "context: {v: ''}\nsteps:\n  - id: a\n    command: |\n"+
				"      cat <<'END'\n      {{v}} $HOME\n      END\n      cat <<\"END\"\n      {{v}}\n      END\n", "--set", "v=one\n"+hostile)
			p.printed("a", "one\n"+hostile+" $HOME\none\n"+hostile+"\n")
			safe(p)
		}),
		unlike("27b", "a missing name in such a heredoc", "an empty line", "missing-names", func(p *place) {
			const text = "steps:\n  - id: a\n    command: |\n      cat <<'END'\n      {{nobody}}\n      END\n"
			p.validate(65, text)
			p.run(0, text, "--compat")
			p.printed("a", "\n")
		}),
		unlike("29", "`\"{{v}}\"` and `'{{v}}'` in a script", "the first is split into words and matched with file names, the second is not filled in", "quotes", func(p *place) {
			p.run(0, "context: {v: ''}\nsteps:\n  - id: a\n    command: |\n"+
				"      printf '[%s]\\n' \"{{v}}\" '{{v}}' \"--title={{v}}\"\n", "--set", "v="+hostile)
			p.printed("a", "["+hostile+"]\n["+hostile+"]\n[--title="+hostile+"]\n")
			safe(p)
		}),
		unlike("30", "a value with the end word of a quoted heredoc in it", "the rest of the value runs as a command", "heredocs", func(p *place) {
			p.run(0, "context: {v: ''}\nsteps:\n  - id: a\n    command: |\n      cat <<'END'\n      {{v}}\n      END\n",
				"--set", "v=x\nEND\ntouch canary\n")
			safe(p)
			p.printed("a", "x\nEND\ntouch canary\n\n")
		}),
		holds("35a", "an object in a text", "its keys are sorted", func(p *place) {
			p.run(0, "context: {o: {b: 1, a: {d: 2, c: 3}}}\nsteps: [{id: a, command: 'echo {{o}}'}]\n")
			p.printed("a", `{"a":{"c":3,"d":2},"b":1}`+"\n")
		}),
		unlike("23c", "{{ name }} with blanks in it", "stays as it is", "blanks-in-braces", func(p *place) {
			p.run(0, "context: {v: x}\nsteps: [{id: a, command: 'echo {{ v }}'}]\n")
			p.printed("a", "x\n")
		}),
		unlike("35b", "2.0 in the context", "stays 2.0", "float-form", func(p *place) {
			p.run(0, "context: {f: 2.0, h: 1.50}\nsteps: [{id: a, command: 'echo {{f}} {{h}}'}]\n")
			p.printed("a", "2 1.5\n")
		}),
	}
}

// safe checks that nothing of a hostile value was run.
func safe(p *place) {
	p.t.Helper()
	if p.exists("canary") {
		p.t.Error("a part of the value was run")
	}
}

func exportRows() []row {
	return []row{
		holds("28a", "an object in the context", "its fields are variables: $RECIPE_VAR_obj__status", func(p *place) {
			p.run(0, "context: {obj: {status: ok, in-side: {x: 1}}}\n"+
				"steps: [{id: a, command: 'echo $RECIPE_VAR_obj__status $RECIPE_VAR_obj__in_side__x'}]\n")
			p.printed("a", "ok 1\n")
		}),
		holds("28b", "plain values in the context", "are also $TASK_DESCRIPTION and the like; null is empty; a dash is _", func(p *place) {
			p.run(0, "context: {task_description: build it, no: null, with-dash: x}\n"+
				"steps: [{id: a, command: 'echo \"$TASK_DESCRIPTION [$NO] $RECIPE_VAR_with_dash\"'}]\n")
			p.printed("a", "build it [] x\n")
		}),
		holds("28c", "variables called lang, term or lc_all", "do not overwrite those of the system", func(p *place) {
			p.run(0, "context: {lang: go, lc_all: xx, tmpdir: zz, editor: ed}\n"+
				"steps: [{id: a, command: 'echo {{lang}} $RECIPE_VAR_lang [${LANG-}] [${LC_ALL-}] [${EDITOR-}]; test \"${TMPDIR-}\" != zz'}]\n")
			p.printed("a", "go go [] [] []\n")
		}),
		holds("28e", "variables called path, home, env, user, shell or pwd", "are not exported under that name", func(p *place) {
			p.run(0, "context: {path: /nowhere, home: /h, env: prod, user: ann, shell: zsh, pwd: /p}\n"+
				"steps: [{id: a, command: 'echo {{path}} {{home}} {{env}} {{user}} {{shell}} {{pwd}} $RECIPE_VAR_env [${ENV-}]; test \"$PATH$HOME$PWD\" != /nowhere/h/p; test \"${USER-}${SHELL-}\" != annzsh'}]\n")
			p.printed("a", "/nowhere /h prod ann zsh /p prod []\n")
		}),
		unlike("28d", "$OBJ for an object", "is not set", "object-alias", func(p *place) {
			p.run(0, "context: {obj: {k: 1}, list: [1, 2]}\nsteps: [{id: a, command: 'echo \"$OBJ $LIST\"'}]\n")
			p.printed("a", `{"k":1} [1,2]`+"\n")
		}),
		unlike("31", "a value of more than 131,071 bytes", "every later bash step fails", "big-values", func(p *place) {
			p.run(0, `steps:
  - {id: make, command: "printf '%0200000d' 0", output: big}
  - {id: use, command: "printf %s {{big}} | wc -c; printf %s \"$BIG\" | wc -c; bash -c 'wc -c < $BIG_FILE'"}
  - {id: after, command: "echo fine"}
`)
			p.printed("use", "200000\n200000\n200000\n")
			p.printed("after", "fine\n")
		}),
		unlike("32", "more than 1.5 MB of values together", "all but four of them are empty", "big-context", func(p *place) {
			var b strings.Builder
			b.WriteString("steps:\n")
			names := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"}
			for _, n := range names {
				b.WriteString("  - {id: make-" + n + ", command: \"printf '%0100000d' 0\", output: v" + n + "}\n")
			}
			b.WriteString("  - {id: use, command: \"printf %s {{va}} {{vt}} | wc -c\"}\n")
			p.run(0, b.String())
			p.printed("use", "200000\n")
		}),
		unlike("33", "variables called bash_env or amplihack_session_depth", "overwrite $BASH_ENV and the guard of the runner", "denied-names", func(p *place) {
			for _, name := range []string{"bash_env", "BASH_ENV", "ld_preload", "amplihack_session_depth", "belay_state"} {
				text := "context: {" + name + ": x}\n" + oneStep
				p.validate(65, text)
				p.says(name)
				p.validate(65, text, "--compat")
			}
			p.belay(64, "run", "r.yaml", "--set", "bash_env=x")
		}),
		holds("34a", "an empty value of the caller and a default of the sub-recipe", "the caller's value wins, also when it is empty", func(p *place) {
			p.put("c.yaml", "name: c\ncontext: {who: child}\nsteps: [{id: x, command: 'echo [{{who}}]', output: said}]\n")
			p.run(0, "context: {who: ''}\nsteps: [{id: call, recipe: c}, {id: a, command: 'echo {{said}}'}]\n")
			p.printed("a", "[]\n")
		}),
		holds("34b", "what the steps of a sub-recipe set", "is seen by its caller afterwards", func(p *place) {
			p.put("c.yaml", "name: c\nsteps: [{id: x, command: 'echo made', output: made}]\n")
			p.run(0, "steps: [{id: call, recipe: c}, {id: a, command: 'echo {{made}}'}]\n")
			p.printed("a", "made\n")
		}),
		unlike("34c", "the defaults of a sub-recipe", "stay in its caller's context", "sub-recipe-defaults", func(p *place) {
			p.put("c.yaml", "name: c\ncontext: {own: default}\nsteps: [{id: x, command: 'echo {{own}}'}]\n")
			p.validate(65, "steps: [{id: call, recipe: c}, {id: a, command: 'echo {{own}}'}]\n")
			p.says(`nothing sets the variable "own"`)
			p.run(0, "steps: [{id: call, recipe: c}, {id: a, command: \"echo [{{own | default('')}}]\"}]\n")
			p.printed("a", "[]\n")
		}),
	}
}
