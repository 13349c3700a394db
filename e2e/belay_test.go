//go:build e2e && linux

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/belaytest/model"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/exit"
)

// limitOf is the timeout of a step whose agent does not end by itself. Its grace
// comes on top of it; a slow start of the CLI must fit in.
func limitOf(kind agent.Kind) time.Duration {
	switch kind {
	case agent.Gemini, agent.ACP, agent.Qwen, agent.Copilot:
		return 20 * time.Second // Node starts twice, or a big program unpacks itself
	case agent.OpenCode:
		return patience // on a busy machine it takes most of that to start
	case agent.Claude, agent.Codex, agent.Command, agent.Scripted:
	}
	return 12 * time.Second
}

// TestBelayRun drives the same table through belay run: the exit code is the
// one that is promised, and nothing is left running.
// promise: K5
func TestBelayRun(t *testing.T) {
	t.Parallel()
	bin := build(t)
	for _, kind := range clis(t) {
		for _, r := range rows(kind) {
			t.Run(string(kind)+"/"+string(r.behaviour), func(t *testing.T) {
				t.Parallel()
				belayRun(t, bin, kind, r)
			})
		}
	}
}

// built makes the program, once for all tests.
var built = sync.OnceValues(func() (string, error) {
	bin := filepath.Join(os.Getenv(builtIn), "belay")
	cmd := exec.Command("go", "build", "-o", bin, "github.com/belay-run/belay/cmd/belay")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build belay: %w\n%s", err, out)
	}
	return bin, nil
})

func build(t *testing.T) string {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// driven is what was seen of a belay run.
type driven struct {
	exit      int
	left      int // processes that were still there afterwards; they are gone now
	took      time.Duration
	out, talk []byte
	file      string // what out.txt holds; "" without one
	model     *model.Server
}

func belayRun(t *testing.T, bin string, kind agent.Kind, r row) {
	t.Helper()
	want := r.cells[kind]
	timeout := want.timeout()
	if want.cut {
		timeout = limitOf(kind)
	}
	d := drive(t, bin, kind, r, []model.Behaviour{r.behaviour}, timeout)
	if d.exit != want.code {
		t.Errorf("belay exit %d, want %d", d.exit, want.code)
	}
	if v := judged(t, d.out); v.Kind != want.kind || v.Class != want.class {
		t.Errorf("judged %q, class %q, want %q, class %q", v.Kind, v.Class, want.kind, want.class)
	}
	d.check(t, r.file)
}

// check holds what is the same for every run.
func (d driven) check(t *testing.T, file bool) {
	t.Helper()
	if d.left != 0 {
		t.Errorf("%d processes were left", d.left)
	}
	if (d.file == content) != file {
		t.Errorf("out.txt: %q, want it written: %v", d.file, file)
	}
	if d.model.Calls() == 0 {
		t.Error("the model was never called")
	}
	if t.Failed() {
		t.Logf("after %s, %d calls:\n%s\n%s", d.took.Round(time.Millisecond), d.model.Calls(), d.out, d.talk)
	}
}

// drive runs a recipe of one step with a CLI, against a model that behaves as
// the steps say.
func drive(t *testing.T, bin string, kind agent.Kind, r row, steps []model.Behaviour, timeout time.Duration, more ...string) driven {
	t.Helper()
	return driveRole(t, bin, kind, r, nil, steps, timeout, more...)
}

// driveRole is drive with single tools for the role of the step.
func driveRole(t *testing.T, bin string, kind agent.Kind, r row, tools []string, steps []model.Behaviour, timeout time.Duration, more ...string) driven {
	t.Helper()
	p := newPlace(t)
	file := filepath.Join(p.work, "out.txt")
	server, err := model.New(model.Script{Steps: steps, File: file, Content: content})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	s := setups(kind, p.home, server.URL())
	write(t, p.home, s.files)
	write(t, p.home, map[string]string{
		".config/belay/config.yaml": config(t, kind, r, s) + "roles: {coder: {tools: [" + strings.Join(tools, ", ") + "]}}\n",
		"recipe.yaml": "name: one-agent\nsteps:\n  - id: work\n    agent: " + string(kind) + "\n    prompt: " + prompt +
			"\n    role: coder\n    output: said\n    expect: " + string(r.expect) + "\n    timeout: " + timeout.String() + "\n",
	})
	env := p.env(append(s.env, "XDG_CONFIG_HOME="+filepath.Join(p.home, ".config"), "XDG_STATE_HOME="+filepath.Join(p.home, ".state"))...)
	repository(t, p, env)

	ctx, cancel := context.WithTimeout(t.Context(), max(2*patience, timeout+patience))
	defer cancel()
	d := driven{model: server}
	belay := func(args ...string) {
		cmd := exec.CommandContext(ctx, bin, args...)
		cmd.Dir, cmd.Env, cmd.WaitDelay = p.work, append(env, more...), 10*time.Second
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // a stop
		var out, talk bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &talk
		err := cmd.Run()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		d.exit, d.out, d.talk = cmd.ProcessState.ExitCode(), out.Bytes(), append(d.talk, talk.Bytes()...)
	}
	began := time.Now()
	d.once(belay, filepath.Join(p.home, "recipe.yaml"))
	d.took, d.left = time.Since(began), sweep(t, mark(p))
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	d.file = string(data)
	return d
}

// once runs a recipe with one start of an agent and nobody to take over: what
// is looked at is the failure itself, and no recovery from it. Where one is held
// for want of a start, the failure stands.
func (d *driven) once(run func(args ...string), recipe string) {
	run("run", "--json", "--id", "once", "--max-replans", "0", recipe)
	if d.exit != exit.Held {
		return
	}
	records := d.out
	run("answer", "once", "work", "fail", "--why", "seen enough")
	run("resume", "once", "--json")
	d.out = records // those of the attempt
}

// judged is the failure that the records of a run name last; none is zero.
func judged(t *testing.T, records []byte) belay.Failure {
	t.Helper()
	var last belay.Failure
	seen := false
	for line := range bytes.Lines(records) {
		var r struct {
			Kind    string
			Verdict *effect.Verdict
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("belay run --json printed %q: %v", line, err)
		}
		if r.Kind != "attempt.judged" || r.Verdict == nil {
			continue
		}
		seen, last = true, belay.Failure{}
		if r.Verdict.Failure != nil {
			last = *r.Verdict.Failure
		}
	}
	if !seen {
		t.Error("no attempt was judged")
	}
	return last
}

// config tells belay where the CLI is and what it may do.
func config(t *testing.T, kind agent.Kind, r row, s setup) string {
	t.Helper()
	program, err := json.Marshal(s.program)
	if err != nil {
		t.Fatal(err)
	}
	text := "agents:\n  " + string(kind) + ":\n    kind: " + string(kind) + "\n    program: " + string(program) +
		"\n    access: " + string(r.access) + "\n"
	if s.model != "" {
		text += "    model: " + s.model + "\n"
	}
	return text
}

// repository makes the working directory one of git, with a first commit.
func repository(t *testing.T, p place, env []string) {
	t.Helper()
	write(t, p.work, map[string]string{"README.md": "A place to work.\n"})
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "."},
		{"-c", "user.name=e2e", "-c", "user.email=e2e@example.com", "commit", "-q", "-m", "begin"},
	} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir, cmd.Env = p.work, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args[0], err, out)
		}
	}
}
