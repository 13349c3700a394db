package recipe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
)

func mustParse(t *testing.T, src string) *Recipe {
	t.Helper()
	r, problems := Parse("r.yaml", []byte(src))
	if len(problems) > 0 {
		t.Fatalf("%d problems, the first: %s", len(problems), problems[0].Format([]byte(src)))
	}
	return r
}

// promise: F8
// promise: F9
func TestParseWhole(t *testing.T) {
	src := `
name: deploy (all)
description: |
  Builds and ships.
version: 2.10
author: me
tags: [a, 5]
context: {target: prod, count: 3}
recursion: {max_depth: 4, max_total_steps: 50}
allow_empty: true
shell: plain
steps:
  - id: build
    description: makes it
    command: make
    output: build_log
    condition: target == 'prod'
    working_dir: "src/{{target}}"
    timeout: 90
    retry: {max_attempts: 3, backoff: 500ms}
    verify: test -f out
    once: true
    optional: true
    env: {CC: gcc, LEVEL: 2, EMPTY: }
    shell: strict
    failure: infrastructure
    on_failure: escalate
  - id: 5
    type: recipe
    recipe: ship-it
    context: {to: "{{target}}", n: 3, flags: [yes, true], none: null, "plain": "3"}
    timeout_seconds: "5m"
    retry: 2
    fatal: false
    verify: test -e done
    needs: []
`
	r := mustParse(t, src)
	if r.Name != "deploy (all)" || r.Description != "Builds and ships.\n" || r.Version != "2.10" ||
		!slices.Equal(r.Tags, []string{"a", "5"}) || r.Recursion != (Recursion{4, 50}) || !r.AllowEmpty || r.Shell != effect.ShellPlain ||
		r.File != "r.yaml" || r.Digest != Digest([]byte(src)) || len(r.Digest) != 64 {
		t.Errorf("the head is %+v", r)
	}
	b := r.Steps[0]
	if b.ID != "build" || b.Type != belay.TypeBash || b.Script.Source != "make" || b.Output != "build_log" || b.Condition.String() != "target == 'prod'" ||
		b.Dir.String() != "src/{{target}}" || b.Timeout != 90*time.Second || b.Retry != (Retry{3, 500 * time.Millisecond}) || b.Verify.Source != "test -f out" ||
		!b.Once || !b.Optional || !reflect.DeepEqual(b.Env, map[string]string{"CC": "gcc", "LEVEL": "2", "EMPTY": ""}) ||
		b.Shell != effect.ShellStrict || b.Failure != belay.Infrastructure || !b.Escalate || b.Pos != (Pos{13, 5}) {
		t.Errorf("the first step is %+v", b)
	}
	s := r.Steps[1]
	if s.ID != "5" || !s.Type.Child() || s.Recipe != "ship-it" || s.Timeout != 5*time.Minute || s.Retry != (Retry{2, 0}) ||
		!s.Optional || s.Verify.Source != "test -e done" || s.Shell != effect.ShellPlain || s.Escalate || s.Once {
		t.Errorf("the second step is %+v", s)
	}
	var args []string
	for _, a := range s.Context {
		if a.Text != nil {
			args = append(args, a.Name+"="+a.Text.String())
		} else {
			args = append(args, a.Name+":"+string(a.JSON))
		}
	}
	if want := []string{"to={{target}}", "n:3", `flags:["yes",true]`, "none:null", "plain=3"}; !slices.Equal(args, want) {
		t.Errorf("the arguments are %q, want %q", args, want)
	}
}

func TestDefaults(t *testing.T) {
	r := mustParse(t, "name: x\ncontext:\ntags:\nsteps:\n  - id: a\n    command: x\n")
	s := r.Steps[0]
	if r.Version != "1.0.0" || r.Shell != effect.ShellStrict || r.Recursion != (Recursion{}) || r.AllowEmpty || len(r.Context) != 0 {
		t.Errorf("the head is %+v", r)
	}
	if s.Shell != effect.ShellStrict || s.Retry != (Retry{MaxAttempts: 1}) || s.Timeout != 0 || s.Needs == nil || s.Condition != nil || s.Dir != nil || s.Optional {
		t.Errorf("the step is %+v", s)
	}
}

func TestSpellingsOfOptional(t *testing.T) {
	for spelling, want := range map[string]bool{
		"optional: true": true, "continue_on_error: true": true, "nonfatal: true": true, "fatal: false": true,
		"optional: false": false, "fatal: true": false, "fatal: false, optional: true": true,
	} {
		r := mustParse(t, "name: x\nsteps:\n  - {id: a, command: x, "+spelling+"}\n")
		if r.Steps[0].Optional != want {
			t.Errorf("%s makes optional %v", spelling, r.Steps[0].Optional)
		}
	}
}

