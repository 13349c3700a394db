package recipe_test

import (
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/recipe"
)

// What a step that does not say must leave behind: an answer where somebody reads
// it, else a change.
// promise: H4
func TestDefaultExpectation(t *testing.T) {
	t.Parallel()
	const ask = "- {id: a, prompt: x, output: said}\n"
	for name, c := range map[string]struct {
		root, sub string // sub is a recipe named sub
		in        bool   // the step is in sub
		want      belay.Expect
	}{
		"no output":                              {root: "- {id: a, prompt: x}\n", want: belay.ExpectChange},
		"nobody reads it":                        {root: ask + "- {id: b, command: ls}\n", want: belay.ExpectChange},
		"a later prompt":                         {root: ask + "- {id: b, prompt: 'do {{said}}'}\n", want: belay.ExpectAnswer},
		"a prompt, with a default":               {root: ask + "- {id: b, prompt: 'do {{said | default(\"x\")}}'}\n", want: belay.ExpectAnswer},
		"a command":                              {root: ask + "- {id: b, command: 'echo {{said}}'}\n", want: belay.ExpectAnswer},
		"a script's variable":                    {root: ask + "- {id: b, command: 'echo \"$SAID\"'}\n", want: belay.ExpectAnswer},
		"a script's long variable":               {root: ask + "- {id: b, command: 'echo \"${RECIPE_VAR_said}\"'}\n", want: belay.ExpectAnswer},
		"a condition":                            {root: ask + "- {id: b, command: ls, condition: said == 'yes'}\n", want: belay.ExpectAnswer},
		"a foreach":                              {root: ask + "- {id: b, foreach: said, command: ls}\n", want: belay.ExpectAnswer},
		"a check of another step":                {root: ask + "- {id: b, command: ls, verify: 'test -n \"$SAID\"'}\n", want: belay.ExpectAnswer},
		"only its own check":                     {root: "- {id: a, prompt: x, output: said, verify: 'test -n \"$SAID\"'}\n", want: belay.ExpectChange},
		"another name":                           {root: ask + "- {id: b, command: 'echo $SAIDS {{ other | default(\"\") }}'}\n", want: belay.ExpectChange},
		"handed to a recipe":                     {root: ask + "- {id: b, recipe: sub, context: {z: '{{said}}'}}\n", sub: "- {id: s, command: 'echo $Z'}\n", want: belay.ExpectAnswer},
		"read in a recipe that is called":        {root: ask + "- {id: b, recipe: sub}\n", sub: "- {id: s, command: 'echo $SAID'}\n", want: belay.ExpectAnswer},
		"a place in its JSON":                    {root: "- {id: a, prompt: x, outputs: {n: {json: b}}}\n- {id: b, command: 'echo {{n}}'}\n", want: belay.ExpectAnswer},
		"a file that it writes":                  {root: "- {id: a, prompt: x, outputs: {n: {file: f}}}\n- {id: b, command: 'echo {{n}}'}\n", want: belay.ExpectChange},
		"in a recipe, and its caller reads it":   {root: "- {id: c, recipe: sub}\n- {id: b, command: 'echo {{said}}'}\n", sub: ask, in: true, want: belay.ExpectAnswer},
		"in a recipe, and its caller reads all":  {root: "- {id: c, recipe: sub, output: got}\n- {id: b, command: 'echo {{got}}'}\n", sub: ask, in: true, want: belay.ExpectAnswer},
		"in a recipe, and its caller reads none": {root: "- {id: c, recipe: sub, output: got}\n- {id: b, command: ls}\n", sub: ask, in: true, want: belay.ExpectChange},
	} {
		root := parsed(t, "name: root\nsteps:\n"+c.root)
		sub := root
		if c.sub != "" {
			sub = parsed(t, "name: sub\nsteps:\n"+c.sub)
		}
		q := recipe.NewReaders(root, func(n string) *recipe.Recipe {
			if n == "sub" {
				return sub
			}
			return nil
		})
		r := root
		if c.in {
			r = sub
		}
		if got := q.Default(r, 0, false); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if got := q.Default(r, 0, true); got != belay.ExpectAnswer {
			t.Errorf("%s, compat: %s", name, got)
		}
	}
}

// Recipes that call each other in a circle are gone through once.
func TestReadersOfACircle(t *testing.T) {
	t.Parallel()
	a := parsed(t, "name: a\ncontext: {maybe: true}\nsteps:\n- {id: x, prompt: x, output: said}\n- {id: c, recipe: b, output: got, condition: maybe}\n")
	b := parsed(t, "name: b\ncontext: {maybe: true}\nsteps:\n- {id: c, recipe: a, output: got, condition: maybe}\n")
	q := recipe.NewReaders(a, func(n string) *recipe.Recipe { return map[string]*recipe.Recipe{"a": a, "b": b}[n] })
	if q.Answered(a, 0) {
		t.Error("nobody reads it")
	}
}

func parsed(t *testing.T, src string) *recipe.Recipe {
	t.Helper()
	r, list := recipe.Parse("r.yaml", []byte(src))
	for _, p := range list {
		if !p.Warning {
			t.Fatalf("%v\n%s", p, src)
		}
	}
	return r
}
