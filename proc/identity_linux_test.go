package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func sleeper(t *testing.T) (*exec.Cmd, Identity) {
	t.Helper()
	c := exec.Command("sleep", "300")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	id, err := Identify(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return c, id
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	self, err := Self()
	if err != nil || !self.Alive() {
		t.Errorf("self: %+v %v", self, err)
	}
	c, id := sleeper(t)
	strangers := map[string]Identity{
		"start": {id.Pid, id.Start + 1, id.Boot}, "boot": {id.Pid, id.Start, "another"},
		"group": {-id.Pid, id.Start, id.Boot}, "zero": {},
	}
	for name, s := range strangers {
		if err := s.Signal(syscall.SIGKILL); !errors.Is(err, ErrGone) || s.Alive() {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !id.Alive() {
		t.Fatal("a stranger was signalled")
	}
	if err := id.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(time.Minute); id.Alive(); <-time.After(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("it does not die")
		}
	}
	if err := id.Signal(syscall.SIGTERM); !errors.Is(err, ErrGone) { // a zombie
		t.Errorf("zombie: %v", err)
	}
	_ = c.Wait() // it was ended by a signal
	if _, err := Identify(id.Pid); !errors.Is(err, ErrGone) {
		t.Errorf("reaped: %v", err)
	}
}

func TestAncestors(t *testing.T) {
	t.Parallel()
	c, id := sleeper(t)
	defer func() { _ = id.Signal(syscall.SIGKILL); _ = c.Wait() }() // it ends by the signal
	chain, err := Ancestors(id.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if len(chain) < 2 || chain[0].Pid != os.Getpid() || chain[len(chain)-1].Pid != 1 {
		t.Errorf("chain %+v", chain)
	}
	for _, a := range chain {
		if !a.Alive() {
			t.Errorf("%+v is not alive", a)
		}
	}
}

func TestParseStat(t *testing.T) {
	t.Parallel()
	tail := " S 1 20 30 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 9 9"
	for _, name := range []string{"(sh)", "(a b)", "(x) S 9 9 (y)", "())"} {
		p, err := parseStat(5, []byte("5 "+name+tail))
		if err != nil || p != (process{pid: 5, ppid: 1, pgid: 20, sid: 30, start: 4711}) {
			t.Errorf("%s: %+v %v", name, p, err)
		}
	}
	for _, bad := range []string{"", "5 (sh) S 1", "5 (sh) S x 20 30 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 9"} {
		if _, err := parseStat(5, []byte(bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// A pid that is used again is a stranger's. The kernel is made to use it again
// at once, in a PID namespace.
func TestReusedPid(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe, "as-reuse", "x")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	out, err := c.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("this user may not make a PID namespace, and without one no pid can be made to come again")
	}
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func reuseRole([]string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return err
	}
	first := exec.Command("sleep", "300")
	if err := first.Start(); err != nil {
		return err
	}
	old, err := Identify(first.Process.Pid)
	if err != nil {
		return err
	}
	if err := first.Process.Kill(); err != nil {
		return err
	}
	_ = first.Wait()                    // it was killed
	<-time.After(30 * time.Millisecond) // the kernel counts start times in hundredths
	for range 100 {
		if err := os.WriteFile("/proc/sys/kernel/ns_last_pid", []byte(strconv.Itoa(old.Pid-1)), 0o600); err != nil {
			return err
		}
		second := exec.Command("sleep", "300")
		if err := second.Start(); err != nil {
			return err
		}
		if second.Process.Pid == old.Pid {
			return checkReused(old, second)
		}
		_ = second.Process.Kill() // another try
		_ = second.Wait()         // it was killed
	}
	return errors.New("the pid did not come again")
}

func checkReused(old Identity, second *exec.Cmd) error {
	if old.Alive() {
		return errors.New("the old identity is alive")
	}
	if err := old.Signal(syscall.SIGKILL); !errors.Is(err, ErrGone) {
		return fmt.Errorf("signal through the old identity: %w", err)
	}
	now, err := Identify(second.Process.Pid)
	if err != nil || !now.Alive() {
		return fmt.Errorf("the stranger is dead: %w", err)
	}
	return now.Signal(syscall.SIGKILL)
}
