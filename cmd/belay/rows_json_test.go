package main_test

import "fmt"

// printing is a recipe whose first step prints the file text.txt.
const printing = "steps: [{id: say, command: 'cat text.txt', output: v, %s}, {id: see, command: 'printf %%s \"$V\"'}]\n"

func jsonRows() []row {
	found := func(keys, phase string, cases map[string]string) func(*place) {
		return func(p *place) {
			for text, want := range cases {
				p.put("text.txt", text)
				p.run(0, fmt.Sprintf(printing, keys))
				p.phases("say " + phase)
				p.printed("see", want)
			}
		}
	}
	return []row{
		holds("36", "parse_json, and JSON as it is, in a fence with or without a label, between words, nested, with escaped quotes", "the value is found", found("parse_json: true", "done", map[string]string{
			`{"k": 1}`:                          `{"k":1}`,
			"text\n```json\n{\"k\": 2}\n```\n":  `{"k":2}`,
			"text\n```\n[1, 2]\n```\nmore":      `[1,2]`,
			`the answer is {"k": {"d": 3}} now`: `{"k":{"d":3}}`,
			`a list [4, 5] here`:                `[4,5]`,
			`so {"k": "a \"}\" b"} it is`:       `{"k":"a \"}\" b"}`,
		})),
		holds("37b", "parse_json_required and no JSON", "the step fails, and the run stops", func(p *place) {
			p.run(1, "steps: [{id: a, command: 'echo words', parse_json: true, parse_json_required: true}, {id: b, command: 'true'}]\n")
			p.says("JSON")
			p.phases("a failed", "b waiting")
		}),
		holds("38", "parse_json and a script that prints no JSON", "the text stays, the step is degraded, the run goes on", func(p *place) {
			p.put("text.txt", "just words")
			p.run(0, fmt.Sprintf(printing, "parse_json: true"))
			p.says("degraded")
			p.printed("see", "just words")
		}),
		holds("39a", "parse_json and a single number, or nothing at all", "is fine", func(p *place) {
			found("parse_json: true", "done", map[string]string{"42\n": "42", "": ""})(p)
		}),
		unlike("39b", "parse_json and a bracket that opens no JSON before one that does", "is not found", "json-first", found("parse_json: true", "done", map[string]string{
			`see {oops} then {"k":2}`:                    `{"k":2}`,
			"```\nno\n```\nand\n```json\n{\"k\":3}\n```": `{"k":3}`,
		})),
		holds("40a", "an output that looks like JSON, without parse_json", "is stored typed: numbers, booleans, null, lists, objects; 007 is a text", func(p *place) {
			p.run(0, `steps:
  - {id: n, command: "echo 42", output: n}
  - {id: b, command: "echo true", output: b}
  - {id: z, command: "echo 007", output: z}
  - {id: o, command: "echo '{\"k\": [1]}'", output: o}
  - {id: see, command: "echo yes", condition: "n == 42 and b and z == '007' and o.k[0] == 1"}
`)
			p.printed("see", "yes\n")
		}),
		unlike("40b", "$NAME of an output that looks like an object", "is not set", "object-alias", found("parse_json: false", "done", map[string]string{
			`{"k": 1}`: `{"k":1}`,
		})),
	}
}
