package recipe

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"keys in order", "steps:\n  - command: x\n    id: a\n    output: o\n    timeout: 5\nname: n\n",
			"name: n\nsteps:\n  - id: a\n    command: x\n    timeout: 5\n    output: o\n"},
		{"indent", "name: n\nsteps:\n-   id: a\n    command: |\n          if x; then\n            y\n          fi\n",
			"name: n\nsteps:\n  - id: a\n    command: |\n      if x; then\n        y\n      fi\n"},
		{"comments and empty lines", "# head\n\nname: n # why\n\n\n# the steps\nsteps:\n  # one\n  - id: a\n    command: x # do\n\n  # two\n  - command: y\n    # named\n    id: b\n",
			"# head\n\nname: n # why\n\n# the steps\nsteps:\n  # one\n  - id: a\n    command: x # do\n\n  # two\n  # named\n  - id: b\n    command: y\n"},
		{"texts stay as written", "name: \"n\"\ncontext: {b: 1, a: '2'}\nsteps: [{command: 'x', id: a}]\n",
			"name: \"n\"\ncontext: {b: 1, a: '2'}\nsteps: [{command: 'x', id: a}]\n"},
		{"a blank at the end of a line of a block", "name: n\nsteps:\n    - id: a\n      command: |\n          one \n\n            two\t\n",
			"name: n\nsteps:\n  - id: a\n    command: |\n      one \n\n        two\t\n"},
		{"a folded block keeps its lines", "name: n\ndescription: >-\n    one\n    two\n\n    three\nsteps:\n  - id: a\n    command: x   \n",
			"name: n\ndescription: >-\n  one\n  two\n\n  three\nsteps:\n  - id: a\n    command: x\n"},
		{"comments between steps", "name: n\nsteps:\n  - id: a\n    command: |\n      x\n      # of the script\n    # retry: 2\n\n\n  # of b\n\n  - id: b\n    command: y\n  # the end\n",
			"name: n\nsteps:\n  - id: a\n    command: |\n      x\n      # of the script\n    # retry: 2\n\n  # of b\n\n  - id: b\n    command: y\n  # the end\n"},
		{"the line for editors stays on top", "# yaml-language-server: $schema=x\nsteps:\n  - # one\n    id: a\n    command: x\nname: n\n",
			"# yaml-language-server: $schema=x\nname: n\nsteps:\n  # one\n  - id: a\n    command: x\n"},
		{"a block that says its indent", "name: n\nsteps:\n    - id: a\n      command: |2-\n          x\n        y\n",
			"name: n\nsteps:\n  - id: a\n    command: |2-\n        x\n      y\n"},
		{"empty lines that a block keeps", "steps:\n  - id: a\n    command: |+\n      x\n\n\nname: n\n", "name: n\nsteps:\n  - id: a\n    command: |+\n      x\n\n\n"},
		{"a block without a last line break", "steps:\n  - id: a\n    command: |\n      x", "steps:\n  - id: a\n    command: |-\n      x\n"},
		{"a text over lines", "name: n\ndescription: \"one\n  # two\n\n  three\\ \n  four\"\nsteps:\n  - id: a\n    command: x\n",
			"name: n\ndescription: \"one\n  # two\n\n  three\\ \n  four\"\nsteps:\n  - id: a\n    command: x\n"},
		{"crlf and bom", "\ufeffname: n\r\nsteps:\r\n  - id: a\r\n    command: x\r\n", "name: n\nsteps:\n  - id: a\n    command: x\n"},
		{"unknown keys stay", "zzz: 1\nname: n\nsteps:\n  - id: a\n    command: x\n", "name: n\nsteps:\n  - id: a\n    command: x\nzzz: 1\n"},
	} {
		got, err := Format([]byte(c.src))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\ngot\n%s\nwant\n%s", c.name, err, got, c.want)
		}
	}
}

// What is not YAML, or cannot be kept, is not touched.
func TestFormatRefuses(t *testing.T) {
	for _, src := range []string{"", "a: [", "x: &a 1\ny: *a\n", "name: a\nname: b\n", "\x00"} {
		if out, err := Format([]byte(src)); err == nil {
			t.Errorf("%q became %q", src, out)
		}
	}
}

// Every recipe in the repository can be formatted, means the same and stays.
func TestFormatExamples(t *testing.T) {
	files, err := filepath.Glob("../examples/*/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		checkFormat(t, src)
	}
}

// checkFormat holds for every source that can be formatted.
func checkFormat(t *testing.T, src []byte) {
	t.Helper()
	out, err := Format(src)
	if err != nil {
		return // left as it is
	}
	again, err := Format(out)
	if err != nil || !bytes.Equal(out, again) {
		t.Fatalf("%v: %q becomes %q, then %q", err, src, out, again)
	}
	was, _ := Parse("f.yaml", src)
	is, problems := Parse("f.yaml", out)
	if (was == nil) != (is == nil) {
		t.Fatalf("%q becomes %q: %v", src, out, problems)
	}
	if was != nil && !reflect.DeepEqual(meaning(was), meaning(is)) {
		t.Fatalf("%q becomes %q", src, out)
	}
}

// meaning is a recipe without the places in its file.
func meaning(r *Recipe) string {
	var b strings.Builder
	write := func(words ...string) { b.WriteString(strings.Join(words, "\x00") + "\n") }
	write(r.Name, r.Description, r.Version, r.Author, string(r.Shell), r.Extends)
	write(r.Tags...)
	write(r.Secrets...)
	for _, v := range r.Context {
		write(v.Name, string(v.JSON))
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		write(string(s.ID), string(s.Type), s.Recipe, s.Output, s.Group, s.Timeout.String(), string(s.JSON), s.Foreach, s.As, string(s.Shell))
		write(s.Tags...)
		for _, script := range []*Script{s.Script, s.Verify} {
			if script != nil {
				write(script.Source, script.Text)
			}
		}
		if s.Prompt != nil {
			write(s.Prompt.String())
		}
		if s.Condition != nil {
			write(s.Condition.String())
		}
	}
	return b.String()
}

// The check that keeps a meaning from changing tells apart what is not the same.
func TestAlike(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a: x", "a:   x", true}, {"a: 'x'", "a: \"x\"", true}, {"a: |\n  x\n", "a: \"x\\n\"", true}, {"[1, 2]", "- 1\n- 2", true},
		{"a: 1", "a: '1'", false}, {"a: x", "a: y", false}, {"a: x", "b: x", false}, {"[1, 2]", "[2, 1]", false}, {"a: {}", "a: []", false},
		{"a: x", "a: x\nb: y", false}, {"a: ", "a: ''", false},
	} {
		var a, b yaml.Node
		if yaml.Unmarshal([]byte(c.a), &a) != nil || yaml.Unmarshal([]byte(c.b), &b) != nil {
			t.Fatalf("%q or %q is not YAML", c.a, c.b)
		}
		if alike(&a, &b) != c.want {
			t.Errorf("%q and %q are alike: %v", c.a, c.b, !c.want)
		}
	}
}
