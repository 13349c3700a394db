package recipe

import (
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay"
)

func TestSubRecipes(t *testing.T) {
	r := mustParse(t, `name: x
context: {flag: true}
steps:
  - {id: a, command: x}
  - {id: b, recipe: one}
  - {id: c, recipe: two, condition: flag}
`)
	want := []Ref{
		{Name: "one", Step: belay.Path("b"), Pos: Pos{5, 21}, Unconditional: true, file: "r.yaml"},
		{Name: "two", Step: belay.Path("c"), Pos: Pos{6, 21}, file: "r.yaml"},
	}
	if got := r.SubRecipes(); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// calls makes a recipe that calls others; a name with a ? is called on a
// condition.
func calls(t *testing.T, name string, subs ...string) *Recipe {
	t.Helper()
	src := "name: " + name + "\ncontext: {flag: true}\nsteps:\n  - {id: first, command: x}\n"
	for _, sub := range subs {
		bare := strings.TrimSuffix(sub, "?")
		src += "  - {id: s-" + bare + ", recipe: " + bare
		if bare != sub {
			src += ", condition: flag"
		}
		src += "}\n"
	}
	r, problems := Parse(name+".yaml", []byte(src))
	if r == nil {
		t.Fatalf("%v", problems)
	}
	return r
}

func TestCheckCalls(t *testing.T) {
	for _, c := range []struct {
		name string
		lib  map[string][]string // called name to its calls; "root" is where it starts
		want []string
	}{
		{"fine", map[string][]string{"root": {"a", "b"}, "a": {"b"}, "b": nil}, nil},
		{"missing", map[string][]string{"root": {"deploi", "gone?"}, "deploy": nil}, []string{
			`root.yaml:5:28: error: no recipe named "deploi" was found`, `root.yaml:6:26: error: no recipe named "gone" was found`,
		}},
		{"missing further down", map[string][]string{"root": {"a?"}, "a": {"gone"}}, []string{`a.yaml:5:26: error: no recipe named "gone" was found`}},
		{"itself", map[string][]string{"root": {"root"}}, []string{"root.yaml:5:26: error: this call never ends: root → root"}},
		{"a circle", map[string][]string{"root": {"a"}, "a": {"b"}, "b": {"a"}}, []string{"a.yaml:5:23: error: this call never ends: a → b → a"}},
		{"a circle behind a condition", map[string][]string{"root": {"a?"}, "a": {"a"}}, []string{"a.yaml:5:23: error: this call never ends: a → a"}},
		{"a circle that a condition can end", map[string][]string{"root": {"a"}, "a": {"b"}, "b": {"a?"}}, nil},
		{"a circle nobody reaches", map[string][]string{"root": nil, "a": {"a"}}, nil},
	} {
		lib := map[string]*Recipe{}
		for name, subs := range c.lib {
			lib[name] = calls(t, name, subs...)
		}
		var got []string
		for _, p := range CheckCalls(lib["root"], lib) {
			got = append(got, p.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, got, c.want)
		}
	}
}

// A recipe that was read once by its path and once by its name is two values.
func TestCheckCallsReadTwice(t *testing.T) {
	lib := map[string]*Recipe{"root": calls(t, "root", "root")}
	if got := CheckCalls(calls(t, "root", "root"), lib); len(got) != 1 || got[0].Warning {
		t.Errorf("got %v, want the one endless call", got)
	}
}

// What could not be read has problems of its own and is not missing.
func TestCheckCallsUnreadable(t *testing.T) {
	if got := CheckCalls(calls(t, "root", "bad"), map[string]*Recipe{"bad": nil}); len(got) != 0 {
		t.Errorf("got %v, want nothing", got)
	}
	if got := CheckCalls(nil, nil); got != nil {
		t.Errorf("no recipe gives %v", got)
	}
}
