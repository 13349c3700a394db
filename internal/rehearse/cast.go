package rehearse

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/pattern"
	"github.com/belay-run/belay/recipe"
)

// act is one act of a script: one name with what belongs to it.
type act map[string]any

// Script is what the agents of a recipe do on a good day: a small plausible
// thing that leaves behind what each step expects. It guesses from the recipe
// which files and which fields are wanted.
func Script(set *library.Set, seed int) ([]byte, error) {
	c := &cast{seed: seed}
	for _, src := range set.Sources {
		c.text += string(src) + "\n"
	}
	steps, plans := map[string]any{}, map[string]any{"*": []act{{"answer": plan("this")}}}
	var parts []map[string]any
	mended := act{"answer": "I finished what was left to do."}
	recoveries := map[string]any{"*": []act{c.note("recovery.txt", "a recovery"), mended}}
	for _, r := range set.Library.Recipes {
		for i := range r.Steps {
			s := &r.Steps[i]
			if s.Type.Child() {
				recoveries[string(s.ID)] = append(c.files(s, set.Expects(r, i)), c.note("recovery.txt", "a recovery"), mended)
			}
			if s.Type.Agent() {
				steps[string(s.ID)] = c.acts(s, set.Expects(r, i))
				plans[string(s.ID)] = []act{{"answer": plan(string(s.ID))}}
				parts = append(parts, map[string]any{"when": partOf(string(s.ID)), "acts": steps[string(s.ID)]})
			}
		}
	}
	steps["*"] = map[string]any{"cases": append(parts, map[string]any{"acts": []act{c.note("work.txt", "a step"), {"answer": "Done."}}})}
	b, err := yaml.Marshal(map[string]any{"roles": map[string]any{
		"*":                        map[string]any{"steps": steps},
		string(belay.RoleRepair):   []act{c.note("repair.txt", "a repair"), {"answer": "I looked at what failed and mended it."}},
		string(belay.RoleRecovery): map[string]any{"steps": recoveries},
		string(belay.RolePlan):     map[string]any{"steps": plans},
	}})
	if err != nil {
		return nil, fmt.Errorf("write the script: %w", err)
	}
	return append([]byte("# What the agents do on a good day. Change it and give it back with --script.\n"), b...), nil
}

// partOf is in the task of each part of a step, so that whoever does it is known
// to stand in for the step.
func partOf(step string) string { return "part of what step " + step + " has to do" }

// plan is the task of a step in two parts.
func plan(step string) map[string]any {
	part := func(n string) map[string]any {
		return map[string]any{
			"title": n + " part of " + step, "task": "Do the " + n + " " + partOf(step) + ".", "check": "true",
			"files": []string{"rehearsal/" + n + ".txt"},
		}
	}
	return map[string]any{"parts": []any{part("first"), part("second")}}
}

// cast makes up what agents do.
type cast struct {
	text string // all recipes
	seed int
}

func (c *cast) note(file, who string) act {
	return act{"append": map[string]string{
		"path": "rehearsal/" + file, "text": fmt.Sprintf("%s, rehearsed with seed %d\n", who, c.seed),
	}}
}

var (
	fileWord   = pattern.Lazy(`(?:^|[\s"'(` + "`" + `])([A-Za-z0-9_][A-Za-z0-9_/-]+\.[a-z][a-z0-9]{0,4})\b`)
	testFile   = pattern.Lazy(`(?:test|\[)\s+-[efs]\s+["']?([A-Za-z0-9_][A-Za-z0-9_./-]*)`)
	grepFile   = pattern.Lazy(`grep\s+(?:-\w+\s+)*(?:"([^"$]*)"|'([^']*)'|([\w.-]+))\s+["']?([A-Za-z0-9_][A-Za-z0-9_./-]*)`)
	saysCommit = pattern.Lazy(`(?i)\bcommit`)
)

// acts are those of one step.
func (c *cast) acts(s *recipe.Step, expect belay.Expect) []act {
	list := []act{{"say": fmt.Sprintf("This is a rehearsal of step %s.", s.ID)}}
	files := c.files(s, expect)
	prompt := s.Prompt.String()
	switch expect {
	case belay.ExpectChange:
		if len(files) == 0 {
			files = []act{c.note(string(s.ID)+".txt", "step "+string(s.ID))}
		}
		list = append(list, files...)
		if saysCommit().MatchString(prompt) {
			list = append(list, act{"commit": fmt.Sprintf("rehearse %s", s.ID)})
		}
	case belay.ExpectPR:
		return append(append(list, files...), act{"answer": c.answer(s, "The pull request is https://example.org/rehearsal/pull/1.")})
	case belay.ExpectTests, belay.ExpectNone, belay.ExpectAnswer, "":
		list = append(list, files...)
	}
	return append(list, act{"answer": c.answer(s, fmt.Sprintf("Step %s is done, in a rehearsal.", s.ID))})
}

