package recipe

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
)

const oneStep = "steps:\n  - {id: a, command: x}\n"

// The rows of the older runner's behaviour that concern reading a file: each is
// held, or is a difference that the list of differences names.
func TestRows(t *testing.T) {
	has := func(word string) func(*testing.T, *Recipe, []Problem) {
		return func(t *testing.T, r *Recipe, problems []Problem) {
			t.Helper()
			if r != nil || !slices.ContainsFunc(problems, func(p Problem) bool { return !p.Warning && strings.Contains(p.Msg, word) }) {
				t.Errorf("want an error with %q, got %v", word, problems)
			}
		}
	}
	fine := func(check func(r *Recipe) bool) func(*testing.T, *Recipe, []Problem) {
		return func(t *testing.T, r *Recipe, problems []Problem) {
			t.Helper()
			if r == nil || !check(r) {
				t.Errorf("got %+v with %v", r, problems)
			}
		}
	}
	steps := func(list string) string { return "name: x\ncontext: {v: 1}\nsteps:\n" + list }
	typ := func(want belay.StepType) func(*testing.T, *Recipe, []Problem) {
		return fine(func(r *Recipe) bool { return r.Steps[0].Type == want })
	}
	for _, c := range []struct {
		row, src string
		compat   bool
		check    func(*testing.T, *Recipe, []Problem)
	}{
		{"1 empty", "", false, has("empty")},
		{"1 blanks", " \n\t\n", false, has("empty")},
		{"1 no name", oneStep, false, has(`needs "name"`)},
		{"1 empty name", "name: ''\n" + oneStep, false, has(`"name" is empty`)},
		{"1 no steps", "name: x\n", false, has(`needs "steps"`)},
		{"1 empty steps", "name: x\nsteps: []\n", false, has("at least one step")},
		{"1 empty id", steps("  - {id: '', command: x}\n"), false, has(`"id" is empty`)},
		{"1 same id", steps("  - {id: a, command: x}\n  - {id: a, command: x}\n"), false, has("given twice")},
		{"2 a million bytes", "name: x\n" + oneStep + "#" + strings.Repeat("x", 1_000_000-9-len(oneStep)), false, fine(func(*Recipe) bool { return true })},
		{"2 more (difference file-size)", "name: x\n" + oneStep + "#" + strings.Repeat("x", 1_000_001), false, fine(func(*Recipe) bool { return true })},
		{"3 a name in words", "name: build (all) now\n" + oneStep, false, fine(func(r *Recipe) bool { return r.Name == "build (all) now" })},
		{"3 empty command (difference empty-command)", steps("  - {id: a, command: ''}\n"), false, has(`"command" is empty`)},
		{"3 empty command, compat", steps("  - {id: a, command: ''}\n"), true, fine(func(r *Recipe) bool { return r.Steps[0].Script.Text == "" })},
		{"4 unknown key (difference unknown-keys)", "name: x\nauthr: me\n" + oneStep, false, has(`unknown key "authr"`)},
		{"4 unknown keys, compat", "name: x\nauthr: me\nsteps:\n  - {id: a, command: x, depends_on: [b]}\n", true, fine(func(*Recipe) bool { return true })},
		{"5 no prompt (difference empty-prompt)", steps("  - {id: a, agent: b}\n"), false, has("needs a prompt")},
		{"5 no command, compat", steps("  - {id: a}\n"), true, fine(func(r *Recipe) bool { return r.Steps[0].Script != nil })},
		{"6 recipe", steps("  - {id: a, recipe: b}\n"), false, typ(belay.TypeRecipe)},
		{"6 agent", steps("  - {id: a, agent: b, prompt: c, output: o}\n"), false, typ(belay.TypeAgent)},
		{"6 prompt alone", steps("  - {id: a, prompt: c, output: o}\n"), false, typ(belay.TypeAgent)},
		{"6 bash", steps("  - {id: a, command: b}\n"), false, typ(belay.TypeBash)},
		{"6 recipe before agent, compat", steps("  - {id: a, recipe: b, agent: c, prompt: d}\n"), true, typ(belay.TypeRecipe)},
		{"6 command and prompt, compat", steps("  - {id: a, prompt: c, command: b}\n"), true, typ(belay.TypeBash)},
		{"6 type wins, compat", steps("  - {id: a, type: bash, prompt: c, command: b, recipe: d}\n"), true, typ(belay.TypeBash)},
		{"6 type wins (difference idle-keys)", steps("  - {id: a, type: bash, prompt: c, command: b}\n"), false, has("does not apply")},
		{"7 defaults", "name: x\n" + oneStep, false, fine(func(r *Recipe) bool {
			return r.Version == "1.0.0" && r.Recursion == (Recursion{}) && r.Hooks == (Hooks{}) && belay.DefaultLimits().MaxDepth == 6 && belay.DefaultLimits().MaxTotalSteps == 200
		})},
		{"11 skill", steps("  - {id: a, type: skill}\n"), false, has("bash, agent, recipe, call or approve")},
		{"11 loop, compat", steps("  - {id: a, type: loop}\n"), true, has("bash, agent, recipe, call or approve")},
		{"12 quoted number", steps("  - {id: a, command: x, timeout: '3'}\n"), false, has("needs a duration")},
		{"12 quoted boolean", steps("  - {id: a, command: x, parse_json: 'true', output: o}\n"), false, has("needs true or false")},
		{"12 negative timeout", steps("  - {id: a, command: x, timeout: -3}\n"), true, has("more than 0")},
		{"12 list as command", steps("  - {id: a, command: [x]}\n"), true, has("needs a text")},
		{"12 numbers as texts", "name: 5\nversion: 2\nsteps:\n  - {id: 7, command: 8}\n", false, fine(func(r *Recipe) bool {
			return r.Name == "5" && r.Version == "2" && r.Steps[0].ID == "7" && r.Steps[0].Script.Source == "8"
		})},
	} {
		t.Run(c.row, func(t *testing.T) {
			var opts []Option
			if c.compat {
				opts = append(opts, Compat())
			}
			r, problems := Parse("r.yaml", []byte(c.src), opts...)
			c.check(t, r, problems)
		})
	}
}

