//go:build e2e && linux

package e2e

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/belaytest/model"
)

// The task of these tests, and what a model makes of it.
const (
	task = "add a package limit that refuses what is over a limit, with tests"

	plan = `I read the repository. Here is the plan:

` + "```json" + `
{"task_type": "Development", "goal": "requests over the limit are refused",
 "success_criteria": [
  {"id": "c1", "text": "over the limit is refused", "check": "go test ./limit/...", "files": ["limit/**"]},
  {"id": "c2", "text": "the rest still works", "check": "go vet ./... && go test ./..."}],
 "workstreams": [{"name": "limit", "description": "the package limit with its tests", "criteria": ["c1", "c2"]}]}
` + "```" + `

Tell me if it should be another one.`

	claims = "I added limit/limit.go and limit/limit_test.go. All 4 tests pass, and the task is complete."

	review = "The change does what was asked for.\n\n```json\n{\"findings\": []}\n```\n"

	reflection = "```json\n" + `{"goal_status": "ACHIEVED", "summary": "the limit is there and tested",
 "criteria": [{"id": "c1", "met": true, "evidence": "limit/limit_test.go"}, {"id": "c2", "met": true, "evidence": "go test"}], "missing": []}` + "\n```"
)

// The program that the task is about.
func program() map[string]string {
	return map[string]string{
		"go.mod":       "module example.com/shop\n\ngo 1.24\n",
		"shop.go":      "// Package shop sells.\npackage shop\n\n// Price is what n pieces cost.\nfunc Price(n int) int { return 3 * n }\n",
		"shop_test.go": "package shop\n\nimport \"testing\"\n\nfunc TestPrice(t *testing.T) {\n\tif Price(2) != 6 {\n\t\tt.Error(Price(2))\n\t}\n}\n",
	}
}

const (
	limitCode = "// Package limit refuses what is too much.\npackage limit\n\n// Over tells whether n is over the limit.\nfunc Over(n, most int) bool { return n > most }\n"
	limitTest = "package limit\n\nimport \"testing\"\n\nfunc TestOver(t *testing.T) {\n\tif Over(3, 3) || !Over(4, 3) {\n\t\tt.Error(\"the limit is not kept\")\n\t}\n}\n"
)

// plays is a model that does each step of belay do as its prompt asks; one that
// lies says the same and writes nothing.
func plays(lies bool) model.Script {
	says := func(has, text string) model.Part {
		return model.Part{Has: has, Script: model.Script{Steps: []model.Behaviour{model.Text}, Text: text}}
	}
	writes := func(has, file, content, text string) model.Part {
		p := says(has, text)
		if !lies {
			p.Steps, p.File, p.Content = []model.Behaviour{model.Tool}, file, content
		}
		return p
	}
	s := model.Say(model.Text)
	s.Text = "There is nothing to do here."
	s.Parts = []model.Part{
		says("Say what kind of task it is", plan),
		says("Read the repository and say in at most 40 lines", "One new package beside shop.go; go test runs all."),
		writes("Write the tests that will show", "limit/limit_test.go", limitTest, "I wrote limit/limit_test.go."),
		writes("Do this task in the working tree", "limit/limit.go", limitCode, claims),
		says("Look at the change in the working tree as it is now", "All 4 tests pass."),
		says("Review the uncommitted change", review),
		says("Somebody worked on a task", reflection),
	}
	return s
}

// tasked is what was seen of a belay do.
type tasked struct {
	place     place
	server    *model.Server
	env       []string
	bin       string
	exit      int
	left      int
	took      time.Duration
	out, talk []byte
}

// doTask gives the task to belay, in a repository of a program that has tests.
func doTask(t *testing.T, bin string, kind agent.Kind, lies bool) tasked {
	t.Helper()
	p := newPlace(t)
	server, err := model.New(plays(lies))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	s := setups(kind, p.home, server.URL())
	write(t, p.home, s.files)
	write(t, p.home, map[string]string{".config/belay/config.yaml": config(t, kind, row{access: agent.AccessEdit}, s)})
	d := tasked{place: p, server: server, bin: bin}
	d.env = p.env(append(s.env, "XDG_CONFIG_HOME="+filepath.Join(p.home, ".config"), "XDG_STATE_HOME="+filepath.Join(p.home, ".state"),
		"GOCACHE="+goCache(t), "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local", "CGO_ENABLED=0")...)
	write(t, p.work, program())
	repository(t, p, d.env)
	began := time.Now()
	d.exit, d.out, d.talk = d.belay(t, "do", task, "--json", "--id", "task", "--agent", string(kind))
	d.took, d.left = time.Since(began), sweep(t, mark(p))
	return d
}

// belay runs the program where the task is.
func (d tasked) belay(t *testing.T, args ...string) (exit int, out, talk []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, d.bin, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = d.place.work, d.env, 10*time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // a stop
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stdout.Bytes(), stderr.Bytes()
}

// goCache is the build cache of whoever runs these tests: with one of its own a
// run would compile the standard library first.
func goCache(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
