package recipe

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// What parses without an error fits the schema, and what has a wrong key or
// type, or keys that do not go together, does not.
func TestSchema(t *testing.T) {
	schema := compiled(t)
	const head = "name: x\nsteps:\n  - {id: a, command: x"
	const agent = "name: x\nsteps:\n  - {id: a, prompt: x"
	for src, good := range map[string]bool{
		head + "}\n": true, head + ", retry: 2}\n": true, head + ", retry: {max_attempts: 2, backoff: 500ms}}\n": true, head + ", timeout: 5m}\n": true,
		head + ", outputs: {a: {file: x}}}\n": true, head + ", when_tags: [a, 5]}\n": true, head + "}\ncontext_validation: {a: nonempty, b: }\n": true,
		head + "}\ndefaults: {timeout: 5}\n": true, head + "}\nhooks: {pre_step: x}\n": true, head + ", fatal: false}\noutput: {format: x}\n": true,
		head + ", fatal: false, optional: true}\n": true, head + ", retry: {backoff: 0}}\n": true, head + ", timeout: 0.5s, description: }\n": true,
		head + ", outputs: {a: {json: 'x[0].y'}}}\n": true, head + ", type: bash, env: {A: , B: 5}}\n": true, agent + ", agent: me}\n": true, agent + ", type: agent, env: {A: b}}\n": true,
		agent + ", role: Coder, policy: classic}\n": true, agent + ", role: 'custom:poet'}\npolicy: belay\nrecovery: off\n": true, agent + ", role: a b}\n": false, head + ", role: coder}\n": false,
		"name: x\nsteps: [{id: a, recipe: y, expect: change, recovery: classic, recovery_on_failure: true}]\n": true, head + "}\nrecovery: maybe\n": false,
		head + ", needs: []}\ndefaults: {max_parallel: 2}\n": true, "name: 5\nsteps: [{id: 5, recipe: y, context: {a: b}}]\n": true,

		"name: x\n": false, "name: x\nsteps: []\n": false, head + ", comand: x}\n": false, head + ", retry: 0}\n": false, head + ", retry: {max: 2}}\n": false,
		head + ", timeout: soon}\n": false, head + ", type: loop}\n": false, head + ", once: 'true'}\n": false, head + ", runs_on: [x, a.b-c]}\nruns_on: [y]\n": true, head + ", runs_on: [a b]}\n": false, head + ", runs_on: x}\n": false,
		head + "}\ncontext_validation: {a: other}\n": false, head + "}\ndefaults: {id: 5}\n": false, head + "}\nhooks: {pre: x}\n": false, head + ", outputs: {a: {url: x}}}\n": false,

		head + ", timeout: 0}\n": false, head + ", timeout: 0m0.0s}\n": false, head + ", outputs: {a: {}}}\n": false, head + ", outputs: {a: {file: x, json: y}}}\n": false,
		head + ", prompt: y}\n": false, head + ", timeout: 5, timeout_seconds: 5}\n": false, head + ", fatal: true, optional: true}\n": false,
		head + ", fatal: false, nonfatal: false}\n": false, head + ", optional: true, nonfatal: false}\n": false, "name: x\nsteps: [{id: a, command: ' '}]\n": false,
		"name: x\nsteps: [{id: a, command: }]\n": false, "name: x\nsteps: [{id: a}]\n": false, head + ", recipe: y}\n": false, head + ", type: recipe}\n": false,
		agent + ", type: bash}\n": false, agent + ", shell: plain}\n": false, head + ", model: x}\n": false, head + ", as: x}\n": false, head + ", max_parallel: 2}\n": false,
		head + ", needs: }\n": false, head + ", parallel_group: g, needs: []}\n": false, head + ", fallback: {recipe: b}}\n": true, head + ", fallback: {recipe: a/b}}\n": false, head + ", recovery: off}\n": false, "name: ' '\nsteps: [{id: a, command: x}]\n": false,
		agent + ", fallback: {}}\n": false, agent + ", fallback: {step: b, recipe: c}}\n": false, head + ", env: {A-B: c}}\n": false, head + ", env: {A: '{{c}}'}}\n": false,
		head + ", foreach: [a, 5, {b: c}]}\n": true, head + ", foreach: []}\n": false, head + ", foreach: {a: b}}\n": false, head + ", foreach: '[a, b]'}\n": false, head + ", foreach: a b}\n": false,
		head + ", foreach: x, outputs: {a: {json: b}}}\ncontext: {x: []}\n": false, head + ", output: a b}\n": false, head + ", retry: 1001}\n": false,
		head + "}\ndefaults: {timeout: 5, timeout_seconds: 6}\n": false, head + "}\nsecrets: [a b]\n": false, head + "}\ncontext: {a b: c}\n": false,
	} {
		if problem := misfit(t, schema, []byte(src)); (problem == nil) != good {
			t.Errorf("%q: %v", src, problem)
		}
		if r, _ := Parse("r.yaml", []byte(src)); (r != nil) != good {
			t.Errorf("%q: the parser does not agree", src)
		}
	}
}