// Row 4: in compat a key that has no effect is named all the same.
func TestCompatStillWarns(t *testing.T) {
	src := []byte("name: x\nauthr: me\nsteps:\n  - {id: a, command: x, depends_on: [b]}\n")
	r, problems := Parse("r.yaml", src, Compat())
	if r == nil || !r.Compat || len(problems) != 2 || !problems[0].Warning || problems[0].Hint != `did you mean "author"?` || problems[1].Hint != `did you mean "needs"?` {
		t.Errorf("got %v", problems)
	}
}

func TestCompatShell(t *testing.T) {
	for src, want := range map[string]effect.Shell{
		"":                              effect.ShellStrict,
		"compat: true\n":                effect.ShellPlain,
		"compat: false\n":               effect.ShellStrict,
		"compat: true\nshell: strict\n": effect.ShellStrict,
		"shell: plain\n":                effect.ShellPlain,
	} {
		r := mustParse(t, "name: x\n"+oneStep+src) // also when it comes after the steps
		if r.Shell != want || r.Steps[0].Shell != want {
			t.Errorf("%q: %s, %s", src, r.Shell, r.Steps[0].Shell)
		}
	}
}

func TestDefaultsOfSteps(t *testing.T) {
	r := mustParse(t, `name: x
context: {dir: d}
steps:
  - {id: a, command: x}
  - {id: b, command: x, timeout_seconds: 5, fatal: true, retry: 1}
  - {id: c, recipe: y}
  - {id: d, prompt: p, output: o, expect: answer}
defaults: {timeout: 7, optional: true, retry: {max_attempts: 3, backoff: 1s}, model: m, working_dir: "{{dir}}", shell: plain, max_parallel: 2}
`)
	a, b, c, d := &r.Steps[0], &r.Steps[1], &r.Steps[2], &r.Steps[3]
	if a.Timeout.Seconds() != 7 || !a.Optional || a.Retry.MaxAttempts != 3 || a.Dir.String() != "{{dir}}" || a.Shell != effect.ShellPlain || a.Model != "" || a.MaxItems != 0 {
		t.Errorf("a is %+v", a)
	}
	if b.Timeout.Seconds() != 5 || b.Optional || b.Retry != (Retry{MaxAttempts: 1}) {
		t.Errorf("b is %+v", b)
	}
	if c.Timeout.Seconds() != 7 || c.Shell != effect.ShellStrict || d.Model != "m" || !d.Optional {
		t.Errorf("c is %+v\nd is %+v", c, d)
	}
	if got := CheckCalls(r, map[string]*Recipe{"y": mustParse(t, "name: y\n"+oneStep)}); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

// Adjacent steps of a group share what they wait for; what follows waits for
// all of them.
func TestGroups(t *testing.T) {
	r := mustParse(t, `name: x
steps:
  - {id: a, command: x}
  - {id: b, command: x, parallel_group: g}
  - {id: c, prompt: x, output: o, parallel_group: g}
  - {id: d, command: x, parallel_group: h}
  - {id: e, command: x, parallel_group: h}
  - {id: f, command: x}
  - {id: g, command: x, parallel_group: g}
  - {id: h, command: x, needs: [b]}
  - {id: i, command: x}
`)
	want := [][]int{{}, {0}, {0}, {1, 2}, {1, 2}, {3, 4}, {5}, {1}, {7}}
	for i, s := range r.Steps {
		if !slices.Equal(s.Needs, want[i]) {
			t.Errorf("%s needs %v, want %v", s.ID, s.Needs, want[i])
		}
	}
	checkNeeds(t, r)
	var b bytes.Buffer
	b.WriteString("name: x\nsteps:\n")
	for i := range MaxGroup + 1 {
		b.WriteString("  - {id: s" + strings.Repeat("x", i%50) + string(rune('a'+i/50)) + ", command: x, parallel_group: g}\n")
	}
	if _, problems := Parse("r.yaml", b.Bytes()); len(problems) != 1 || problems[0].Msg != "a group has at most 256 steps" {
		t.Errorf("a group that is too large: %v", problems)
	}
}

func TestResults(t *testing.T) {
	r := mustParse(t, `name: x
steps:
  - {id: a, command: x, output: o, parse_json: true}
  - {id: b, command: x, output: p, parse_json: true, parse_json_required: true}
  - {id: c, command: x, outputs: {f: {file: ../out/a.txt}, j: {json: "items[0].id"}, k: {json: "[2]"}}}
  - {id: d, command: "echo {{it}}", foreach: j, as: it, max_parallel: 4, when_tags: [fast, 5]}
  - {id: e, command: x, output: q, parse_json: false}
`)
	modes := []effect.JSONMode{effect.JSONExtract, effect.JSONRequired, effect.JSONAuto, effect.JSONAuto, effect.JSONAuto}
	for i, s := range r.Steps {
		if s.JSON != modes[i] {
			t.Errorf("%s: %q", s.ID, s.JSON)
		}
	}
	want := []effect.OutputSpec{{Name: "f", File: "../out/a.txt"}, {Name: "j", Path: "items[0].id"}, {Name: "k", Path: "[2]"}}
	if d := r.Steps[3]; !slices.Equal(r.Steps[2].Outputs, want) || d.Foreach != "j" || d.As != "it" || d.MaxItems != 4 || !slices.Equal(d.Tags, []string{"fast", "5"}) {
		t.Errorf("got %+v and %+v", r.Steps[2].Outputs, d)
	}
	if got := CheckCalls(r, nil); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

func TestTopOfRecipe(t *testing.T) {
	r := mustParse(t, `name: x
secrets: [token, GH_TOKEN]
context: {token: ""}
context_validation: {token: nonempty, repo: git_repo, dir: path, later: , any: optional}
hooks: {pre_step: "echo {{token}}", on_error: }
extends: base
`+oneStep)
	kinds := []RuleKind{RuleNonempty, RuleGitRepo, RulePath, RuleOptional, RuleOptional}
	for i, rule := range r.Rules {
		if rule.Kind != kinds[i] {
			t.Errorf("%s is %s", rule.Name, rule.Kind)
		}
	}
	if len(r.Rules) != 5 || !slices.Equal(r.Secrets, []string{"token", "GH_TOKEN"}) || r.Hooks.PreStep == nil || len(r.Hooks.PreStep.Uses) != 1 ||
		r.Hooks.PostStep != nil || r.Hooks.OnError != nil || r.Extends != "base" {
		t.Errorf("got %+v", r)
	}
}
