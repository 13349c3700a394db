package recipe

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// The steps of finally stand behind all others, wherever the key stands; the first
// waits for whatever nobody else waits for.
func TestFinallyComesLast(t *testing.T) {
	r := parsed(t, `name: x
defaults: {on_failure: escalate}
finally:
  - {id: f1, command: a, timeout: 7}
  - {id: f2, command: b}
steps:
  - {id: a, command: a, fallback: {step: instead}}
  - {id: b, command: b}
  - {id: c, command: c, needs: [a]}
  - {id: instead, command: d}
`)
	var ids []string
	for _, s := range r.Steps {
		ids = append(ids, string(s.ID))
	}
	f1, f2 := r.Steps[4], r.Steps[5]
	if got := strings.Join(ids, " "); got != "a b c instead f1 f2" || r.Body() != 4 {
		t.Errorf("%s, and %d before finally", got, r.Body())
	}
	if !slices.Equal(f1.Needs, []int{1, 2}) || !slices.Equal(f2.Needs, []int{4}) {
		t.Errorf("they wait for %v and %v", f1.Needs, f2.Needs)
	}
	if f1.Timeout != 7*time.Second || f2.Timeout != FinallyTimeout || !f1.Optional || f1.Escalate {
		t.Errorf("%+v", f1)
	}

	child := parsed(t, "name: y\nextends: x\nsteps: [{id: d, command: d}]\nfinally: [{id: f1, command: mine}, {id: f3, command: c}]\n")
	m, problems := Merge(child, r)
	if m == nil {
		t.Fatal(problems)
	}
	if m.Body() != 5 || m.Steps[4].ID != "d" || m.Steps[5].Script.Source != "mine" || m.Steps[7].ID != "f3" {
		t.Errorf("merged: %d before finally, then %s, %s", m.Body(), m.Steps[5].ID, m.Steps[7].ID)
	}
}

func TestFinallyIsChecked(t *testing.T) {
	for src, want := range map[string]string{
		"steps: [{id: a, command: a, needs: [f]}]\nfinally: [{id: f, command: f}]":                            `the step "f" belongs to finally`,
		"steps: [{id: a, command: a, fallback: {step: f}}]\nfinally: [{id: f, command: f}]":                   `the step "f" belongs to finally`,
		"steps: [{id: finally, command: a}]\nfinally: [{id: f, command: f}]":                                  `the id "finally" stands for all steps of finally`,
		"steps: [{id: a, command: a}]\nfinally: [{id: a, command: f}]":                                        `the id "a" is given twice`,
		"steps: [{id: a, command: a}]\nfinally: [{id: f, command: f, parallel_group: g}]":                     `"parallel_group" does not apply to a step of finally`,
		"steps: [{id: a, command: a}]\nfinally: []":                                                           `"finally" needs at least one step`,
		"finally: [{id: f, command: f}]":                                                                      `a recipe needs "steps"`,
		"steps: [{id: a, command: 'echo {{run.status}}'}]\nfinally: [{id: f, command: f}]":                    `nothing sets the variable "run"`,
		"steps: [{id: a, command: 'echo {{v}}'}]\nfinally: [{id: f, command: f, output: v}]":                  `"v" is set only by step "f", which runs later`,
		"steps: [{id: a, command: a, output: v}]\nfinally: [{id: f, command: 'echo {{v}}'}]":                  `"v" may be missing: only step "a" sets it, which the run may not come to`,
		"ends: v\nsteps: [{id: a, command: a}]\nfinally: [{id: f, command: f, output: v}]":                    `nothing sets the variable "v"`,
		"steps: [{id: finally, command: a}]":                                                                  "",
		"steps: [{id: a, command: a}]\nfinally: [{id: f, command: 'echo {{run.status}}', condition: run.ok}]": "",
	} {
		r, problems := Parse("r.yaml", []byte("name: x\n"+src+"\n"))
		if r != nil {
			problems = append(problems, CheckCalls(r, nil)...)
		}
		var got []string
		for _, p := range problems {
			got = append(got, p.Msg)
		}
		if text := strings.Join(got, "\n"); !strings.Contains(text, want) || want == "" && text != "" {
			t.Errorf("%s\ngot  %s\nwant %s", src, text, want)
		}
	}
}