func TestSchemaTakesRecipes(t *testing.T) {
	schema := compiled(t)
	taken := 0
	for _, glob := range []string{"../examples/*/*.yaml", "../cmd/belay/testdata/corpus/*.yaml", "testdata/*.yaml"} {
		files, err := filepath.Glob(glob)
		if err != nil || len(files) == 0 {
			t.Fatalf("no files %s: %v", glob, err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strict(src) {
				continue
			}
			taken++
			if problem := misfit(t, schema, src); problem != nil {
				t.Errorf("%s: %v", file, problem)
			}
		}
	}
	if taken < 30 {
		t.Errorf("only %d recipes were looked at", taken)
	}
}

// strict tells of a recipe without an error that is not read as the older runner would.
func strict(src []byte) bool {
	r, problems := Parse("r.yaml", src)
	return r != nil && !bytes.Contains(src, []byte("compat: true")) && !slices.ContainsFunc(problems, func(p Problem) bool { return !p.Warning })
}

// blind are the mistakes that a schema cannot see, by what the parser says.
var blind = []string{
	`would overwrite one that the system`,                    // the list is long, and letters of both cases count
	`\{\{`, `^condition: `, `its condition is always false$`, // inside a text
	`^command: the script is not correct bash`, `longer than a year$`, // inside a text
	`is already the output of this step`, `^the id .* is given twice`, // two places of the file
	`^no step has the id`, `needs itself$`, `^steps need each other`, // two places of the file
	`is its own fallback$`, `^steps are each other's fallback`, // two places of the file
	`a number that a value can hold$`, // no JSON has it
}

// Every golden mistake, each alone in a recipe of its own, is refused by the
// schema as well, unless no schema could see it.
func TestSchemaSeesMistakes(t *testing.T) {
	schema := compiled(t)
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	var unseen []string
	used := map[string]bool{}
	seen := 0
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range partsOf(t, src) {
			first := firstError(part)
			if first == "" || misfit(t, schema, part) != nil {
				seen += min(len(first), 1)
				continue
			}
			i := slices.IndexFunc(blind, func(form string) bool { return regexp.MustCompile(form).MatchString(first) })
			if i < 0 {
				t.Errorf("%s: the schema accepts what is refused with %q:\n%s", file, first, part)
				continue
			}
			used[blind[i]] = true
			unseen = append(unseen, first)
		}
	}
	for _, form := range blind {
		if !used[form] {
			t.Errorf("no mistake needs %q", form)
		}
	}
	t.Logf("the schema sees %d mistakes; it cannot see %d:\n%s", seen, len(unseen), strings.Join(unseen, "\n"))
	if seen < 100 {
		t.Errorf("only %d mistakes were seen", seen)
	}
}

// firstError is what the parser refuses a recipe with; "" when it does not, or
// when it is read as the older runner would.
func firstError(src []byte) string {
	_, problems := Parse("r.yaml", src)
	for _, p := range problems {
		if !p.Warning && !bytes.Contains(src, []byte("compat: true")) {
			return p.Msg
		}
	}
	return ""
}

// partsOf are the parts of a file, each as a recipe of its own: every key at the
// top with a fine step, every step with a fine name, and the steps together.
// A file that is no YAML has none.
func partsOf(t *testing.T, src []byte) [][]byte {
	t.Helper()
	doc := readTree(src)
	if doc == nil {
		return nil
	}
	root := doc.Content[0]
	var list [][]byte
	write := func(v any) {
		raw, err := yaml.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, raw)
	}
	fine := []any{map[string]any{"id": "a", "command": "x"}}
	for i := 0; i+1 < len(root.Content); i += 2 {
		k, v := root.Content[i].Value, root.Content[i+1]
		switch {
		case k == "name":
			write(map[string]any{"name": v, "steps": fine})
		case k != "steps":
			write(map[string]any{"name": "x", k: v, "steps": fine})
		case v.Kind != yaml.SequenceNode:
			write(map[string]any{"name": "x", "steps": v})
		default:
			write(map[string]any{"name": "x", "steps": v})
			for _, step := range v.Content {
				write(map[string]any{"name": "x", "steps": []any{step}})
			}
		}
	}
	return list
}

// readTree is the YAML of a file, nil for one that the parser does not read.
func readTree(src []byte) *yaml.Node {
	p := &parser{src: newSource(bytes.TrimPrefix(src, bom))}
	if _, msg := p.src.unreadable(); msg != "" {
		return nil
	}
	var doc yaml.Node
	if root := p.tree(); root == nil || len(p.errors) > 0 || yaml.Unmarshal(p.src.text, &doc) != nil {
		return nil
	}
	return &doc
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("recipe.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("recipe.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// misfit is what keeps a source from a schema.
func misfit(t *testing.T, schema *jsonschema.Schema, src []byte) error {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(src, &v); err != nil {
		t.Fatalf("%v:\n%s", err, src)
	}
	raw, err := json.Marshal(finite(v))
	if err != nil {
		t.Fatal(err)
	}
	if v, err = jsonschema.UnmarshalJSON(bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	return schema.Validate(v)
}

// finite has 0 for the numbers that JSON does not have.
func finite(v any) any {
	switch v := v.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0
		}
	case []any:
		for i := range v {
			v[i] = finite(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = finite(v[k])
		}
	}
	return v
}
