package recipe

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Every key is described, once, and says what it takes.
func TestKeys(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Keys() {
		id := k.On + " " + k.Name
		if seen[id] || k.Doc == "" || len(k.Types) == 0 || k.On != "top" && k.On != "step" || k.On == "step" && len(k.Steps) == 0 || !strings.HasSuffix(k.Doc, ".") {
			t.Errorf("%+v", k)
		}
		seen[id] = true
	}
	for _, want := range []string{"top name", "top hooks.pre_step", "step id", "step retry.backoff", "step foreach", "step outputs", "step runs_on"} {
		if !seen[want] {
			t.Errorf("%s is not described", want)
		}
	}
	for i := range stepKeys.keys {
		if same := stepKeys.keys[i].same; same != "" && !seen["step "+same] {
			t.Errorf("%s is another spelling of %s, which is no key", stepKeys.keys[i].name, same)
		}
	}
	for _, t2 := range []map[string]string{topKeys.others, stepKeys.others} {
		for word, meant := range t2 {
			if !seen["top "+meant] && !seen["step "+meant] {
				t.Errorf("%s is called %s here, which is no key", word, meant)
			}
		}
	}
}

// What parses without a word fits the schema, and what has a wrong key or type
// does not.
func TestSchema(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../examples/*/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if problem := fits(t, schema, string(src)); problem != "" {
			t.Errorf("%s: %s", file, problem)
		}
	}
	const head = "name: x\nsteps:\n  - {id: a, command: x"
	for src, good := range map[string]bool{
		head + "}\n": true, head + ", retry: 2}\n": true, head + ", retry: {max_attempts: 2, backoff: 500ms}}\n": true, head + ", timeout: 5m}\n": true,
		head + ", outputs: {a: {file: x}}}\n": true, head + ", when_tags: [a, 5]}\n": true, head + "}\ncontext_validation: {a: nonempty, b: }\n": true,
		head + "}\ndefaults: {timeout: 5}\n": true, head + "}\nhooks: {pre_step: x}\n": true, head + ", fatal: false}\noutput: {format: x}\n": true,

		"name: x\n": false, "name: x\nsteps: []\n": false, head + ", comand: x}\n": false, head + ", retry: 0}\n": false, head + ", retry: {max: 2}}\n": false,
		head + ", timeout: soon}\n": false, head + ", type: loop}\n": false, head + ", once: 'true'}\n": false, head + ", approve: {prompt: x}}\n": false,
		head + "}\ncontext_validation: {a: other}\n": false, head + "}\ndefaults: {id: 5}\n": false, head + "}\nhooks: {pre: x}\n": false, head + ", outputs: {a: {url: x}}}\n": false,
	} {
		if problem := fits(t, schema, src); (problem == "") != good {
			t.Errorf("%q: %q", src, problem)
		}
		if r, _ := Parse("r.yaml", []byte(src)); (r != nil) != good {
			t.Errorf("%q: the parser does not agree", src)
		}
	}
}

func fits(t *testing.T, schema map[string]any, src string) string {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(src), &v); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return misfit(schema, schema, v, "")
}

// misfit says what keeps v from the schema, by the few words that ours uses.
func misfit(root, s map[string]any, v any, at string) string {
	if ref, ok := s["$ref"].(string); ok {
		return misfit(root, root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any), v, at)
	}
	if any, ok := s["anyOf"].([]any); ok && !slices.ContainsFunc(any, func(f interface{}) bool { return misfit(root, f.(map[string]interface{}), v, at) == "" }) {
		return at + ": none of the forms"
	}
	if enum, ok := s["enum"].([]any); ok && !slices.Contains(enum, v) {
		return fmt.Sprintf("%s: %v is not in %v", at, v, enum)
	}
	if !typed(s["type"], v) {
		return fmt.Sprintf("%s: %T is not %v", at, v, s["type"])
	}
	switch v := v.(type) {
	case float64:
		if low, ok := s["minimum"].(float64); ok && v < low {
			return at + ": too small"
		}
	case string:
		if form, ok := s["pattern"].(string); ok && !regexp.MustCompile(form).MatchString(v) {
			return at + ": another form"
		}
	case []any:
		if low, ok := s["minItems"].(float64); ok && float64(len(v)) < low {
			return at + ": too short"
		}
		for i, item := range v {
			if items, ok := s["items"].(map[string]any); ok {
				if problem := misfit(root, items, item, fmt.Sprintf("%s[%d]", at, i)); problem != "" {
					return problem
				}
			}
		}
	case map[string]any:
		return misfitObject(root, s, v, at)
	}
	return ""
}

func misfitObject(root, s, v map[string]any, at string) string {
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			return fmt.Sprintf("%s: no %v", at, name)
		}
	}
	for name, value := range v {
		p, known := properties[name].(map[string]any)
		if !known {
			if more, ok := s["additionalProperties"].(map[string]any); ok {
				p = more
			} else if s["additionalProperties"] == false {
				return at + ": unknown " + name
			}
		}
		if problem := misfit(root, p, value, at+"."+name); p != nil && problem != "" {
			return problem
		}
	}
	return ""
}

func typed(want, v any) bool {
	switch want := want.(type) {
	case nil:
		return true
	case []any:
		return slices.ContainsFunc(want, func(w any) bool { return typed(w, v) })
	}
	switch v := v.(type) {
	case nil:
		return want == "null"
	case bool:
		return want == "boolean"
	case float64:
		return want == "number" || want == "integer" && v == math.Trunc(v)
	case string:
		return want == "string"
	case []any:
		return want == "array"
	case map[string]any:
		return want == "object"
	}
	return false
}

// Every difference has a name of its own and says three things.
func TestDifferences(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range Differences() {
		if seen[d.ID] || d.ID == "" || d.Theirs == "" || d.Ours == "" || d.Why == "" || d.Theirs == d.Ours {
			t.Errorf("%+v", d)
		}
		seen[d.ID] = true
	}
	rows, err := os.ReadFile("rows_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`\(difference ([a-z-]+)\)`).FindAllStringSubmatch(string(rows), -1) {
		if !seen[m[1]] {
			t.Errorf("no difference is named %s", m[1])
		}
	}
}

func TestProblemForms(t *testing.T) {
	p := Problem{File: "a,b:c%.yaml", Line: 3, Col: 7, Msg: "100% \"wrong\": no\nway", Hint: "stop"}
	if got, want := p.GitHub(), "::error file=a%2Cb%3Ac%25.yaml,line=3,col=7::100%25 \"wrong\": no%0Away%0Ahint: stop"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	p.Warning, p.Hint = true, ""
	if !strings.HasPrefix(p.GitHub(), "::warning file=") || strings.Contains(p.GitHub(), "hint") {
		t.Errorf("got %s", p.GitHub())
	}
	raw, err := json.Marshal(p)
	if want := `{"file":"a,b:c%.yaml","line":3,"col":7,"message":"100% \"wrong\": no\nway","warning":true}`; err != nil || string(raw) != want {
		t.Errorf("got %s, want %s", raw, want)
	}
}