// files are those that the step is asked to write, as far as its prompt, its
// outputs and its check name them.
func (c *cast) files(s *recipe.Step, expect belay.Expect) []act {
	var list []act
	seen := map[string]bool{}
	add := func(path, text string) {
		if seen[path] || strings.Contains(path, "..") || len(list) > 9 {
			return
		}
		seen[path] = true
		list = append(list, act{"append": map[string]string{"path": path, "text": text + "\n"}})
	}
	said := fmt.Sprintf("step %s, rehearsed with seed %d", s.ID, c.seed)
	if s.Verify != nil {
		for _, m := range grepFile().FindAllStringSubmatch(s.Verify.Source, -1) {
			add(m[4], m[1]+m[2]+m[3])
		}
		for _, m := range testFile().FindAllStringSubmatch(s.Verify.Source, -1) {
			add(m[1], said)
		}
	}
	for _, o := range s.Outputs {
		if o.File != "" {
			add(o.File, said)
		}
	}
	switch expect {
	case belay.ExpectChange, belay.ExpectTests, belay.ExpectPR:
		if s.Prompt == nil { // it calls a recipe
			break
		}
		for _, m := range fileWord().FindAllStringSubmatch(s.Prompt.String(), -1) {
			add(m[1], said)
		}
	case belay.ExpectNone, belay.ExpectAnswer, "":
	}
	return list
}

// forms are the forms of answers that the shipped recipes ask for, by a key that stands in
// the prompt, with what an agent says on a good day. A copy of such a recipe has them, too.
var forms = []struct {
	key    string
	answer map[string]any
}{
	{`"goal_status"`, map[string]any{"goal_status": string(belay.Achieved), "summary": "All of it is there, in a rehearsal."}},
	{`"success_criteria"`, map[string]any{
		"task_type": "Development", "goal": "it is there, in a rehearsal",
		"success_criteria": []any{map[string]any{"id": "c1", "text": "it is there", "check": "test -s " + goodFile}},
		"workstreams":      []any{map[string]any{"name": "one", "description": "make it", "criteria": []any{"c1"}}},
	}},
	{`"findings"`, map[string]any{"findings": []any{}}},
}

// goodFile is what step implement of a shipped recipe leaves behind.
const goodFile = "rehearsal/implement.txt"

// answer is the final text of a step: JSON where its fields or a list are wanted.
func (c *cast) answer(s *recipe.Step, text string) any {
	for _, f := range forms {
		if s.Prompt != nil && strings.Contains(s.Prompt.String(), f.key) {
			return f.answer
		}
	}
	var value any
	for _, o := range s.Outputs {
		if o.Path != "" {
			value = put(value, words(o.Path), "rehearsed")
		}
	}
	if s.Output != "" && s.JSON != effect.JSONAuto {
		value = c.fields(s.Output, value)
	}
	if s.Output != "" {
		value = c.lists(s.Output, value)
	}
	if value == nil && s.JSON != effect.JSONAuto {
		value = map[string]any{"ok": true, "note": text}
	}
	if value == nil {
		return text
	}
	return value
}

// fields are those of a variable that the recipes read.
func (c *cast) fields(name string, value any) any {
	reads := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `((?:\.[A-Za-z_][A-Za-z0-9_]*|\[\d{1,2}\])+)(\(?)`)
	for _, m := range reads.FindAllStringSubmatch(c.text, -1) {
		path := words(m[1])
		if m[2] != "" { // the last one is what is asked of it
			path = path[:len(path)-1]
		}
		if len(path) > 0 {
			value = put(value, path, "rehearsed")
		}
	}
	return value
}

// lists are the places of a variable that steps walk through.
func (c *cast) lists(name string, value any) any {
	walks := regexp.MustCompile(`foreach:\s*["'{ ]*` + regexp.QuoteMeta(name) + `((?:\.[A-Za-z_][A-Za-z0-9_]*)*)\b`)
	for _, m := range walks.FindAllStringSubmatch(c.text, -1) {
		value = put(value, words(m[1]), []any{"one", "two"})
	}
	return value
}

// words are the parts of a path: a.b[0] is a, b, 0.
func words(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

// put sets a place in a value; what is there already stays, unless it is less.
func put(value any, path []string, leaf any) any {
	if len(path) == 0 {
		if value == nil || value == "rehearsed" {
			return leaf
		}
		return value
	}
	if n, err := strconv.Atoi(path[0]); err == nil {
		list, _ := value.([]any)
		list = slices.Clone(list)
		for len(list) <= n {
			list = append(list, nil)
		}
		list[n] = put(list[n], path[1:], leaf)
		return list
	}
	object, _ := value.(map[string]any)
	if object == nil {
		object = map[string]any{}
	}
	object[path[0]] = put(object[path[0]], path[1:], leaf)
	return object
}
