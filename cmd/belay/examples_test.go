package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestExamples runs every example in an empty directory: a recipe that no test
// runs teaches mistakes.
func TestExamples(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	// For each: a step, and what it must have printed.
	want := map[string][2]string{
		"01-hello":            {"greet", "Hello, world!\n"},
		"02-parallel":         {"report", "lint ok\nunit ok\ndocs ok\n"},
		"03-retry":            {"after", "it worked after 3 tries\n"},
		"04-nested":           {"second", "the large box has area 25\n"},
		"05-once-verify":      {"count", "published 1 time(s)\n"},
		"06-timeout-optional": {"fast", "went on without it\n"},
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, ok := want[e.Name()]; !ok {
			t.Errorf("examples/%s is run by no test", e.Name())
		}
	}
	for name, shown := range want {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runExample(t, filepath.Join(root, name), shown[0], shown[1])
		})
	}
}

func runExample(t *testing.T, dir, step, text string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "README.md")); err != nil {
		t.Error(err)
	}
	work := t.TempDir()
	state := filepath.Join(work, "state")
	place := filepath.Join(work, "place")
	if err := os.Mkdir(place, 0o700); err != nil {
		t.Fatal(err)
	}
	belay := func(args ...string) string {
		t.Helper()
		var out, talk strings.Builder
		cmd := exec.Command(program, append([]string{"--state", state}, args...)...)
		cmd.Stdout, cmd.Stderr = &out, &talk
		if err := cmd.Run(); err != nil {
			t.Fatalf("belay %v: %v\n%s%s", args, err, &out, &talk)
		}
		return out.String()
	}
	belay("validate", filepath.Join(dir, "recipe.yaml"))
	if sum := belay("run", filepath.Join(dir, "recipe.yaml"), "-C", place, "--id", "x"); !strings.HasPrefix(sum, "run x ACHIEVED") {
		t.Errorf("summary: %s", sum)
	}
	if got := belay("logs", "x", step); got != text {
		t.Errorf("step %s printed %q, want %q", step, got, text)
	}
	if err := checkJournals(work); err != nil {
		t.Error(err)
	}
}
