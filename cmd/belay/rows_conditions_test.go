package main_test

import "strings"

func conditionRows() []row {
	all := func(want string, conditions ...string) func(*place) {
		return func(p *place) { p.exprs(want, conditions...) }
	}
	return []row{
		holds("41a", "all operators, in and not in with texts and lists, a comma at the end of a list, && and ||", "do what they say", all("true",
			"n == 42", "n != 41", "n < 43", "n <= 42", "n > 41", "n >= 42", "'ell' in s", "'x' not in s", "'a' in lst", "'c' not in ['a', 'b',]",
			"not ('a' in [])", "flag && s == 'hello'", "off || flag", "flag and s or off", "not off")),
		holds("41b", "`[,]` and a single &", "errors", all("^", "1 in [,]", "flag & flag")),
		holds("42a", "what counts as false", "null, false, 0, empty text, list and object; nothing else", func(p *place) {
			p.exprs("false", "none", "off", "zero", "empty", "nolist", "noobj", "obj.nothing", "none == 'x'")
			p.exprs("true", "flag", "n", "s", "lst", "obj", "'false'", "'0'", "not not flag", "my-var == 1")
		}),
		unlike("42b", "a name that nothing sets", "is false", "missing-names", func(p *place) {
			p.exprs("no variable", "nobody", "nobody == 'x'")
			const text = "steps: [{id: a, command: 'true', condition: 'nobody'}, {id: b, command: 'true'}]\n"
			p.validate(65, text)
			p.run(0, text, "--compat")
			p.phases("a not_taken", "b done")
		}),
		holds("43a", "a number and a text with a number in it, a boolean and 'true' or 'True', min and max", "compare as numbers and as booleans", all("true",
			"n == '42'", "'10' == 10.0", "'9' < 10", "flag == 'true'", "flag == 'True'", "off == 'false'", "min(3, 1, 2) == 1", "max(1, 2) == 2")),
		unlike("43b", "other mixed types, such as true < 1 or 'a' < 1", "come out one way or the other, mostly false", "condition-types", func(p *place) {
			p.exprs("^", "flag < 1", "flag == 1", "flag < 'x'", "'a' < 1", "42 in 'abc 42'")
			p.exprs("true", "str(42) in 'abc 42'", "int(flag) == 1")
		}),
		unlike("44a", "a method of a number, a boolean or null", "works on its text", "condition-types", func(p *place) {
			p.exprs("^", "n.upper() == '42'", "flag.upper() == 'TRUE'", "none.upper()")
			p.exprs("true", "str(n).upper() == '42'")
		}),
		holds("44b", "methods that do not exist, and names with two underscores", "errors", all("^", "s.system()", "s.encode()", "s.__class__")),
		holds("44c", "obj['k'], lst[1], dots in dots, and those in arguments", "reach what they name", all("true",
			"obj['k'] == 'hello'", "lst[1] == 'b'", "obj.deep.x[1] == 2", "len(obj.deep.x) == 2", "s.replace(obj.k, 'x') == 'x'")),
		holds("44d", "the methods of texts", "do what they say", all("true",
			"'  x '.strip() == 'x'", "' x'.lstrip() == 'x'", "'x '.rstrip() == 'x'", "'X'.lower() == 'x'", "'x'.upper() == 'X'", "'a b'.title() == 'A B'",
			"s.startswith('he')", "s.endswith('lo')", "s.replace('l', 'L') == 'heLLo'", "'a,b'.split(',')[1] == 'b'", "','.join(lst) == 'a,b'",
			"s.count('l') == 2", "s.find('l') == 2")),
		holds("45a", "len of what is empty, and 30 parentheses", "is 0, and is fine", func(p *place) {
			p.exprs("true", "len('') == 0", "len([]) == 0", strings.Repeat("(", 30)+"flag"+strings.Repeat(")", 30))
		}),
		holds("45b", "33 parentheses, more than 8192 bytes, only blanks", "errors that say where", func(p *place) {
			p.exprs("^", strings.Repeat("(", 33)+"flag"+strings.Repeat(")", 33), "   ")
			p.exprs("8192", "s == '"+strings.Repeat("x", 8192)+"'")
		}),
		unlike("45c", "len of a text with letters of more than one byte", "counts bytes", "condition-length", all("true", "len('é') == 1", "'éa'.find('a') == 1")),
		unlike("46a", "str(42) == '42'", "is false", "condition-numbers", all("true", "str(42) == '42'", "int(3) == 3", "int(1.9) == 1")),
		holds("46b", "50 clauses joined by or", "are fine", func(p *place) {
			p.exprs("true", strings.Repeat("n == 1 or ", 49)+"flag")
		}),
		unlike("47a", "words after a complete condition", "are ignored", "condition-rest", func(p *place) {
			p.exprs("^", "flag extra words", "s == 'hello' == 'nope'", "1 < 2 < 0", "flag if s else n")
			const text = "context: {flag: true}\nsteps: [{id: a, command: 'true', condition: 'flag extra words'}]\n"
			p.validate(65, text)
			p.validate(0, text, "--compat")
		}),
		unlike("47b", "an unknown function", "is false", "condition-functions", func(p *place) {
			p.exprs("^", "unknown_fn('x')")
			p.validate(65, "steps: [{id: a, command: 'true', condition: \"unknown_fn('x')\"}]\n", "--compat")
		}),
		unlike("47c", "'k' in an object", "is false", "condition-objects", func(p *place) {
			p.exprs("true", "'k' in obj", "'x' not in obj")
		}),
		unlike("47d", "(s) == 'hello'", "is false", "condition-parentheses", all("true", "(s) == 'hello'", "('a').upper() == 'A'")),
		unlike("47e", "'{{s}}' in a condition", "is compared as it stands", "condition-braces", func(p *place) {
			p.validate(65, "context: {s: x}\nsteps: [{id: a, command: 'true', condition: \"'{{s}}' == 'x'\"}]\n")
		}),
		unlike("47f", "the second side of and and or, where the first decides", "is looked at, and an error in it fails the step", "condition-sides", func(p *place) {
			p.belay(0, "expr", "false and ('a' < 1)")
			p.belay(0, "expr", "true or ('a' < 1)")
		}),
		holds("48", "a condition that cannot be decided; one that is false", "the step fails and the run with it; the step is left out", func(p *place) {
			p.run(1, "context: {s: text}\nsteps: [{id: a, command: 'true', condition: 's.field == 1'}, {id: b, command: 'true'}]\n")
			p.says("condition")
			p.phases("a failed", "b waiting")
			p.run(0, "context: {s: text}\nsteps: [{id: a, command: 'true', condition: \"s == 'x'\"}, {id: b, command: 'true'}]\n")
			p.phases("a not_taken", "b done")
		}),
	}
}
