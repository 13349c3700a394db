//go:build failpoints && linux

package failpoint

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestMain turns the test binary into the process that dies.
func TestMain(m *testing.M) {
	if os.Getenv("FAILPOINT_VICTIM") != "" {
		for i := 1; i <= 3; i++ {
			Hit("a")
			fmt.Println("passed a", i)
			Hit("b")
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func victim(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a victim that stays stopped must not hold the test
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), append(env, "FAILPOINT_VICTIM=1")...)
	return cmd
}

func TestDeaths(t *testing.T) {
	for _, c := range []struct {
		spec   string
		signal syscall.Signal
		code   int
		passed int // how often the victim got past point a
	}{
		{"", 0, 0, 3},
		{"a=2:kill", syscall.SIGKILL, -1, 1},
		{"b=3:kill", syscall.SIGKILL, -1, 3},
		{"a=*:kill", syscall.SIGKILL, -1, 0},
		{"b=1:exit(7)", 0, 7, 1},
		{"a=3:panic", 0, 2, 2},
		{"b=4:kill", 0, 0, 3},
		{"other=*:kill,b=2:exit(9)", 0, 9, 2},
		{"a=2", 0, 2, 0}, // refused, not ignored
	} {
		t.Run(c.spec, func(t *testing.T) {
			cmd := victim(t, "BELAY_FP="+c.spec)
			out, _ := cmd.Output() // the exit is read below
			ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if got := strings.Count(string(out), "passed"); got != c.passed {
				t.Errorf("passed %d times, want %d", got, c.passed)
			}
			if ws.ExitStatus() != c.code || (c.signal != 0 && ws.Signal() != c.signal) {
				t.Errorf("ended with code %d signal %v, want %d %v", ws.ExitStatus(), ws.Signal(), c.code, c.signal)
			}
		})
	}
}

func TestStopHoldsAtThePoint(t *testing.T) {
	cmd := victim(t, "BELAY_FP=a=2:stop")
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &ws, syscall.WUNTRACED, nil); err != nil || !ws.Stopped() {
		t.Fatalf("not stopped: %v %v", ws, err)
	}
	sc := bufio.NewScanner(pipe)
	if !sc.Scan() || sc.Text() != "passed a 1" {
		t.Fatalf("before the stop: %q", sc.Text())
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	var after []string
	for sc.Scan() {
		after = append(after, sc.Text())
	}
	if err := cmd.Wait(); err != nil || len(after) != 2 {
		t.Errorf("after the stop: %q, %v", after, err)
	}
}

func TestTraceListsEveryHit(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "trace")
	cmd := victim(t, "BELAY_FP=b=3:kill", "BELAY_FP_TRACE="+trace)
	if err := cmd.Run(); err == nil {
		t.Fatal("the victim was not killed")
	}
	b, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, p := range []string{"a 1", "b 1", "a 2", "b 2", "a 3", "b 3"} {
		fmt.Fprintf(&want, "%d %s\n", cmd.Process.Pid, p)
	}
	if string(b) != want.String() {
		t.Errorf("trace:\n%swant:\n%s", b, want.String())
	}
}

// Of all processes that share a file one acts, once, and its name is there before
// it does.
func TestOnceOverProcesses(t *testing.T) {
	once := filepath.Join(t.TempDir(), "once")
	for i, want := range []syscall.Signal{syscall.SIGKILL, 0, 0} {
		cmd := victim(t, "BELAY_FP=a=3:kill,b=2:kill", "BELAY_FP_ONCE="+once)
		_ = cmd.Run() // the signal is read below
		ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if ws.Signaled() != (want != 0) || ws.Signaled() && ws.Signal() != want {
			t.Errorf("process %d: %v", i, cmd.ProcessState)
		}
		if i > 0 {
			continue
		}
		b, err := os.ReadFile(once)
		if got := fmt.Sprintf("%d b 2\n", cmd.Process.Pid); err != nil || string(b) != got {
			t.Errorf("it says %q (%v), want %q", b, err, got)
		}
	}
}

// Of many goroutines that hit one point, exactly one is the n-th.
func TestCountIsSafe(t *testing.T) {
	tab, err := newTable("p=50:sleep(0s)", "", "")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var due int
	for range 100 {
		wg.Go(func() {
			n := len(tab.due("p"))
			mu.Lock()
			defer mu.Unlock()
			due += n
		})
	}
	wg.Wait()
	if due != 1 || tab.count["p"] != 100 {
		t.Errorf("due %d times of %d hits, want 1 of 100", due, tab.count["p"])
	}
}

func TestParse(t *testing.T) {
	got, err := parse("x.y=1:kill,z=*:sleep(20ms),w=3:exit(7)")
	want := []arm{
		{name: "x.y", nth: 1, act: actKill},
		{name: "z", nth: every, act: actSleep, delay: 20 * time.Millisecond},
		{name: "w", nth: 3, act: actExit, code: 7},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("parse: %+v, %v", got, err)
	}
	for _, bad := range []string{"x", "x=1", "=1:kill", "x=0:kill", "x=-1:kill", "x=q:kill", "x=1:die", "x=1:exit", "x=1:exit(3", "x=1:sleep(soon)", "x=1:kill(9)", "x=1:kill,"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("parse(%q) is accepted", bad)
		}
	}
}
