package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
		"07-templates":        {"parts", "Ann writes go and bash\nno address: [\"go\",\"bash\"]\n"},
		"08-json-outputs":     {"report", "3 files, the largest is a.txt with 120 bytes\neverything looks fine\n"},
		"09-conditions":       {"deploy", "deploying [\"docs/a.md\",\"go.mod\"]\n"},
		"10-groups-foreach":   {"report", "lint ok, unit ok\nHello, Lisbon! Hello, Lima!\n"},
		"25-rounds":           {"report", "2\nuntil after round 3 of 5: 1, 2, 3\n"},
		"12-secrets":          {"use", "logging in with [REDACTED]\nbase64: [REDACTED]\na token by its shape: [REDACTED]\n"},
	}
	byItself := map[string]bool{"11-resume-after-kill": true, "26-do": true, "27-approve": true, "library": true, "28-write-and-publish": true} // TestReadmeIsCurrent, TestExampleResume, TestExampleReadmes; a test of client
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		_, agents := agentExamples()[e.Name()]
		if _, ok := want[e.Name()]; !ok && !agents && !byItself[e.Name()] {
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

// TestExampleResume kills the driver of the example that is there for it.
func TestExampleResume(t *testing.T) {
	t.Parallel()
	p := newStage(t)
	recipe, err := filepath.Abs(filepath.Join("..", "..", "examples", "11-resume-after-kill", "recipe.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	driver := exec.Command(program, "--state", p.state, "run", recipe, "-C", p.dir, "--id", "x", "--set", "pause=1")
	if err := driver.Start(); err != nil {
		t.Fatal(err)
	}
	err = until("the slow step", func() bool {
		_, err := os.Stat(filepath.Join(p.dir, "started"))
		return err == nil
	})
	if err != nil {
		t.Error(err)
	}
	_ = driver.Process.Kill() // it may have ended by itself, which the summary of resume shows
	_ = driver.Wait()         // killed: that is what this is about
	if out := p.belay(t, "resume", "x"); !strings.Contains(out, "\nrun x ACHIEVED") {
		t.Errorf("summary: %s", out)
	}
	if got, want := p.belay(t, "logs", "x", "count"), " 1 first\n 1 last\n 1 slow\n"; got != want {
		t.Errorf("done.txt: %q, want %q", got, want)
	}
	if records := p.belay(t, "show", "x", "--records"); strings.Count(records, `"kind":"run.attached"`) != 2 {
		t.Errorf("nobody was killed:\n%s", records)
	}
}

// TestExamplesValidate checks that every recipe of the examples has the line
// for editors and validates without a word.
func TestExamplesValidate(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "examples", "*", "*.yaml"))
	files = slices.DeleteFunc(files, func(f string) bool { // what is no recipe
		return filepath.Base(f) == "script.yaml" || filepath.Base(f) == "settings.yaml"
	})
	if err != nil || len(files) < 18 {
		t.Fatalf("%d recipes, %v", len(files), err)
	}
	p := newStage(t)
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		const line = "# yaml-language-server: $schema=../../docs/reference/recipe.schema.json\n"
		if !strings.HasPrefix(string(src), line) {
			t.Errorf("%s does not begin with the line for editors", f)
		}
		if out := p.belay(t, "validate", f); strings.Count(out, "\n") != 1 {
			t.Errorf("%s: %s", f, out)
		}
	}
}

// stage is a directory to run in and one for the state.
type stage struct{ dir, state string }

func newStage(t *testing.T) stage {
	t.Helper()
	work := t.TempDir()
	p := stage{filepath.Join(work, "place"), filepath.Join(work, "state")}
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := checkJournals(work); err != nil {
			t.Error(err)
		}
	})
	return p
}

// belay runs a command that must succeed and gives its answer.
func (p stage) belay(t *testing.T, args ...string) string {
	t.Helper()
	var out, talk strings.Builder
	cmd := exec.Command(program, append([]string{"--state", p.state}, args...)...)
	cmd.Env = append(os.Environ(), "DEMO_PASSWORD=hunter2-hunter2")
	cmd.Stdout, cmd.Stderr = &out, &talk
	if err := cmd.Run(); err != nil {
		t.Fatalf("belay %v: %v\n%s%s", args, err, &out, &talk)
	}
	return out.String()
}

func runExample(t *testing.T, dir, step, text string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "README.md")); err != nil {
		t.Error(err)
	}
	p := newStage(t)
	if sum := p.belay(t, "run", filepath.Join(dir, "recipe.yaml"), "-C", p.dir, "--id", "x"); !strings.Contains(sum, "\nrun x ACHIEVED") {
		t.Errorf("summary: %s", sum)
	}
	if got := p.belay(t, "logs", "x", step); got != text {
		t.Errorf("step %s printed %q, want %q", step, got, text)
	}
}
