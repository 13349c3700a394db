package recipe

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// A source that is read again gives the same recipe, without the warnings about its scripts.
func TestReadAgain(t *testing.T) {
	t.Parallel()
	sources := map[string][]byte{"warned": []byte(`
name: warned
context: {n: "1"}
hooks: {post_step: 'echo $((N + 1))'}
steps:
  - {id: torn, command: 'echo "', verify: 'test -n "$HOME"'}
  - {id: whole, command: "echo {{n}} $((N + 1))", verify: 'test {{n}} = 1'}
`)}
	files, err := filepath.Glob("../examples/*/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if sources[file], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	for name, src := range sources {
		first, problems := Parse(name, src)
		again, quiet := Parse(name, src, Again())
		if first == nil && again == nil && name != "warned" {
			continue // an example of what is refused
		}
		if first == nil || again == nil {
			t.Fatal(name, problems, quiet)
		}
		if name == "warned" && (len(problems) == 0 || len(quiet) >= len(problems)) {
			t.Errorf("%d warnings, and then %d", len(problems), len(quiet))
		}
		withoutReads(first)
		withoutReads(again)
		if !reflect.DeepEqual(first, again) {
			t.Errorf("%s: it is not the same recipe", name)
		}
	}
}

// withoutReads takes away what only warnings are made of.
func withoutReads(r *Recipe) {
	scripts := []*Script{r.Hooks.PreStep, r.Hooks.PostStep, r.Hooks.OnError}
	for i := range r.Steps {
		scripts = append(scripts, r.Steps[i].Script, r.Steps[i].Verify)
	}
	for _, s := range scripts {
		if s != nil {
			s.env = nil
		}
	}
}
