package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay/recipe"
	"go.yaml.in/yaml/v3"
)

// validate is the check of 1,000 recipes of 50 steps of the usual mix, beside
// what the YAML parser alone needs to read them.
func (b *bench) validate() error {
	const recipes, steps = 1000, 50
	dir := filepath.Join(b.dir, "recipes")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	part := []byte("name: part\ncontext: {what: ''}\nsteps:\n  - {id: a, command: 'echo {{what}}'}\n")
	srcs := make([][]byte, recipes)
	for i := range srcs {
		srcs[i] = usual(i, steps)
	}
	alone := func() error {
		for _, src := range srcs {
			var doc yaml.Node
			if err := yaml.Unmarshal(src, &doc); err != nil {
				return err
			}
		}
		return nil
	}
	ours := func() error {
		sub, _ := recipe.Parse("part.yaml", part)
		for _, src := range srcs {
			r, problems := recipe.Parse("usual.yaml", src)
			problems = append(problems, recipe.CheckCalls(r, map[string]*recipe.Recipe{"part": sub})...)
			if len(problems) > 0 {
				return fmt.Errorf("%s", problems[0].Format(src))
			}
		}
		return nil
	}
	d, err := interleaved(b.rounds, alone, ours)
	if err != nil {
		return err
	}
	ratio := float64(d[1]) / float64(d[0])
	row("yaml alone, 1,000 recipes of 50 steps", "%.2f s", d[0].Seconds())
	row("validated", "%.2f s   %.2f × yaml alone", d[1].Seconds(), ratio)
	b.goal("validate 1,000 recipes against the YAML parser alone", ratio, 3)
	return nil
}

// usual is a recipe like many: scripts, prompts, a sub-recipe, conditions.
func usual(n, steps int) []byte {
	var s strings.Builder
	fmt.Fprintf(&s, "name: usual-%d\ndescription: a recipe like many\ncontext:\n  task: build it\n  repo_path: .\n  level: 3\nsteps:\n", n)
	for i := range steps {
		fmt.Fprintf(&s, "  - id: step-%02d\n", i)
		switch kind := i % 12; {
		case kind < 5:
			fmt.Fprintf(&s, "    command: |\n      cd {{repo_path}}\n      echo \"part %d of {{task}}\"\n      git status --short | head -n 20\n", i)
		case kind < 11:
			fmt.Fprintf(&s, "    agent: core:builder\n    prompt: |\n      You work on this task: {{task}}\n      The repository is in {{repo_path}}.\n\n      1. Read what part %d needs.\n      2. Change only what it asks for.\n    parse_json: true\n    expect: answer\n", i)
		default:
			s.WriteString("    recipe: part\n    context: {what: \"{{task}}\"}\n")
		}
		if i%2 == 0 {
			s.WriteString("    condition: level >= 2 and task != ''\n")
		}
		fmt.Fprintf(&s, "    output: part_%02d\n", i)
	}
	return []byte(s.String())
}
