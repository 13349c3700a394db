package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/belay-run/belay/temporal/shown"
)

// TestMain lets the test be the program as well: scripts, keepers, attendants and
// agents start it by the name belay-temporal.
func TestMain(m *testing.M) {
	testscript.Main(ending{m}, map[string]func(){"belay-temporal": main, "late-answer": lateAnswer})
}

// ending stops the server after the tests.
type ending struct{ m *testing.M }

func (e ending) Run() int {
	code := e.m.Run()
	if server.cmd != nil {
		_ = server.cmd.Process.Kill() // nothing of it is wanted any more
		_ = server.cmd.Wait()         // it was killed
		_ = os.RemoveAll(server.dir)  // in a directory for such things
	}
	return code
}

// server is the Temporal server of all scripts.
var server struct {
	once sync.Once
	cmd  *exec.Cmd
	dir  string
	addr string
	err  error
}

func address(t *testing.T) string {
	t.Helper()
	if addr := os.Getenv("BELAY_TEMPORAL_ADDRESS"); addr != "" {
		return addr
	}
	program := os.Getenv("BELAY_TEMPORAL_SERVER")
	if program == "" {
		shown.Not(t, "no Temporal server: build devserver and name it with BELAY_TEMPORAL_SERVER, or run make test-temporal")
	}
	server.once.Do(func() { server.err = serve(program) })
	if server.err != nil {
		t.Fatal(server.err)
	}
	return server.addr
}

func serve(program string) error {
	port := 12000 + os.Getpid()%800*8 // eight of its own
	var err error
	if server.dir, err = os.MkdirTemp("", "temporal"); err != nil {
		return err
	}
	server.cmd = exec.Command(program, "-db", filepath.Join(server.dir, "temporal.db"), "-port", strconv.Itoa(port))
	out, err := server.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.cmd.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	server.addr = strings.TrimPrefix(strings.TrimSpace(line), "ready ")
	return err
}

// TestScript runs the scripts against the real program, a real server and a worker.
//
// promise: K1, X
func TestScript(t *testing.T) {
	addr := address(t)
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"), RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			name := fmt.Sprintf("t%d", time.Now().UnixNano())
			env.Setenv("TEMPORAL_ADDRESS", addr)
			env.Setenv("BELAY_ENGINE", "temporal")
			env.Setenv("BELAY_TEMPORAL_TASK_QUEUE", name)
			env.Setenv("BELAY_STATE", filepath.Join(env.WorkDir, "client"))
			env.Setenv("HOST_STATE", filepath.Join(env.WorkDir, "host"))
			env.Setenv("BELAY_CONFIG", filepath.Join(env.WorkDir, "none.yaml"))
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("HOSTNAME", name)
			return os.WriteFile(filepath.Join(env.WorkDir, "none.yaml"), nil, 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "waitfor": waitFor, "becomes": becomes},
	})
}

// exits runs a command and says with which code it has to end.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var bad *exec.ExitError
	switch {
	case errors.As(err, &bad):
		got = bad.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("%v ended with %d, want %d", args[1:], got, want)
	}
}

// waitFor waits until a file is there.
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("%s never came", args[0])
		}
	}
}

// becomes runs a command again and again until it prints a text.
func becomes(ts *testscript.TestScript, _ bool, args []string) {
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		_ = ts.Exec(args[1], args[2:]...) // what it prints counts
		if said := ts.ReadFile("stdout"); strings.Contains(said, args[0]) {
			return
		} else if time.Now().After(end) {
			ts.Fatalf("%v never printed %q:\n%s%s", args[1:], args[0], said, ts.ReadFile("stderr"))
		}
	}
}
