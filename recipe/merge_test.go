package recipe

import (
	"slices"
	"strings"
	"testing"
)

// shelf reads recipes by name.
func shelf(t *testing.T, sources map[string]string) map[string]*Recipe {
	t.Helper()
	lib := map[string]*Recipe{}
	for name, src := range sources {
		r, problems := Parse(name+".yaml", []byte(src))
		if r == nil {
			t.Fatalf("%s: %v", name, problems)
		}
		lib[name] = r
	}
	return lib
}

// Rows 8 and 10: three levels, oldest first, and a step that is replaced.
func TestInherit(t *testing.T) {
	lib := shelf(t, map[string]string{
		"grand": "name: grand\ntags: [z, a]\ncontext: {one: 1, two: 2}\nrecursion: {max_depth: 4, max_total_steps: 9}\nhooks: {pre_step: g, post_step: g}\nsteps:\n  - {id: g1, command: old}\n  - {id: g2, command: x}\n",
		"mid":   "name: mid\nextends: grand\ntags: [m]\ncontext: {two: 22, three: 3}\nhooks: {pre_step: m}\nsteps:\n  - {id: m1, command: x}\n  - {id: m2, command: x, needs: [g1]}\n",
		"leaf":  "name: leaf\nextends: mid\ntags: [a]\ncontext: {three: 33}\nrecursion: {max_depth: 2}\nsteps:\n  - {id: l1, command: 'echo {{one}} {{three}}'}\n  - {id: g1, command: new}\n  - {id: l2, command: x, needs: [m1, g1]}\n",
	})
	r, problems := Inherit(lib["leaf"], lib)
	if r == nil {
		t.Fatalf("%v", problems)
	}
	var ids, context []string
	for _, s := range r.Steps {
		ids = append(ids, string(s.ID))
	}
	for _, v := range r.Context {
		context = append(context, v.Name+"="+string(v.JSON))
	}
	if !slices.Equal(ids, []string{"g1", "g2", "m1", "m2", "l1", "l2"}) || !slices.Equal(context, []string{"one=1", "two=22", "three=33"}) {
		t.Errorf("the steps are %q, the context is %q", ids, context)
	}
	if r.Name != "leaf" || r.Extends != "" || !slices.Equal(r.Tags, []string{"a", "m", "z"}) || r.Recursion != (Recursion{2, 9}) ||
		r.Hooks.PreStep.Source != "m" || r.Hooks.PostStep.Source != "g" || r.Hooks.OnError != nil || r.Steps[0].Script.Source != "new" || r.Digest != lib["leaf"].Digest {
		t.Errorf("got %+v", r)
	}
	want := [][]int{{}, {0}, {1}, {0}, {3}, {0, 2}}
	for i, s := range r.Steps {
		if !slices.Equal(s.Needs, want[i]) {
			t.Errorf("%s needs %v, want %v", s.ID, s.Needs, want[i])
		}
	}
	if lib["grand"].Steps[0].Script.Source != "old" || lib["leaf"].Extends != "mid" {
		t.Error("a recipe of the library was changed")
	}
	if got := CheckCalls(r, nil); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

// Rows 8 and 9: what is wrong is said at the name of the parent.
func TestInheritProblems(t *testing.T) {
	for _, c := range []struct {
		name string
		lib  map[string]string
		want string
	}{
		{"missing", map[string]string{"root": "name: x\nextends: bse\n" + oneStep, "base": "name: b\n" + oneStep}, `root.yaml:2:10: error: no recipe named "bse" was found`},
		{"itself", map[string]string{"root": "name: x\nextends: root\n" + oneStep}, `root.yaml:2:10: error: recipes extend each other in a circle: root → root`},
		{"circle", map[string]string{"root": "name: x\nextends: a\n" + oneStep, "a": "name: x\nextends: b\n" + oneStep, "b": "name: x\nextends: a\n" + oneStep},
			`b.yaml:2:10: error: recipes extend each other in a circle: a → b → a`},
		{"needs nobody", map[string]string{"root": "name: x\nextends: a\nsteps:\n  - {id: s, command: x, needs: [gone]}\n", "a": "name: x\n" + oneStep},
			`root.yaml:4:33: error: no step has the id "gone"`},
		{"a circle of needs", map[string]string{"root": "name: x\nextends: p\nsteps:\n  - {id: a, command: x, needs: [b]}\n", "p": "name: x\nsteps:\n  - {id: a, command: x}\n  - {id: b, command: x}\n"},
			`root.yaml:4:5: error: steps need each other in a circle: a → b → a`},
		{"needs its own child", map[string]string{"root": "name: x\nextends: p\nsteps:\n  - {id: b, command: x, needs: []}\n", "p": "name: x\nsteps:\n  - {id: a, command: x, needs: [b]}\n  - {id: b, command: x, needs: []}\n"}, ""},
	} {
		lib := shelf(t, c.lib)
		r, problems := Inherit(lib["root"], lib)
		var got []string
		for _, p := range problems {
			got = append(got, p.String())
		}
		if strings.Join(got, "\n") != c.want || (r == nil) != (c.want != "") {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	child := mustParse(t, "name: x\nextends: a\n"+oneStep)
	if r, problems := Inherit(child, map[string]*Recipe{"a": nil}); r != nil || problems != nil {
		t.Errorf("an unreadable parent gives %v, %v", r, problems)
	}
	if r, problems := Merge(child, nil); r != nil || len(problems) != 1 {
		t.Errorf("no parent gives %v, %v", r, problems)
	}
	if r, problems := Merge(child, child); r != nil || len(problems) != 1 {
		t.Errorf("a parent that is not merged gives %v, %v", r, problems)
	}
}

// The variables of the caller, of the parent and of sub-recipes count.
func TestVariables(t *testing.T) {
	for _, c := range []struct {
		name  string
		lib   map[string]string
		given []string
		want  []string
	}{
		{"given by the caller", map[string]string{"root": "name: x\nsteps:\n  - {id: a, command: 'echo {{v}}'}\n"}, []string{"v"}, nil},
		{"a secret comes from outside", map[string]string{"root": "name: x\nsecrets: [v]\nsteps:\n  - {id: a, command: 'echo {{v}}'}\n"}, nil, nil},
		{"set by a sub-recipe", map[string]string{"root": "name: x\nsteps:\n  - {id: a, recipe: sub}\n  - {id: b, command: 'echo {{v}}'}\n",
			"sub": "name: s\ncontext: {d: 1}\nsteps:\n  - {id: a, command: x, output: v}\n"}, nil, nil},
		{"a default of a sub-recipe stays there", map[string]string{"root": "name: x\nsteps:\n  - {id: a, recipe: sub, context: {e: 1}}\n  - {id: b, command: 'echo {{d}} {{e}}'}\n",
			"sub": "name: s\ncontext: {d: 1, e: 2}\n" + oneStep}, nil, []string{`root.yaml:4:28: error: nothing sets the variable "d"`, `root.yaml:4:34: error: nothing sets the variable "e"`}},
		{"many calls bring only their output", map[string]string{"root": "name: x\ncontext: {l: [1]}\nsteps:\n  - {id: a, recipe: sub, foreach: l, output: o}\n  - {id: b, command: 'echo {{o}} {{v}}'}\n",
			"sub": "name: s\nsteps:\n  - {id: a, command: x, output: v}\n"}, nil, []string{`root.yaml:5:34: error: nothing sets the variable "v"`}},
		{"set by a sub-recipe, too late", map[string]string{"root": "name: x\nsteps:\n  - {id: b, command: 'echo {{v}}'}\n  - {id: a, recipe: sub}\n",
			"sub": "name: s\nsteps:\n  - {id: a, command: x, output: v}\n"}, nil, []string{`root.yaml:3:28: error: "v" is set only by step "a", which runs later`}},
		{"read by a sub-recipe", map[string]string{"root": "name: x\ncontext: {v: 1}\nsteps:\n  - {id: a, recipe: sub, context: {w: 2}}\n",
			"sub": "name: s\nsteps:\n  - {id: a, command: 'echo {{v}} {{w}} {{u}}'}\n"}, nil, []string{`root.yaml:4:21: error: the recipe "sub" reads "u" (sub.yaml:3:40), and nothing sets it`}},
		{"read further down", map[string]string{"root": "name: x\nsteps:\n  - {id: a, recipe: mid, context: {b: 1}}\n  - {id: b, recipe: mid}\n",
			"mid": "name: m\nsteps:\n  - {id: a, recipe: sub, context: {a: 1}}\n", "sub": "name: s\nsteps:\n  - {id: a, command: 'echo {{a}} {{b}}'}\n"},
			nil, []string{`root.yaml:4:21: error: the recipe "mid" reads "b" (sub.yaml:3:34), and nothing sets it`}},
		{"read by a sub-recipe, set too late", map[string]string{"root": "name: x\nsteps:\n  - {id: a, recipe: sub}\n  - {id: b, command: x, output: v}\n",
			"sub": "name: s\nsteps:\n  - {id: a, command: 'echo {{v}}'}\n"}, nil, []string{`root.yaml:3:21: error: the recipe "sub" reads "v" (sub.yaml:3:28), and only step "b" sets it, which runs later`}},
		{"read by a sub-recipe, set meanwhile", map[string]string{"root": "name: x\nsteps:\n  - {id: b, command: x, output: v}\n  - {id: a, recipe: sub, needs: []}\n",
			"sub": "name: s\nsteps:\n  - {id: a, command: 'echo {{v}}'}\n"}, nil, []string{`root.yaml:4:21: warning: the recipe "sub" reads "v" (sub.yaml:3:28), and step "b" sets it, which this step does not wait for`}},
		{"asked for by a rule", map[string]string{"root": "name: x\nsteps:\n  - {id: a, recipe: sub}\n  - {id: b, recipe: sub, context: {v: ' '}}\n  - {id: c, recipe: sub, context: {v: x}}\n",
			"sub": "name: s\ncontext_validation: {v: nonempty}\n" + oneStep}, nil, []string{
			`root.yaml:3:21: error: the recipe "sub" asks for "v" (sub.yaml:2:22), and nothing sets it`,
			`root.yaml:4:36: error: the recipe "sub" asks for a value of "v" (sub.yaml:2:22), and this one is empty`}},
		{"a list is wanted", map[string]string{"root": "name: x\nsteps:\n  - {id: a, recipe: sub, context: {l: one}}\n  - {id: b, recipe: sub, context: {l: [one]}}\n",
			"sub": "name: s\ncontext: {l: []}\nsteps:\n  - {id: e, foreach: l, command: x}\n"}, nil, []string{
			`root.yaml:3:36: error: the recipe "sub" goes through "l" with foreach (sub.yaml:4:5), and this is no list`}},
		{"no use for it", map[string]string{"root": "name: x\nsteps:\n  - {id: a, recipe: sub, context: {taks: 1, env_one: 2, deep: 3}}\n",
			"sub":  "name: s\ncontext: {task: ''}\nsteps:\n  - {id: a, command: 'echo $ENV_ONE'}\n  - {id: b, recipe: down}\n",
			"down": "name: d\nsteps:\n  - {id: a, command: x, condition: deep == 3}\n"}, nil, []string{`root.yaml:3:36: error: the recipe "sub" has no use for "taks"`}},
		{"compat", map[string]string{"root": "name: x\ncompat: true\nsteps:\n  - {id: a, recipe: sub}\n  - {id: b, command: 'echo {{v}}'}\n",
			"sub": "name: s\ncompat: true\nsteps:\n  - {id: a, command: 'echo {{u}}'}\n"}, nil, []string{`root.yaml:5:28: warning: nothing sets the variable "v"`}},
	} {
		lib := shelf(t, c.lib)
		var got []string
		for _, p := range CheckCalls(lib["root"], lib, c.given...) {
			got = append(got, p.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, got, c.want)
		}
	}
}
