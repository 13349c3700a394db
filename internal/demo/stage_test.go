package demo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// What belongs to the user does not reach the runs.
func TestEnvironmentIsItsOwn(t *testing.T) {
	t.Parallel()
	got := environ([]string{
		"PATH=/bin", "LC_ALL=C", "HOME=/users/me", "BELAY_STATE=/mine", "BELAY_AGENT=claude", "BELAY_RUN_ID=r1",
		"XDG_CONFIG_HOME=/mine", "GIT_DIR=/mine", "ANTHROPIC_API_KEY=k", "TMPDIR=/mine", "BASH_ENV=/mine",
	}, "/tmp/d")
	for _, kv := range got {
		if strings.Contains(kv, "mine") || strings.Contains(kv, "/users/me") || strings.Contains(kv, "claude") || strings.HasPrefix(kv, "ANTHROPIC") {
			t.Errorf("%s", kv)
		}
	}
	for _, want := range []string{"PATH=/bin", "LC_ALL=C", "HOME=/tmp/d/home", "BELAY_STATE=/tmp/d/state", "BELAY_DEMO=/tmp/d", "GIT_CONFIG_GLOBAL=/dev/null"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing in %q", want, got)
		}
	}
}

// What is left of a showing is found by its mark and ended, one that does not
// listen too; what belongs to another one is not touched.
func TestLeaveEndsWhatIsLeft(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skipf("processes are found by their environment: %v", err)
	}
	folder := filepath.Join(t.TempDir(), "belay-demo-1")
	if err := os.MkdirAll(filepath.Join(folder, "closed"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(folder, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	deaf, deafEnd := sleeper(t, folder, `trap "" TERM; echo up; while :; do read -t 60; done`)
	other, _ := sleeper(t, folder+"1", `echo up; read -t 60`)
	s := &stage{folder: folder, part: 300 * time.Millisecond}
	if got := s.processes(); len(got) != 1 || got[0].Pid != deaf.Process.Pid {
		t.Fatalf("processes %v, want %d", got, deaf.Process.Pid)
	}
	if err := s.leave(); err != nil {
		t.Fatal(err)
	}
	if err := <-deafEnd; err == nil || deaf.ProcessState.ExitCode() != -1 {
		t.Errorf("it ended by itself: %v", deaf.ProcessState)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
	if !alive(other.Process.Pid) {
		t.Error("the process of another demo was ended")
	}
}

// sleeper starts a script with the mark of a folder, and waits until it is up.
func sleeper(t *testing.T, folder, script string) (*exec.Cmd, <-chan error) {
	t.Helper()
	cmd := exec.Command("bash", "-c", script)
	cmd.Env = []string{markVar + "=" + folder, "PATH=" + os.Getenv("PATH")}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	end, over := make(chan error, 1), make(chan struct{})
	go func() {
		end <- cmd.Wait()
		close(over)
	}()
	t.Cleanup(func() {
		_ = in.Close()         // it may be closed already
		_ = cmd.Process.Kill() // mostly it is gone
		<-over
	})
	return cmd, end
}

// A line is told when it is whole, after the word about the act that it begins;
// colours do not matter, and text that is no line about a step begins none. What
// leads nowhere, and what is said after the end, is left out.
func TestVoice(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	over := false
	v := &voice{out: &out, lost: func(err error) { t.Error(err) }, over: func() bool { return over }}
	for _, p := range []string{"belay: run test\n  \x1b[33mrepair", "\x1b[0m    test    1ms  x\n  done  test@repair\n", "✓ done readme/test\nwhy: belay why ship\nhalf"} {
		if n, err := v.Write([]byte(p)); n != len(p) || err != nil {
			t.Fatal(n, err)
		}
	}
	v.say("Now %d.", 4)
	over = true
	if _, err := v.Write([]byte("run ship STOPPED\n")); err != nil {
		t.Fatal(err)
	}
	all := acts()
	want := "belay: run test\n\n» " + all[0].text + "\n  \x1b[33mrepair\x1b[0m    test    1ms  x\n  done  test@repair\n" +
		"\n» " + all[1].text + "\n✓ done readme/test\nhalf\n\n» Now 4.\n"
	if out.String() != want {
		t.Errorf("got\n%q\nwant\n%q", out.String(), want)
	}
}

// A story that nobody hears ends the show, with the reason.
func TestVoiceUnheard(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	r, w := io.Pipe()
	gone := errors.New("nobody reads")
	if err := r.CloseWithError(gone); err != nil {
		t.Fatal(err)
	}
	v := &voice{out: w, lost: cancel, over: func() bool { return false }}
	if _, err := v.Write([]byte("a line\n")); err != nil {
		t.Errorf("the process that writes is told: %v", err)
	}
	if !errors.Is(context.Cause(ctx), gone) {
		t.Errorf("the show goes on: %v", context.Cause(ctx))
	}
}

// A start counts when its line is whole.
func TestStarted(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "starts")
	if pids, err := started(file); len(pids) != 0 || err != nil {
		t.Errorf("no file: %v %v", pids, err)
	}
	for text, want := range map[string][]int{"": nil, "12": nil, "12\n3": {12}, "12\n34\n": {12, 34}} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if pids, err := started(file); !slices.Equal(pids, want) || err != nil {
			t.Errorf("%q: %v %v, want %v", text, pids, err, want)
		}
	}
}
