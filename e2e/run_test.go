//go:build e2e && linux

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/belaytest/model"
)

// prompt is what every agent is asked; what it then does is in the script.
const prompt = "Write the file out.txt, then say what you did."

// content is what the tools of a script write.
const content = "written by a real agent\n"

// Case is one run of a CLI against a scripted model.
type Case struct {
	CLI       agent.Kind
	Behaviour model.Behaviour
	Access    agent.Access
	Timeout   time.Duration // the harness ends it so long after its first call of the model
}

// Result is what was seen of a run.
type Result struct {
	Agent    belay.AgentResult // as the adapter reads it
	Cut      bool              // the harness ended it
	Took     time.Duration
	Calls    int    // of the model
	File     string // what out.txt holds
	Prompted bool   // the first call of the model had the prompt in it
	Left     int    // processes that were still there afterwards; they are gone now
	Out, Err []byte // as the CLI printed it
}

// place is where one run happens.
type place struct{ home, work, tmp, private string }

func newPlace(t *testing.T) place {
	t.Helper()
	root := t.TempDir()
	p := place{filepath.Join(root, "home"), filepath.Join(root, "work"), filepath.Join(root, "tmp"), filepath.Join(root, "private")}
	for _, dir := range []string{p.home, p.work, p.tmp, p.private} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// env is the environment of a run: nothing of the one who runs the tests.
func (p place) env(extra ...string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "TMPDIR=" + p.tmp, "LANG=C.UTF-8",
		"NO_COLOR=1", "DO_NOT_TRACK=1", mark(p),
	}
	if os.Getenv(inside) == byProxy {
		env = append(env, "HTTPS_PROXY=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost")
	}
	return append(env, extra...)
}

// Run starts a CLI as its adapter says and reads it as its adapter does.
func Run(t *testing.T, c Case) Result {
	t.Helper()
	p := newPlace(t)
	server, err := model.New(model.Script{
		Steps: []model.Behaviour{c.Behaviour}, File: filepath.Join(p.work, "out.txt"), Content: content,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	s := setups(c.CLI, p.home, server.URL())
	write(t, p.home, s.files)

	adapter, ok := agent.New(c.CLI)
	if !ok {
		t.Fatalf("no adapter for %s", c.CLI)
	}
	launch, err := adapter.Launch(agent.Task{
		Agent: agent.Agent{Program: s.program, Model: s.model, Access: c.Access}, Dir: p.work, Home: p.private, Prompt: prompt,
	})
	if err != nil {
		t.Fatal(err)
	}
	write(t, "", launch.Files)
	if d := launch.Defaults; d != nil && !d.Root { // what root alone may write is not to be had in every temporary folder
		write(t, "", map[string]string{d.File: d.Text})
		s.env = append(s.env, d.Env+"="+d.File)
	}
	ctx, cancel := context.WithTimeout(t.Context(), c.Timeout+patience)
	defer cancel()
	bounded := make(chan struct{})
	go func() { // a slow start is no hang: the clock begins with the first call
		defer close(bounded)
		defer cancel()
		if server.Await(ctx, 1) == nil {
			expire(ctx, c.Timeout)
		}
	}()
	r := start(ctx, t, c, p, launch, s.env, adapter.Reader())
	cancel()
	<-bounded
	r.Calls = server.Calls()
	if kept, _ := server.Requests(); len(kept) > 0 {
		r.Prompted = bytes.Contains(kept[0].Body, []byte(prompt))
	}
	file, err := os.ReadFile(filepath.Join(p.work, "out.txt"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	r.File = string(file)
	return r
}

// start runs the process to its end and folds what it printed.
func start(ctx context.Context, t *testing.T, c Case, p place, l agent.Launch, env []string, reader agent.Reader) Result {
	t.Helper()
	cmd := exec.CommandContext(ctx, l.Argv[0], l.Argv[1:]...)
	cmd.Dir, cmd.Env = p.work, without(append(p.env(env...), l.Env...), l.Unset)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = 2 * time.Second // a child that was left may hold the pipes
	if l.Stdin {
		cmd.Stdin = strings.NewReader(prompt)
	}
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{w: &out}, &limited{w: &talk}
	began := time.Now()
	err := cmd.Run()
	r := Result{Took: time.Since(began), Cut: ctx.Err() != nil, Out: out.Bytes(), Err: talk.Bytes()}
	r.Left = sweep(t, mark(p))
	if cmd.ProcessState == nil {
		t.Fatalf("start %s: %v", c.CLI, err)
	}
	exit := agent.Exit{Code: cmd.ProcessState.ExitCode(), At: time.Now(), Files: map[string][]byte{}}
	if w, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		exit.Code, exit.Signal = 0, int(w.Signal())
	}
	for _, name := range l.Results {
		if data, err := os.ReadFile(name); err == nil { // it may not have come to write it
			exit.Files[name] = data
		}
	}
	for line := range bytes.Lines(r.Out) {
		reader.Line(bytes.TrimSuffix(line, []byte("\n")))
	}
	for line := range bytes.Lines(r.Err) {
		reader.Stderr(bytes.TrimSuffix(line, []byte("\n")))
	}
	r.Agent = reader.End(exit)
	r.Agent.Excerpt = agent.Excerpt(r.Agent.Text)
	return r
}

// expire waits for a time or for the end of a context.
func expire(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// String shows a result to whoever looks for the reason of a failure.
func (r Result) String() string {
	a := r.Agent
	return fmt.Sprintf("exit %d signal %d cut %v after %s, %d calls, class %q status %d stop %q final %v error %v, text %q, cause %q, denied %v, file %q, left %d\nstdout, its end:\n%s\nstderr, its end:\n%s",
		a.Exit, a.Signal, r.Cut, r.Took.Round(time.Millisecond), r.Calls, a.Class, a.Status, a.Stop, a.Final, a.Error, a.Text, a.Cause,
		a.Denied, r.File, r.Left, end(r.Out), end(r.Err))
}

func end(b []byte) []byte { return b[max(0, len(b)-1500):] }

// limited keeps the first megabytes of an output and lets the rest go.
type limited struct {
	w    io.Writer
	kept int
}

func (l *limited) Write(b []byte) (int, error) {
	part := b[:min(len(b), 8<<20-l.kept)]
	l.kept += len(part)
	if _, err := l.w.Write(part); err != nil {
		return 0, err
	}
	return len(b), nil
}

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// without leaves names out of an environment.
func without(env, names []string) []string {
	var out []string
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		keep := true
		for _, n := range names {
			keep = keep && n != name
		}
		if keep {
			out = append(out, e)
		}
	}
	return out
}
