package recipe

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
)

func parsed(t *testing.T, src string) *Recipe {
	t.Helper()
	r, problems := Parse("r.yaml", []byte(src))
	if r == nil {
		t.Fatalf("%s\n%v", src, problems)
	}
	return r
}

// A step that is a fallback has no place in the order: the one after it waits
// for the one before it, and groups close over it.
func TestFallbackStepsHaveNoPlace(t *testing.T) {
	r := parsed(t, `name: x
steps:
  - {id: first, command: a, fallback: {step: plan-b}}
  - {id: plan-b, command: b, fallback: {step: plan-c}}
  - {id: second, command: c}
  - {id: g1, command: d, parallel_group: g}
  - {id: plan-c, command: e}
  - {id: g2, command: f, parallel_group: g, fallback: {step: late}}
  - {id: last, command: g}
  - {id: late, command: h}
`)
	want := map[belay.Path][]int{
		"first": {}, "plan-b": {}, "second": {0}, "g1": {2}, "plan-c": {}, "g2": {2}, "last": {3, 5}, "late": {2},
	}
	for _, s := range r.Steps {
		stand := strings.HasPrefix(string(s.ID), "plan") || s.ID == "late"
		if s.IsFallback != stand || s.Needs == nil || !slices.Equal(s.Needs, want[s.ID]) {
			t.Errorf("%s: stands in %v, needs %v, want %v", s.ID, s.IsFallback, s.Needs, want[s.ID])
		}
	}
	if f := r.Steps[0].Fallback; f == nil || *f != (Fallback{Step: "plan-b", Pos: Pos{3, 46}}) {
		t.Errorf("fallback %+v", f)
	}
}

// The fallback may be a step of the recipe that is built on, and a child that
// names another one gives the first its place back.
func TestFallbackOfAParent(t *testing.T) {
	parent := parsed(t, "name: p\npolicy: classic\nrecovery: off\nsteps:\n  - {id: a, command: a, fallback: {step: b}}\n  - {id: b, command: b}\n  - {id: c, command: c}\n")
	child := parsed(t, "name: x\nextends: p\nrecovery: on\nsteps:\n  - {id: a, command: a, fallback: {step: c}}\n  - {id: d, command: d}\n")
	m, problems := Merge(child, parent)
	if m == nil {
		t.Fatal(problems)
	}
	var got []string
	for _, s := range m.Steps {
		got = append(got, fmt.Sprintf("%s %v %v", s.ID, s.IsFallback, s.Needs))
	}
	if want := []string{"a false []", "b false [0]", "c true []", "d false [1]"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if m.Policy != "classic" || m.Recovery != "on" {
		t.Errorf("policy %q, recovery %q", m.Policy, m.Recovery)
	}
	lost := parsed(t, "name: x\nextends: p\nsteps:\n  - {id: d, command: d, fallback: {step: nobody}}\n")
	if m, problems := Merge(lost, parent); m != nil || len(problems) != 1 || !strings.Contains(problems[0].Msg, `no step has the id "nobody"`) {
		t.Errorf("%v", problems)
	}
}

// recovery: wins over its older spelling, wherever either stands; what a step
// says wins over the defaults.
// promise: A8
func TestRecoverySpellings(t *testing.T) {
	for keys, want := range map[string]string{
		"": "", ", recovery: off": "off", ", recovery: classic": "classic",
		", recovery_on_failure: false": "off", ", recovery_on_failure: true": "on",
		", recovery: off, recovery_on_failure: true": "off", ", recovery_on_failure: false, recovery: on": "on",
	} {
		r := parsed(t, "name: x\nsteps: [{id: a, recipe: y"+keys+"}]\n")
		if got := r.Steps[0].Recovery; got != want {
			t.Errorf("%q: %q, want %q", keys, got, want)
		}
	}
	r := parsed(t, "name: x\ndefaults: {recovery: off, policy: classic}\nsteps: [{id: a, recipe: y, recovery_on_failure: true, expect: change}, {id: b, command: x}]\n")
	if a, b := r.Steps[0], r.Steps[1]; a.Recovery != "on" || a.Expect != "change" || a.Policy != "classic" || b.Recovery != "" || b.Policy != "classic" {
		t.Errorf("%+v\n%+v", a, b)
	}
}

// promise: R6
func TestRolesAreRead(t *testing.T) {
	for text, want := range map[string]string{"coder": "coder", "SecurityAuditor": "security_auditor", "document_writer": "document_writer", "Custom:poet": "custom:poet"} {
		r := parsed(t, "name: x\nsteps: [{id: a, prompt: x, output: o, role: '"+text+"'}]\n")
		if got := r.Steps[0].Role; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A recipe that is a fallback is read and checked like one that is called, but
// it is not certain to be called: a circle through it has an end.
func TestFallbackRecipeIsACall(t *testing.T) {
	root := parsed(t, "name: x\nsteps:\n  - {id: a, command: make, fallback: {recipe: other}}\n  - {id: b, command: 'echo {{made}}'}\n")
	refs := root.SubRecipes()
	if len(refs) != 1 || refs[0].Name != "other" || refs[0].Step != "a" || refs[0].Unconditional || !refs[0].Fallback || refs[0].Pos != (Pos{3, 47}) {
		t.Fatalf("%+v", refs)
	}
	problems := CheckCalls(root, nil)
	if len(problems) == 0 || !strings.Contains(problems[0].Msg, `no recipe named "other" was found`) {
		t.Errorf("%v", problems)
	}
	other := parsed(t, "name: o\nsteps:\n  - {id: m, command: 'echo {{wanted}}', output: made}\n  - {id: again, recipe: other, condition: made}\n")
	problems = CheckCalls(root, map[string]*Recipe{"other": other})
	want := []string{
		`3:47: the recipe "other" reads "wanted" (r.yaml:3:28), and nothing sets it`,
		`4:28: "made" may be missing: only step "a" sets it, and only by its fallback`,
	}
	for i, p := range problems {
		if got := fmt.Sprintf("%d:%d: %s", p.Line, p.Col, p.Msg); i >= len(want) || got != want[i] {
			t.Errorf("%d: %s", i, got)
		}
	}
	if len(problems) != len(want) {
		t.Errorf("%d problems, want %d", len(problems), len(want))
	}
	self := parsed(t, "name: s\nsteps: [{id: a, command: make, fallback: {recipe: s}}]\n")
	if problems := CheckCalls(self, map[string]*Recipe{"s": self}); len(problems) != 0 {
		t.Errorf("%v", problems)
	}
}

// Long chains of fallbacks, named from the back, are linked quickly.
func TestManyFallbacks(t *testing.T) {
	const n = 20_000
	var b strings.Builder
	b.WriteString("name: x\nsteps:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - {id: s%d, command: x", i)
		if i > 0 {
			fmt.Fprintf(&b, ", fallback: {step: s%d}", i-1)
		}
		b.WriteString("}\n")
	}
	began := time.Now()
	r := parsed(t, b.String())
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("%v", took)
	}
	if !r.Steps[0].IsFallback || r.Steps[n-1].IsFallback {
		t.Error("the first stands in, the last does not")
	}
}
