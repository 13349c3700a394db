package main_test

import (
	"bytes"
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

	"golang.org/x/sys/unix"
)

const asksOnce = "name: ask\nsteps:\n- {id: wait, command: 'until [ -e go ]; do sleep 0.02; done'}\n" +
	"- {id: ship, approve: {prompt: 'Ship it? It goes to all of those who were promised it for the end of this month.'}, output: answer}\n- {id: after, command: 'echo \"$ANSWER\" >shipped'}\n"

// seat is a program at a terminal.
type seat struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	dir    string

	mu   sync.Mutex
	seen bytes.Buffer
	over chan struct{}
}

// sit starts the program at a terminal of its own.
func sit(t *testing.T, args ...string) *seat {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &seat{t: t, master: master, dir: t.TempDir(), over: make(chan struct{})}
	if err := os.WriteFile(filepath.Join(s.dir, "ask.yaml"), []byte(asksOnce), 0o600); err != nil {
		t.Fatal(err)
	}
	s.cmd = s.belay(args...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = slave, slave, slave
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := slave.Close(); err != nil {
		t.Fatal(err)
	}
	go s.look()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // if it is still there
		_ = s.master.Close()     // ends look
		<-s.over
	})
	return s
}

func (s *seat) belay(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.t.Context(), program, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "BELAY_STATE="+filepath.Join(s.dir, "state"), "HOME="+s.dir, "TERM=xterm")
	return cmd
}

func (s *seat) look() {
	defer close(s.over)
	b := make([]byte, 4096)
	for {
		n, err := s.master.Read(b)
		s.mu.Lock()
		s.seen.Write(b[:n])
		s.mu.Unlock()
		if err != nil {
			return // the terminal is gone
		}
	}
}

// sees waits until something stands on the screen so many times.
func (s *seat) sees(text string, times int) {
	s.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-time.After(10 * time.Millisecond) {
		s.mu.Lock()
		n := strings.Count(s.seen.String(), text)
		s.mu.Unlock()
		if n >= times {
			return
		}
	}
	s.t.Fatalf("no %q on the screen:\n%s", text, s.seen.String())
}

func (s *seat) types(text string) {
	s.t.Helper()
	if _, err := s.master.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// leave lets the first step end.
func (s *seat) leave() {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *seat) wantExit(code int) {
	s.t.Helper()
	err := s.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || s.cmd.ProcessState.ExitCode() != code {
		s.t.Fatalf("%v, want exit %d:\n%s", err, code, s.seen.String())
	}
}

// run calls the program from another shell.
func (s *seat) run(code int, args ...string) string {
	s.t.Helper()
	cmd := s.belay(args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		s.t.Fatalf("belay %s: %v, want exit %d:\n%s", strings.Join(args, " "), err, code, out)
	}
	return string(out)
}

// A question is asked at the terminal, there and then: what was typed before it is
// no answer, what is no answer is asked again, and a yes is one.
//
// promise: L
func TestAskedAtATerminal(t *testing.T) {
	t.Parallel()
	s := sit(t, "run", "ask.yaml", "--id", "r1")
	s.sees("wait", 1)
	s.types("y\n")
	s.leave()
	s.sees("Ship it?", 1)
	s.sees("[y/n] ", 1)
	s.types("perhaps\n")
	s.sees("[y/n] ", 2)
	s.types("y\n")
	s.wantExit(0)
	s.mu.Lock()
	seen := s.seen.String()
	s.mu.Unlock()
	if strings.Count(seen, "Ship it?") != 1 {
		t.Errorf("the question does not stand there once:\n%s", seen)
	}
	for l := range strings.SplitSeq(seen, "\r\n") {
		if strings.Contains(l, "promised") && len(l) > 80 {
			t.Errorf("%q is too wide", l)
		}
	}
	if text, err := os.ReadFile(filepath.Join(s.dir, "shipped")); err != nil || string(text) != "approve\n" {
		t.Errorf("%q, %v", text, err)
	}
	if recs := s.run(0, "show", "r1", "--records"); strings.Count(recs, `"kind":"item.answered"`) != 1 || !strings.Contains(recs, "typed at the terminal") {
		t.Errorf("records:\n%s", recs)
	}
	s.run(0, "audit", "r1")
}

// While the terminal asks, another shell may answer; who turns the terminal away
// leaves the question in the inbox; and who kills the driver loses nothing.
//
// promise: L, X
func TestAskedAtATerminalAndAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	s := sit(t, "run", "ask.yaml", "--id", "r1")
	s.leave()
	s.sees("[y/n] ", 1)
	if said := s.run(0, "inbox"); strings.Contains(said, "resume") || !strings.Contains(said, "belay reject r1:ship.1") {
		t.Errorf("inbox:\n%s", said)
	}
	s.run(0, "reject", "r1:ship.1", "--why", "not yet")
	s.wantExit(1)

	s = sit(t, "run", "ask.yaml", "--id", "r2")
	s.leave()
	s.sees("[y/n] ", 1)
	s.types("\x04") // end of input
	s.wantExit(11)
	s.run(0, "audit", "r2")

	s = sit(t, "run", "ask.yaml", "--id", "r3")
	s.leave()
	s.sees("[y/n] ", 1)
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait() // it was killed
	s.run(11, "resume", "r3")
	s.run(0, "approve", "r3:ship")
	s.run(0, "resume", "r3")
	s.run(0, "audit", "r3")
}
