package recipe

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/belay-run/belay"
)

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no test data: %v", err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Add([]byte("name: x\ncontext: {a: [1, {b: c}]}\nsteps:\n  - {id: a, command: x, needs: [b], condition: a[0]}\n  - {id: b, recipe: y, context: {z: '{{a}}'}, needs: []}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 1<<16 {
			return // size is another test's matter
		}
		r, problems := Parse("f.yaml", src)
		checkProblems(t, src, r, problems)
		for _, p := range problems {
			if p.Format(src) == "" {
				t.Fatal("a problem without words")
			}
		}
		again, problems2 := Parse("f.yaml", src)
		if !reflect.DeepEqual(problems, problems2) || !reflect.DeepEqual(r, again) {
			t.Fatalf("%q is read in two ways", src)
		}
		if r != nil {
			checkRecipe(t, r)
			CheckCalls(r, nil)
		}
	})
}

// checkRecipe holds for every recipe that parses.
func checkRecipe(t *testing.T, r *Recipe) {
	t.Helper()
	checkNeeds(t, r)
	if r.Name == "" || len(r.Steps) == 0 {
		t.Fatalf("a recipe without name or steps: %+v", r)
	}
	ids := map[belay.Path]bool{}
	for _, s := range r.Steps {
		if s.ID == "" || ids[s.ID] || s.Timeout < 0 || s.MaxItems < 0 || (s.Foreach == "") != (s.As == "") || s.Retry.MaxAttempts < 1 || s.Retry.Backoff < 0 || s.Shell == "" || Denied(s.Output) {
			t.Fatalf("the step %+v", s)
		}
		ids[s.ID] = true
		if s.Type.Row().Shell != (s.Script != nil) || s.Type.Agent() != (s.Prompt != nil) || s.Type.Child() != (s.Recipe != "") {
			t.Fatalf("the step %+v", s)
		}
		for _, a := range s.Context {
			if (a.Text == nil) == (a.JSON == nil) {
				t.Fatalf("the argument %+v", a)
			}
		}
	}
	for _, v := range r.Context {
		if Denied(v.Name) || !json.Valid(v.JSON) {
			t.Fatalf("the variable %s is %q", v.Name, v.JSON)
		}
	}
}
