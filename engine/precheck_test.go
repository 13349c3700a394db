package engine

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/hand"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/recipe"
)

func specOf(t *testing.T, src, dir string, vars map[string]string) Spec {
	t.Helper()
	r, problems := recipe.Parse("r.yaml", []byte(src))
	if r == nil {
		t.Fatal(problems)
	}
	spec := Spec{Dir: dir, Vars: map[string]json.RawMessage{}, Set: &library.Set{
		Root: r, Library: flow.Library{Recipes: map[string]*recipe.Recipe{r.Digest: r}, Names: map[string]string{}},
	}}
	for n, v := range vars {
		spec.Vars[n] = json.RawMessage(v)
	}
	return spec
}

// promise: L
func TestPrecheckRules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, d := range []string{"repo/.git", "repo/sub", "bare/objects", "bare/refs", "plain/.git"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"repo/.git/HEAD", "bare/HEAD", "file"} {
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ rule, value, want string }{
		{"nonempty", `"x"`, ""}, {"nonempty", `0`, ""}, {"nonempty", `[]`, ""},
		{"nonempty", `" "`, "empty or missing"}, {"nonempty", `null`, "empty or missing"}, {"nonempty", "", "empty or missing"},
		{"git_repo", `"repo"`, ""}, {"git_repo", `"repo/sub"`, ""}, {"git_repo", `"bare"`, ""},
		{"git_repo", `"plain"`, "not a git repository"}, {"git_repo", `"file"`, "not a git repository"},
		{"git_repo", `"gone"`, "does not exist"}, {"git_repo", `5`, "must be the path of a git repository"},
		{"path", `"file"`, ""}, {"path", `"gone"`, "does not exist"}, {"path", `""`, "must be the path"},
		{"optional", "", ""}, {"optional", `null`, ""},
	} {
		vars := map[string]string{}
		if c.value != "" {
			vars["v"] = c.value
		}
		err := Precheck(specOf(t, "name: r\ncontext_validation: {v: "+c.rule+"}\nsteps: [{id: a, command: 'true'}]\n", dir, vars))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s %s: %v", c.rule, c.value, err)
		case c.want != "" && (err == nil || exit.Code(err) != exit.Invalid || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s %s: got %v, want %q and code 65", c.rule, c.value, err, c.want)
		}
	}
}

func TestPrecheckNamesEverything(t *testing.T) {
	t.Parallel()
	err := Precheck(specOf(t, "name: r\ncontext_validation: {one: nonempty, two: path}\nsteps: [{id: a, command: 'true'}]\n", t.TempDir(),
		map[string]string{"nul": `"a\u0000b"`}))
	if err == nil {
		t.Fatal("nothing was refused")
	}
	for _, name := range []string{`"one"`, `"two"`, `the value of "nul" has a NUL byte`} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named: %v", name, err)
		}
	}
}

// What is secret is in the environment under all its names, and in no record.
func TestSecretsStayOutOfTheRecord(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "name: r\nsecrets: [my-token]\ncontext: {my-token: ''}\nsteps: [{id: a, command: 'true'}]\n", t.TempDir(), nil)
	if _, there := spec.First().Vars["my-token"]; there {
		t.Error("a secret is in the first record")
	}
	env := strings.Join(hand.WithSecrets([]string{"MY_TOKEN=abc"}, spec.Set.Library), " ")
	if !strings.Contains(env, "RECIPE_VAR_my_token=abc") {
		t.Errorf("environment %s", env)
	}
	if names := strings.Join(hand.Hidden(spec.Set.Library), " "); names != "my-token RECIPE_VAR_my_token MY_TOKEN" {
		t.Errorf("hidden %s", names)
	}
}
