package main_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/belaytest/scratch"
)

// Eight resumes and three watches fight over runs while their drivers, and the
// watches, are killed, stopped and let go on: no run is driven twice at once, no
// step is done twice, no record is lost, and in the end every run reaches its
// goal. Six runs for three seconds on a change, twenty for two minutes with
// BELAY_SWEEPS=all.
//
// promise: W5, W13, K2
func TestLongWatchCrowd(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	runs, steps, span := 6, 12, 3*time.Second
	if wholeSweep() {
		runs, steps, span = 20, 300, 2*time.Minute
	}
	c := newCrowd(t, runs, steps)
	for i := range runs {
		c.belay("run", "r.yaml", "--id", c.id(i), "--set", "name="+c.id(i), "--detach")
	}
	for end := time.Now().Add(span); time.Now().Before(end); {
		c.act()
	}
	c.settle()
	for i := range runs {
		c.sound(c.id(i))
	}
	t.Logf("seed %d: %d kills, %d stops, %d resumes, %d watches", c.seed, c.kills, c.stops, c.resumes, c.watches)
	if c.kills == 0 || c.resumes == 0 {
		t.Error("nothing was tried")
	}
}

type crowd struct {
	t           *testing.T
	dir         string
	runs, steps int
	seed        uint64
	dice        *rand.Rand
	busy        []*exec.Cmd // resumes and watches
	env         []string

	kills, stops, resumes, watches int
}

func newCrowd(t *testing.T, runs, steps int) *crowd {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	c := &crowd{t: t, dir: t.TempDir(), runs: runs, steps: steps, seed: seed, dice: rand.New(rand.NewPCG(seed, 1))}
	var text strings.Builder
	text.WriteString("name: crowd\ncontext: {name: x}\nsteps:\n")
	for i := range steps {
		fmt.Fprintf(&text, "  - {id: s%d, command: 'sleep 0.1; echo s%d >> {{name}}.done'}\n", i, i)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "r.yaml"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for i := range runs {
			c.signal(c.driver(c.id(i)), syscall.SIGCONT)
		}
		for _, cmd := range c.busy {
			_ = cmd.Process.Kill() // it may be gone by now
			_ = cmd.Wait()         // killed
		}
	})
	return c
}

func (c *crowd) id(i int) string { return fmt.Sprintf("w%d", i) }

func (c *crowd) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(c.t.Context(), os.Getenv("PROGRAM_UNDER_TEST"), args...)
	cmd.Dir = c.dir
	cmd.Env = append(append(os.Environ(), "BELAY_STATE="+filepath.Join(c.dir, "state")), c.env...)
	return cmd
}

func (c *crowd) belay(args ...string) string {
	c.t.Helper()
	out, err := c.command(args...).CombinedOutput()
	if err != nil {
		c.t.Fatalf("seed %d: belay %s: %v\n%s", c.seed, strings.Join(args, " "), err, out)
	}
	return string(out)
}

var beatPid = regexp.MustCompile(`"pid":(\d+),"start":(\d+)`)

// driver is the pid in a run's last beat, 0 for none.
func (c *crowd) driver(run string) int {
	b, err := os.ReadFile(filepath.Join(c.dir, "state", "runs", run, "beat"))
	if err != nil {
		return 0
	}
	m := beatPid.FindSubmatch(b)
	if m == nil {
		return 0
	}
	pid, err := strconv.Atoi(string(m[1]))
	if err != nil {
		return 0
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	born := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // from its third field on
	if err != nil || len(born) < 20 || born[19] != string(m[2]) {
		return 0 // gone, and perhaps another's by now
	}
	return pid
}

func (c *crowd) signal(pid int, sig syscall.Signal) {
	if pid > 0 {
		_ = syscall.Kill(pid, sig) // it may be gone by now
	}
}

// act does one thing to somebody.
func (c *crowd) act() {
	c.reap()
	run := c.id(c.dice.IntN(c.runs))
	switch n := c.dice.IntN(10); {
	case n < 4:
		c.signal(c.driver(run), syscall.SIGKILL)
		c.kills++
	case n < 5:
		pid := c.driver(run)
		c.signal(pid, syscall.SIGSTOP)
		c.wait(time.Duration(c.dice.IntN(150)) * time.Millisecond)
		c.signal(pid, syscall.SIGCONT)
		c.stops++
	case n < 8 && len(c.busy) < 11:
		c.start("resume", run, "--unattended")
		c.resumes++
	case n < 9 && len(c.busy) > 3:
		_ = c.busy[c.dice.IntN(len(c.busy))].Process.Kill() // it may be gone by now
		c.kills++
	default:
		if c.count("watch") < 3 {
			c.start("watch", "--poll", "20ms", "--window", "30s", "--max-resume", "1000", "--max-resume-total", "1000")
			c.watches++
		}
	}
	c.wait(time.Duration(10+c.dice.IntN(40)) * time.Millisecond)
}

// wait lets the others work.
func (c *crowd) wait(d time.Duration) {
	select {
	case <-c.t.Context().Done():
	case <-time.After(d):
	}
}

func (c *crowd) start(args ...string) {
	cmd := c.command(args...)
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.busy = append(c.busy, cmd)
}

func (c *crowd) count(what string) (n int) {
	for _, cmd := range c.busy {
		if cmd.Args[1] == what {
			n++
		}
	}
	return n
}

// reap takes in those that have ended.
func (c *crowd) reap() {
	var left []*exec.Cmd
	for _, cmd := range c.busy {
		var ws syscall.WaitStatus
		if got, err := syscall.Wait4(cmd.Process.Pid, &ws, syscall.WNOHANG, nil); got == 0 && err == nil {
			left = append(left, cmd)
		}
	}
	c.busy = left
}

// settle lets one watch bring all to their end.
func (c *crowd) settle() {
	c.t.Helper()
	for _, cmd := range c.busy {
		if cmd.Args[1] == "watch" {
			_ = cmd.Process.Kill() // it may be gone by now
		}
	}
	args := []string{"watch"}
	for i := range c.runs {
		args = append(args, c.id(i))
	}
	out := c.belay(append(args, "--poll", "50ms", "--window", "100s", "--max-resume", "1000", "--max-resume-total", "1000", "--json")...)
	if !strings.Contains(out, `"ALL_RUNS_COMPLETE"`) {
		c.t.Errorf("seed %d: not all reached their goal\n%s", c.seed, out)
	}
}

// sound checks one run: every step once, and a journal without a fault.
func (c *crowd) sound(run string) {
	c.t.Helper()
	var want strings.Builder
	for i := range c.steps {
		fmt.Fprintf(&want, "s%d\n", i)
	}
	got, err := os.ReadFile(filepath.Join(c.dir, run+".done"))
	if err != nil || string(got) != want.String() {
		c.t.Errorf("seed %d: run %s did %q, %v", c.seed, run, got, err)
	}
	c.belay("audit", run)
	if out := c.belay("show", run, "--records"); strings.Contains(out, "run.reopened") {
		c.t.Errorf("seed %d: run %s was opened again", c.seed, run)
	}
}
