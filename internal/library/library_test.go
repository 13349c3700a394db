package library

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write puts files under a new directory and gives it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const step = "steps: [{id: a, command: 'true'}]\n"

// promise: L
func TestPlaces(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"top/.git/HEAD": "", "top/mid/deep/file": ""})
	env := map[string]string{
		"AMPLIHACK_PACKAGE_RECIPE_DIR": "/pkg", "RECIPE_RUNNER_RECIPE_DIRS": "/one::/two", "AMPLIHACK_HOME": "/ah", "HOME": "/h",
	}
	deep := filepath.Join(dir, "top", "mid", "deep")
	got := Places(deep, func(n string) string { return env[n] })
	want := []string{
		deep + "/amplifier-bundle/recipes", dir + "/top/mid/amplifier-bundle/recipes", dir + "/top/amplifier-bundle/recipes",
		"/pkg", "/one", "/two", "/ah/amplifier-bundle/recipes", "/h/.amplihack/amplifier-bundle/recipes", "/h/.amplihack/.claude/recipes",
		deep + "/src/amplihack/amplifier-bundle/recipes", deep + "/.claude/recipes",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if far := Places(filepath.Join(dir, strings.Repeat("d/", 30)), func(string) string { return "" }); len(far) > maxAncestors+3 {
		t.Errorf("looked in %d places", len(far))
	}
}

// A parent is taken from beside its child before any other place, through
// several levels, and what was frozen gives the same recipes again.
func TestExtendsAndThaw(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"leaf.yaml":       "name: leaf\nextends: mid\nsteps: [{id: c, recipe: sub}]\n",
		"mid.yaml":        "name: mid\nextends: base\nsteps: [{id: b, command: 'true'}]\n",
		"base.yaml":       "name: base\n" + step,
		"other/base.yaml": "name: wrong\nsteps: [{id: wrong, command: 'true'}]\n",
		"other/sub.yaml":  "name: sub\nextends: base\nsteps: [{id: s, command: 'true'}]\n",
	})
	set, err := Shelf{Dirs: []string{filepath.Join(dir, "other")}, Work: dir}.Load(filepath.Join(dir, "leaf.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if set.Errors() || set.Root == nil {
		t.Fatal(set.Text())
	}
	raw := map[string]string{}
	steps := func(name string, list []string) {
		if got := raw[name]; got != strings.Join(list, " ") {
			t.Errorf("%s has the steps %q, want %q", name, got, list)
		}
	}
	for _, r := range set.Library.Recipes {
		var ids []string
		for i := range r.Steps {
			ids = append(ids, string(r.Steps[i].ID))
		}
		raw[r.Name] = strings.Join(ids, " ")
	}
	steps("leaf", []string{"a", "b", "c"})
	steps("sub", []string{"wrong", "s"})

	names, parents := LoadFrozen(set.Frozen())
	if len(names) != 1 || names["sub"] == "" || len(parents) != 3 {
		t.Errorf("names %v, parents %v", names, parents)
	}
	if len(set.Sources) != 5 {
		t.Errorf("%d sources are kept, want 5", len(set.Sources))
	}
}

// The file beside the recipe is not followed out of its directory.
func TestLinksStayInside(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"in/root.yaml": "name: r\nsteps: [{id: a, recipe: out}]\n", "out.yaml": "name: out\n" + step})
	if err := os.Symlink("../out.yaml", filepath.Join(dir, "in", "out.yaml")); err != nil {
		t.Fatal(err)
	}
	set, err := Shelf{Work: filepath.Join(dir, "in")}.Load(filepath.Join(dir, "in", "root.yaml"))
	if err == nil && !set.Errors() {
		t.Error("a link out of the directory was followed")
	}
}