func TestContextTypes(t *testing.T) {
	for yaml, want := range map[string]string{
		"true": "true", "False": "false", "yes": `"yes"`, "no": `"no"`, "on": `"on"`, "Off": `"Off"`, `"true"`: `"true"`,
		"42": "42", "-7": "-7", "+7": "7", "0": "0", "-0": "0", "007": `"007"`, "0777": `"0777"`, "0x1F": "31", "0o17": "15", "1_000": `"1_000"`,
		"1.10": "1.1", "1e3": "1000", ".5": "0.5", "5.": "5", "-0.0": "0", "12345678901234567890": "12345678901234567890", "'5'": `"5"`,
		"": "null", "~": "null", "null": "null", `""`: `""`, "2020-01-01": `"2020-01-01"`, "12:30": `"12:30"`, "<a>&b": `"<a>&b"`,
		"[1, a, [], {}]": `[1,"a",[],{}]`, "{z: 1, a: {c: 2, b: 3}, 5: x}": `{"5":"x","a":{"b":3,"c":2},"z":1}`,
	} {
		r, problems := Parse("r.yaml", []byte("name: x\ncontext:\n  v: "+yaml+"\nsteps:\n  - {id: a, command: x}\n"))
		if r == nil {
			t.Fatalf("%s: %v", yaml, problems)
		}
		if got := string(r.Context[0].JSON); got != want {
			t.Errorf("%s is %s, want %s", yaml, got, want)
		}
		number := strings.Trim(yaml, "-+.0123456789abcdefxoABCDEFX") == "" && !strings.HasPrefix(want, `"`) && want != "true" && want != "false" && want != "null"
		if warned := len(problems) == 1 && strings.Contains(problems[0].Msg, "is a number to YAML"); warned != (number && want != yaml) || len(problems) > 1 {
			t.Errorf("%s becomes %s, and is warned of: %v", yaml, want, problems)
		}
		if !json.Valid(r.Context[0].JSON) {
			t.Errorf("%s is not JSON", r.Context[0].JSON)
		}
	}
}

func TestContextOrder(t *testing.T) {
	r := mustParse(t, "name: x\ncontext: {z: 1, a: 2, m: 3}\nsteps:\n  - {id: a, command: x}\n")
	var names []string
	for _, v := range r.Context {
		names = append(names, v.Name)
	}
	if !slices.Equal(names, []string{"z", "a", "m"}) || r.Context[1].Pos != (Pos{2, 17}) {
		t.Errorf("the context is %+v", r.Context)
	}
}

func TestNeeds(t *testing.T) {
	r := mustParse(t, `name: x
steps:
  - {id: a, command: x}
  - {id: b, command: x}
  - {id: c, command: x, needs: []}
  - {id: d, command: x, needs: [c, a, c]}
  - {id: e, command: x, needs: [f]}
  - {id: f, command: x, needs: [b]}
  - {id: g, command: x}
`)
	want := [][]int{{}, {0}, {}, {0, 2}, {5}, {1}, {5}}
	for i, s := range r.Steps {
		if s.Needs == nil || !slices.Equal(s.Needs, want[i]) {
			t.Errorf("%s needs %v, want %v", s.ID, s.Needs, want[i])
		}
	}
}

func TestDenied(t *testing.T) {
	for name, want := range map[string]bool{
		"PATH": false, "path": false, "Home": false, "bash_env": true, "bash-env": true, "ENV": false, "ld_preload": true, "LD_X": true,
		"DYLD_INSERT_LIBRARIES": true, "belay_run": true, "amplihack-session-depth": true, "node-options": true, "glibc_tunables": true,
		"ps4": true, "prompt_command": true, "ifs": true, "shellopts": true,
		"paths": false, "my_path": false, "env_name": false, "LDX": false, "task": false, "belays": false, "": false,
	} {
		if Denied(name) != want {
			t.Errorf("denied %q is %v, want %v", name, !want, want)
		}
	}
}

func TestSizeLimit(t *testing.T) {
	base := []byte("name: x\nsteps:\n  - {id: a, command: x}\n#")
	full := append(base, bytes.Repeat([]byte("x"), MaxBytes-len(base))...)
	if r, problems := Parse("big.yaml", full); r == nil {
		t.Errorf("%d bytes: %v", len(full), problems)
	}
	r, problems := Parse("big.yaml", append(full, 'x'))
	if r != nil || len(problems) != 1 || !strings.Contains(problems[0].Msg, "at most 16777216 are allowed") {
		t.Errorf("one byte more: %v", problems)
	}
}

func TestVeryDeep(t *testing.T) {
	_, problems := Parse("deep.yaml", []byte("name: x\ncontext: "+strings.Repeat("[", 20_000)))
	if len(problems) != 1 || problems[0].Msg != "nested more than 64 deep" {
		t.Errorf("got %v", problems)
	}
}

