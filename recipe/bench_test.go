package recipe

import (
	"bytes"
	"fmt"
	"testing"

	"go.yaml.in/yaml/v3"
)

// usual is a recipe of n steps in the mix that people write: of twelve steps
// five are scripts, six are prompts and one calls a recipe; nearly all have an
// output, nearly half a condition, a third look for JSON.
func usual(n int) []byte {
	var b bytes.Buffer
	b.WriteString("name: usual\ndescription: a recipe like many\ncontext:\n  task: build it\n  repo_path: .\n  level: 3\nsteps:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - id: step-%02d\n", i)
		switch kind := i % 12; {
		case kind < 5:
			script(&b, i)
		case kind < 11:
			fmt.Fprintf(&b, `    agent: core:builder
    prompt: |
      You work on this task: {{task}}
      The repository is in {{repo_path}}.

      1. Read what part %d needs.
      2. Change only what it asks for.
      3. Answer with one object: {"done": true, "files": []}
    parse_json: true
`, i)
		default:
			b.WriteString("    recipe: part\n    context: {what: \"{{task}}\"}\n")
		}
		if i%2 == 0 {
			b.WriteString("    condition: level >= 2 and task != ''\n")
		}
		fmt.Fprintf(&b, "    output: part_%02d\n", i)
	}
	return b.Bytes()
}

func script(b *bytes.Buffer, i int) {
	fmt.Fprintf(b, `    type: bash
    working_dir: "{{repo_path}}"
    command: |
      echo "part %d of {{task}}"
      if [ -f Makefile ]; then
        make -s check
      fi
`, i)
}

// scripts is a recipe of n scripts, which take the longest to read.
func scripts(n int) []byte {
	var b bytes.Buffer
	b.WriteString("name: scripts\ncontext: {task: build it, repo_path: .}\nsteps:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - id: step-%02d\n", i)
		script(&b, i)
	}
	return b.Bytes()
}

// BenchmarkParse is to be read beside BenchmarkYAML, which is what the YAML
// library alone needs for the same sources: three times that is the limit.
func BenchmarkParse(b *testing.B) {
	part, problems := Parse("part.yaml", []byte("name: part\ncontext: {what: ''}\n"+oneStep))
	if part == nil {
		b.Fatal(problems)
	}
	for name, src := range map[string][]byte{"usual": usual(50), "scripts": scripts(50)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				r, problems := Parse("usual.yaml", src)
				if problems = append(problems, CheckCalls(r, map[string]*Recipe{"part": part})...); len(problems) > 0 {
					b.Fatal(problems)
				}
			}
		})
	}
}

func BenchmarkYAML(b *testing.B) {
	for name, src := range map[string][]byte{"usual": usual(50), "scripts": scripts(50)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				var doc yaml.Node
				if err := yaml.Unmarshal(src, &doc); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
