//go:build linux

package supervise

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/belaytest/leak"
	"github.com/belay-run/belay/belaytest/scratch"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/internal/scripted"
	"github.com/belay-run/belay/proc"
)

// The test binary plays every program of the test: an attendant is a process
// of its own, or it would be the test's children that it ends.
const (
	roleVar = "ATTEND_TEST_ROLE"
	initVar = "ATTEND_TEST_NSINIT" // the role of what it starts stays as it is
)

func TestMain(m *testing.M) {
	if os.Getenv(initVar) != "" {
		_ = os.Unsetenv(initVar) // for it alone
		os.Exit(proc.NSInit(os.Args[1:]))
	}
	switch os.Getenv(roleVar) {
	case "":
		os.Exit(scratch.Use(func() int { return leak.None(func() int { return sideBySide(m) }) }))
	case "attend":
		os.Exit(attendMain())
	case "scripted":
		os.Exit(scripted.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	case "acp":
		os.Exit(acpMain(os.Args[1]))
	case "holdout":
		os.Exit(holdoutMain(os.Args[1]))
	}
}

// sideBySide runs more tests at a time than there are cores: most of a test here
// is waiting for a limit of the attendant. With the race detector it is computing.
func sideBySide(m *testing.M) int {
	if memoryTimes == 1 {
		if err := scratch.SideBySide(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}

// stillness is a Watcher that sees the files of a folder.
type stillness struct{ dir string }

func (s stillness) Before(context.Context) (belay.TreeState, error) {
	return belay.TreeState{Tree: s.names()}, nil
}

func (s stillness) After(_ context.Context, base belay.TreeState, tools []belay.ToolCall) belay.Evidence {
	e := belay.Evidence{Before: base, After: belay.TreeState{Tree: s.names()}, Files: len(tools)}
	return e
}

func (s stillness) names() string {
	list, err := os.ReadDir(s.dir)
	if err != nil {
		return err.Error()
	}
	var names []string
	for _, d := range list {
		names = append(names, d.Name())
	}
	return strings.Join(names, " ")
}

func attendMain() int {
	o, err := ReadOrder(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	if os.Getenv("ATTEND_TEST_REAL") != "" {
		code, err := Run(context.Background(), o, Streams{Out: os.Stdout, Err: os.Stderr}, nil)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return code
	}
	adapter, _ := agent.New(o.Kind)
	if o.Kind == agent.Command { // any program, as it is
		adapter = plain{}
	}
	var watcher Watcher = stillness{o.Dir}
	if os.Getenv("ATTEND_TEST_TOLD") != "" {
		watcher = toldMeanwhile{stillness{o.Dir}}
	}
	code, err := attend(context.Background(), o, Streams{Out: os.Stdout, Err: os.Stderr}, parts{
		adapter: adapter, watcher: watcher,
		goOn: func(cut string) string { return "go on: " + cut },
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if b, err := os.ReadFile("/proc/self/status"); err == nil {
		_ = os.WriteFile(o.Report+".status", b, 0o600) // who wants it will miss it
	}
	return code
}

// memory is the most that the attendant had, in KiB. What the kernel tells a
// parent would count the memory of the test from before the exec.
func (r *rig) memory() int {
	r.t.Helper()
	b, err := os.ReadFile(r.order.Report + ".status")
	if err != nil {
		r.t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				r.t.Fatal(err)
			}
			return n
		}
	}
	r.t.Fatal("the kernel does not tell its memory")
	return 0
}

// plain runs any program; whatever it prints is its answer, and it has no end
// but its exit.
type plain struct{}

func (plain) Traits() agent.Traits {
	return agent.Traits{Streams: true, Interrupt: agent.StopTerm}
}

func (plain) Launch(t agent.Task) (agent.Launch, error) {
	return agent.Launch{Argv: append(t.Program, t.Args...), Stdin: true}, nil
}
func (plain) Reader() agent.Reader { return &plainReader{} }

type plainReader struct {
	last  string
	count int
}

func (r *plainReader) Line(line []byte) []agent.Sign {
	r.count++
	r.last = cut(string(line), 200)
	return []agent.Sign{{Kind: agent.SignLife}}
}
func (r *plainReader) Stderr([]byte) []agent.Sign { return nil }
func (r *plainReader) End(e agent.Exit) belay.AgentResult {
	return belay.AgentResult{Text: r.last, ToolCount: r.count, Exit: e.Code, Signal: e.Signal}
}

// rig is one attempt in a folder of its own.
type rig struct {
	t     *testing.T
	order Order
	env   []string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "work")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, order: Order{
		Key: "r:s.1", Run: "r", Step: "s", Attempt: 1, Agent: agent.Agent{Name: "tester"},
		Dir: dir, Home: filepath.Join(root, "state", "home"), Prompt: filepath.Join(root, "prompt"),
		Report: filepath.Join(root, "report.json"), Notes: filepath.Join(root, "notes.jsonl"),
		Contain: ContainSubreaper, Init: []string{"/usr/bin/env", initVar + "=1", os.Args[0]},
		Windows: Windows{Gentle: 300 * time.Millisecond},
	}}
	if err := os.WriteFile(r.order.Prompt, []byte("do the work"), 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

// script makes it an attempt of the scripted agent.
func (r *rig) script(text string) *rig {
	r.t.Helper()
	r.order.Kind, r.order.Script = agent.Scripted, filepath.Join(filepath.Dir(r.order.Dir), "script.yaml")
	r.order.Program = []string{os.Args[0]}
	r.order.Env = append(r.order.Env, roleVar+"=scripted")
	if err := os.WriteFile(r.order.Script, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return r
}

// command makes it an attempt of a shell script.
func (r *rig) command(text string) *rig {
	r.order.Kind, r.order.Program = agent.Command, []string{"bash", "-c", text, "bash"}
	return r
}

// start starts the attendant.
func (r *rig) start(out, talk io.Writer) *exec.Cmd {
	r.t.Helper()
	path := filepath.Join(filepath.Dir(r.order.Dir), "order.json")
	if err := r.order.Write(path); err != nil {
		r.t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], path)
	cmd.Env = append(append(os.Environ(), roleVar+"=attend"), r.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = 20 * time.Second
	cmd.Stdout, cmd.Stderr = out, talk
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	return cmd
}

// done is what is left of an attempt.
type done struct {
	effect.AgentReport
	code      int
	out, talk string
}

func (r *rig) run() done {
	r.t.Helper()
	var out, talk bytes.Buffer
	cmd := r.start(&out, &talk)
	return r.wait(cmd, &out, &talk)
}

func (r *rig) wait(cmd *exec.Cmd, out, talk *bytes.Buffer) done {
	r.t.Helper()
	timer := time.AfterFunc(4*time.Minute, func() { _ = cmd.Process.Kill() }) // nothing that passes waits for it
	defer timer.Stop()
	err := cmd.Wait()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		r.t.Fatalf("attendant: %v", err)
	}
	report, err := ReadReport(r.order.Report)
	if err != nil {
		r.t.Fatalf("%v; exit %v, it said: %.2000s", err, cmd.ProcessState, talk)
	}
	return done{AgentReport: report, code: cmd.ProcessState.ExitCode(), out: out.String(), talk: talk.String()}
}

// told is the kinds of notes, in order.
func (d done) told() string {
	var words []string
	for _, n := range d.Notes {
		words = append(words, string(n.What))
	}
	return strings.Join(words, " ")
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(2 * time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("never: %s", what)
		}
	}
}

// patiently plays an attempt with longer and longer windows until it is right: what a
// busy machine spoils in a short window is right in a longer one, and what is wrong
// is wrong in all of them.
func patiently(t *testing.T, window time.Duration, play func(window time.Duration) error) {
	t.Helper()
	for err := play(window); err != nil; err = play(window) {
		if window > 10*time.Second {
			t.Fatal(err)
		}
		t.Logf("with a window of %s: %v", window, err)
		window *= 4
	}
}

// stopAll stops the attendant and waits until it stands still: until the kernel has
// told every thread of it, it may still read and act.
func stopAll(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	until(t, "it stands still", func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", cmd.Process.Pid))
		for _, name := range threads {
			b, bad := os.ReadFile(name)
			if bad == nil && !bytes.Contains(b, []byte(") T ")) && !bytes.Contains(b, []byte(") Z ")) {
				return false
			}
		}
		return err == nil && len(threads) > 0
	})
}

func there(path string) bool { _, err := os.Stat(path); return err == nil }

// carriers is the living processes that have the word in their command line or
// their environment.
func carriers(t *testing.T, word string) []int {
	t.Helper()
	list, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, d := range list {
		pid, err := strconv.Atoi(d.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		for _, file := range []string{"cmdline", "environ"} {
			b, err := os.ReadFile("/proc/" + d.Name() + "/" + file)
			if err == nil && bytes.Contains(b, []byte(word)) {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

// alive is the pids out of a file, one a line, that still live.
func alive(t *testing.T, path string) (all, living int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range strings.Fields(string(b)) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		all++
		if id, err := proc.Identify(pid); err == nil && id.Alive() {
			living++
		}
	}
	return all, living
}