// Positions come from the YAML parser too, so they are never trusted.
func TestClamp(t *testing.T) {
	s := newSource([]byte("ab\n日本"))
	for in, want := range map[Pos]Pos{
		{1, 2}: {1, 2}, {0, 5}: {1, 1}, {1, 9}: {1, 3}, {1, 0}: {1, 1}, {2, 9}: {2, 3}, {7, 2}: {2, 2},
	} {
		if got := s.clamp(in); got != want {
			t.Errorf("%v becomes %v, want %v", in, got, want)
		}
	}
}

// Every line break that YAML knows counts as one, or the caret would be under
// another line.
func TestLineBreaks(t *testing.T) {
	for _, br := range []string{"\n", "\r\n", "\r", "\u0085", "\u2028"} {
		src := []byte(strings.ReplaceAll("name: x\nsteps:\n  - id: a\n    comand: x\n", "\n", br))
		_, problems := Parse("x.yaml", src)
		const want = "x.yaml:4:5: error: unknown key \"comand\"\n      comand: x\n      ^\nhint: did you mean \"command\"?"
		if len(problems) != 1 || problems[0].Format(src) != want {
			t.Errorf("%q: %q", br, problems)
		}
	}
}

// A flood of problems is cut, and no flood of warnings hides an error.
func TestFlood(t *testing.T) {
	var b strings.Builder
	b.WriteString("name: x\nsteps:\n")
	for i := range 200 {
		fmt.Fprintf(&b, "  - {id: a%d, command: x, condition: 1 < 2}\n", i)
	}
	b.WriteString("  - {id: last, comand: x}\n")
	r, problems := Parse("flood.yaml", []byte(b.String()))
	checkProblems(t, []byte(b.String()), r, problems)
	if last := problems[len(problems)-1]; len(problems) != MaxProblems || last.Warning || last.Msg != `unknown key "comand"` {
		t.Errorf("%d problems, the last: %s", len(problems), last)
	}
}

// steps makes a recipe of n steps; needs gives the needs of a step, "" for none.
func steps(n int, needs func(i int) string) []byte {
	var b bytes.Buffer
	b.WriteString("name: big\nsteps:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - id: step-%d\n    command: echo %d\n    condition: len('x') == 1\n", i, i)
		if s := needs(i); s != "" {
			fmt.Fprintf(&b, "    needs: [%s]\n", s)
		}
	}
	return b.Bytes()
}

// The time must grow with the number of steps, not with its square: a recipe
// of 10,000 steps has 50 million pairs. The bound is loose for slow machines.
func TestManySteps(t *testing.T) {
	const n = 10_000
	shapes := map[string]func(i int) string{
		"one after the other": func(int) string { return "" },
		"all need the first": func(i int) string {
			if i == 0 {
				return ""
			}
			return "step-0"
		},
		"from the end": func(i int) string {
			if i == n-1 {
				return " "
			}
			return fmt.Sprintf("step-%d", i+1)
		},
		"a circle of all":      func(i int) string { return fmt.Sprintf("step-%d", (i+1)%n) },
		"all needs are slips":  func(i int) string { return fmt.Sprintf("stpe-%d", i) },
		"a hundred back edges": func(i int) string { return fmt.Sprintf("step-%d, step-%d", (i+1)%n, max(i-100, 0)) },
	}
	for name, needs := range shapes {
		src := steps(n, needs)
		start := time.Now()
		r, problems := Parse("big.yaml", src)
		took := time.Since(start)
		checkProblems(t, src, r, problems)
		if r != nil {
			checkNeeds(t, r)
		}
		if took > 20*time.Second {
			t.Errorf("%s: %v for %d steps", name, took, n)
		}
		t.Logf("%s: %v", name, took)
	}
}

// checkNeeds holds for every recipe that parses: needs are sorted, in range and
// without circle.
func checkNeeds(t *testing.T, r *Recipe) {
	t.Helper()
	waiting := make([]int, len(r.Steps))
	waiters := make([][]int, len(r.Steps))
	for i, s := range r.Steps {
		if s.Needs == nil || !slices.IsSorted(s.Needs) {
			t.Fatalf("%s needs %v", s.ID, s.Needs)
		}
		for _, j := range s.Needs {
			if j < 0 || j >= len(r.Steps) || j == i {
				t.Fatalf("%s needs step %d", s.ID, j)
			}
			waiters[j] = append(waiters[j], i)
			waiting[i]++
		}
	}
	var ready []int
	for i, n := range waiting {
		if n == 0 {
			ready = append(ready, i)
		}
	}
	for k := 0; k < len(ready); k++ {
		for _, i := range waiters[ready[k]] {
			if waiting[i]--; waiting[i] == 0 {
				ready = append(ready, i)
			}
		}
	}
	if len(ready) != len(r.Steps) {
		t.Fatalf("only %d of %d steps can ever start", len(ready), len(r.Steps))
	}
}
