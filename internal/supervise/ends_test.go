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
	"github.com/belay-run/belay/effect"
)

// toldMeanwhile is a Watcher during whose first look the attendant is told to end.
type toldMeanwhile struct{ stillness }

func (w toldMeanwhile) Before(ctx context.Context) (belay.TreeState, error) {
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		return belay.TreeState{}, err
	}
	<-ctx.Done()
	return w.stillness.Before(context.WithoutCancel(ctx))
}

// Who was told to end starts no agent.
func TestToldBeforeTheStart(t *testing.T) {
	t.Parallel()
	r := newRig(t).command("touch started")
	r.env = append(r.env, "ATTEND_TEST_TOLD=1")
	d := r.run()
	if d.code != 1 || d.Ended != effect.EndedSignal || there(filepath.Join(r.order.Dir, "started")) || d.Result.Class != belay.ClassCancelled {
		t.Fatalf("exit %d, ended %q, started %v, %+v", d.code, d.Ended, there(filepath.Join(r.order.Dir, "started")), d.Result)
	}
}

// holdoutMain is a program that its starter may not kill.
func holdoutMain(pidFile string) int {
	if err := syscall.Setresuid(0, 0, 0); err != nil {
		return 99
	}
	if err := os.WriteFile(pidFile, []byte(strconv.Itoa(os.Getpid())), 0o644); err != nil {
		return 98
	}
	for { // until somebody ends it who may; a select without cases would be a deadlock to Go
		_ = syscall.Pause() // it only ever returns because of a signal
	}
}

// A process that KILL does not end, here because it belongs to somebody else,
// keeps nobody from the report.
//
// promise: F2
func TestWhatKillDoesNotEnd(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can make a program that another user cannot kill")
	}
	patiently(t, time.Second, func(window time.Duration) error { return holdOut(t, window) })
}

// holdOut gives the process that cannot be killed a window to become that.
func holdOut(t *testing.T, window time.Duration) error {
	t.Helper()
	r := newRig(t)
	root := filepath.Dir(r.order.Dir)
	program, holdout := filepath.Join(root, "attendant"), filepath.Join(root, "holdout")
	for path, mode := range map[string]os.FileMode{program: 0o755, holdout: 0o755 | os.ModeSetuid} {
		b, err := os.ReadFile(os.Args[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	pidFile := filepath.Join(root, "pid")
	r.command("")
	r.order.Program, r.order.Env = []string{holdout, pidFile}, []string{roleVar + "=holdout"}
	r.order.Windows.Timeout = window
	path := filepath.Join(root, "order.json")
	if err := r.order.Write(path); err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	for _, p := range []string{root, r.order.Dir, r.order.Prompt, path} {
		if err := os.Chown(p, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Dir(root), 0o755); err != nil { // for the other user to come through
		t.Fatal(err)
	}
	cmd := exec.Command(program, path)
	cmd.Env = append(os.Environ(), roleVar+"=attend")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	var out, talk bytes.Buffer
	ours, theirs, err := os.Pipe() // the holdout has it too: its end is not waited for
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	cmd.Stdout, cmd.Stderr = &out, theirs
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); errors.Is(err, os.ErrPermission) {
		t.Skipf("another user cannot reach the folder of this test: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close() // the child has its own
	t.Cleanup(func() {
		b, err := os.ReadFile(pidFile)
		pid, bad := strconv.Atoi(string(b))
		if err == nil && bad == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
		}
	})
	began := time.Now()
	d := r.wait(cmd, &out, &talk)
	if d.Result.Exit == 99 {
		t.Skip("programs of another user cannot be run from the folder of this test")
	}
	if d.Ended != effect.EndedDeadline || !strings.Contains(d.Result.Cause, "survives") || d.Result.Exit != -1 {
		b, _ := io.ReadAll(io.LimitReader(ours, 1000)) // what it said helps, nothing more
		return fmt.Errorf("after %s: ended %q, %+v, notes %q: %s", time.Since(began), d.Ended, d.Result, fmt.Sprint(d.Notes), b)
	}
	return nil
}
