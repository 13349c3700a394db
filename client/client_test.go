package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/belaytest/leak"
	"github.com/belay-run/belay/client"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
)

const patience = 30 * time.Second

// TestMain keeps the settings of whoever runs the tests out of them.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "")
	if err == nil {
		err = os.Setenv("XDG_CONFIG_HOME", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := leak.None(m.Run)
	_ = os.RemoveAll(dir) // an empty folder
	os.Exit(code)
}

// wait is an agent that says that it began, and ends when somebody says go.
func wait(ctx context.Context, t client.Task) (string, error) {
	f, err := os.OpenFile("began", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	if _, err = f.WriteString(t.Step + "\n"); err != nil {
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	for {
		if text, err := os.ReadFile("go"); err == nil {
			return strings.TrimSpace(string(text)), nil
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// place is a client with a state directory and a working directory of its own.
func place(t *testing.T) (*client.Client, string) {
	t.Helper()
	return program.In(filepath.Join(t.TempDir(), "state")), t.TempDir()
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %s", what, patience)
		}
		<-time.After(5 * time.Millisecond)
	}
}

func written(path string) func() bool {
	return func() bool { _, err := os.Stat(path); return err == nil }
}

func lines(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

func say(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// A value that a program gives is the value that a run has, whatever its text
// looks like.
func TestVarsKeepTheirTypes(t *testing.T) {
	t.Parallel()
	c, dir := place(t)
	big := strings.Repeat("x", 300<<10)
	res, err := c.Run(t.Context(), "testdata/greet.yaml", client.Dir(dir), client.Var("who", "3"),
		client.Var("list", []string{"a", "b"}), client.Var("big", big))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	if err := json.Unmarshal(res.Vars["list"], &list); err != nil || len(list) != 2 {
		t.Errorf("list: %s, %v", res.Vars["list"], err)
	}
	if string(res.Vars["who"]) != `"3"` || res.Text("big") != big || res.Text("greeting") != "hello 3" || res.Text("none") != "" {
		t.Errorf("who %s, big of %d bytes, greeting %q", res.Vars["who"], len(res.Text("big")), res.Text("greeting"))
	}
}

// A driver that is killed takes nothing with it: the function goes on in its own
// process, and whoever resumes the run has its answer. It is not called again.
// promise: C2
func TestAFunctionOutlivesItsDriver(t *testing.T) {
	t.Parallel()
	c, dir := place(t)
	var run belay.RunID
	killed := false
	_, err := c.Run(t.Context(), "testdata/wait.yaml", client.Dir(dir), client.Records(func(r event.Record) {
		run = r.Run
		if a, ok := r.Event.(event.AttemptStarted); ok && a.Path == "ask" && !killed {
			until(t, "the agent began", written(filepath.Join(dir, "began")))
			killed = true
			if err := syscall.Kill(driverOf(t, c, run), syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		}
	}))
	if !killed || err == nil || exit.Code(err) != exit.Infra {
		t.Fatalf("a killed driver: %v", err)
	}
	say(t, filepath.Join(dir, "go"), "word")
	res, err := c.Resume(t.Context(), run)
	if err != nil || res.Text("heard") != "heard word" {
		t.Fatalf("resumed: %+v, %v", res, err)
	}
	if n := lines(t, filepath.Join(dir, "began")); n != 1 {
		t.Errorf("the function was called %d times", n)
	}
	if n := lines(t, filepath.Join(dir, "before")); n != 1 {
		t.Errorf("the step before it ran %d times", n)
	}
}

// driverOf is the process that drives a run.
func driverOf(t *testing.T, c *client.Client, id belay.RunID) int {
	t.Helper()
	for r, err := range c.Follow(t.Context(), id) {
		if err != nil {
			t.Error(err)
			break
		}
		if a, ok := r.Event.(event.RunAttached); ok {
			return a.Pid
		}
	}
	t.Fatal("nobody drives the run")
	return 0
}

// A cancelled context stops the run in order: it is STOPPED on record, and a
// resume does only what is left.
// promise: C1
func TestCancelStops(t *testing.T) {
	t.Parallel()
	c, dir := place(t)
	ctx, cancel := context.WithCancel(t.Context())
	res, err := c.Run(ctx, "testdata/wait.yaml", client.Dir(dir), client.ID("stopped"), client.Records(func(r event.Record) {
		if a, ok := r.Event.(event.AttemptStarted); ok && a.Path == "ask" {
			until(t, "the agent began", written(filepath.Join(dir, "began")))
			cancel()
		}
	}))
	var run *belay.RunError
	if !errors.As(err, &run) || !errors.Is(err, context.Canceled) || res.Status != belay.Stopped || res.Run != "stopped" {
		t.Fatalf("stopped: %+v, %v", res, err)
	}
	say(t, filepath.Join(dir, "go"), "on")
	if res, err = c.Resume(t.Context(), "stopped"); err != nil || res.Text("heard") != "heard on" || lines(t, filepath.Join(dir, "before")) != 1 {
		t.Errorf("resumed: %+v, %v", res, err)
	}
}

// TestProgram is a program that runs a recipe, for TestAProgramThatDies.
func TestProgram(t *testing.T) {
	state, dir := os.Getenv("CLIENT_STATE"), os.Getenv("CLIENT_DIR")
	if state == "" {
		t.Skip("it is a program for another test")
	}
	_, _ = program.In(state).Run(t.Context(), "testdata/wait.yaml", client.Dir(dir), client.ID("left")) // it is killed
}

// When the program itself is killed the run stops in order, and another program
// goes on with it.
// promise: C1
func TestAProgramThatDies(t *testing.T) {
	t.Parallel()
	state, dir := filepath.Join(t.TempDir(), "state"), t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProgram$")
	cmd.Env = append(os.Environ(), "CLIENT_STATE="+state, "CLIENT_DIR="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the agent began", written(filepath.Join(dir, "began")))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	c := program.In(state)
	last := ""
	for r, err := range c.Follow(t.Context(), "left") {
		if err != nil {
			t.Fatal(err)
		}
		last = r.Event.Kind()
	}
	if last != (event.RunStopped{}).Kind() {
		t.Fatalf("the last record is %s", last)
	}
	say(t, filepath.Join(dir, "go"), "on")
	until(t, "it is free", func() bool { // its driver wrote that it stops, and leaves
		res, err := c.Resume(t.Context(), "left")
		if exit.Code(err) == exit.Busy {
			return false
		}
		if err != nil || res.Text("heard") != "heard on" {
			t.Errorf("resumed: %+v, %v", res, err)
		}
		return true
	})
}

// What cannot run is refused with the place and the reason, and nothing starts.
// promise: C1
func TestRefusals(t *testing.T) {
	t.Parallel()
	c, dir := place(t)
	for name, try := range map[string]struct {
		run  func() error
		code int
		says string
	}{
		"recipe":    {func() error { _, err := c.Run(t.Context(), "testdata/wrong.yaml"); return err }, exit.Invalid, "wrong.yaml:4:"},
		"no recipe": {func() error { _, err := c.Run(t.Context(), "testdata/none.yaml"); return err }, exit.Invalid, "none.yaml"},
		"variable": {func() error {
			_, err := c.Run(t.Context(), "testdata/greet.yaml", client.Var("LD_PRELOAD", 1))
			return err
		}, exit.Usage, "LD_PRELOAD"},
		"value": {func() error { _, err := c.Run(t.Context(), "testdata/greet.yaml", client.Var("x", t.Run)); return err }, exit.Usage, "variable x"},
		"agent": {func() error { _, err := c.Run(t.Context(), "testdata/shout.yaml", client.By("nobody")); return err }, exit.Invalid, "nobody"},
		"limit": {func() error {
			_, err := c.Run(t.Context(), "testdata/shout.yaml", client.Limit(client.Limits{Agents: -1}))
			return err
		}, exit.Usage, "max-agents"},
		"directory":  {func() error { _, err := c.Run(t.Context(), "testdata/greet.yaml", client.Dir(dir+"/none")); return err }, exit.Invalid, "none"},
		"no run":     {func() error { _, err := c.Resume(t.Context(), "none"); return err }, exit.Invalid, "none"},
		"late":       {func() error { _, err := c.Resume(t.Context(), "none", client.Var("x", 1)); return err }, exit.Usage, "keeps what it was started with"},
		"not served": {func() error { _, err := (&client.Client{}).In(dir).Run(t.Context(), "testdata/greet.yaml"); return err }, exit.Usage, "client.Serve"},
	} {
		err := try.run()
		if err == nil || exit.Code(err) != try.code || !strings.Contains(err.Error(), try.says) {
			t.Errorf("%s: exit %d, %v; want exit %d and %q", name, exit.Code(err), err, try.code, try.says)
		}
	}
	for r, err := range c.Follow(t.Context(), "none") {
		if err == nil {
			t.Errorf("a record of a run that is not there: %+v", r)
		}
	}
}

// Limits hold: the agent that would be one too many is not started.
func TestLimit(t *testing.T) {
	t.Parallel()
	c, dir := place(t)
	say(t, filepath.Join(dir, "go"), "on")
	res, err := c.Run(t.Context(), "testdata/twice.yaml", client.Dir(dir), client.Limit(client.Limits{Agents: 1, USD: 2.5, Wall: time.Hour, Parallel: 2}))
	if err == nil || res.Agents != 1 || lines(t, filepath.Join(dir, "began")) != 1 {
		t.Errorf("%+v, %v", res, err)
	}
}

// Agents that no recipe could name are refused when the program starts.
func TestServeRefusesAgents(t *testing.T) {
	t.Parallel()
	for name, agents := range map[string][]client.Agent{
		"no name":     {{Do: shout}},
		"no function": {{Name: "mute"}},
		"taken":       {{Name: "claude", Do: shout}},
		"two":         {{Name: "a", Do: shout}, {Name: "a", Do: shout}},
		"odd":         {{Name: "a b", Do: shout}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: it is taken", name)
				}
			}()
			client.Serve(agents...)
		}()
	}
}
