//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/proc"
)

// patience is how long a run of the suite may take before it counts as hung.
// Nothing that passes waits for it, so it is long: the machine may be busy.
const patience = 2 * time.Minute

// bench is what all parts of the suite share: the binaries that are killed,
// the run that nobody killed, and the count of what was seen.
type bench struct {
	t       *testing.T
	dir     string
	shipped string // as users get it
	armed   string // built with failpoints; "" in the short sample
	calm    *outcome
	seed    uint64

	mu    sync.Mutex
	rigs  int
	lines []string // the summary
}

func newBench(t *testing.T, armed bool) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), seed: seedOf(t), shipped: os.Getenv("PROGRAM_UNDER_TEST")}
	if b.shipped == "" {
		t.Fatal("TestMain built no program")
	}
	if armed {
		var err error
		if b.armed, err = armedProgram(); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// armedProgram is the program with failpoints, built once for all tests, beside
// the one without.
var armedProgram = sync.OnceValues(func() (string, error) {
	out := os.Getenv("PROGRAM_UNDER_TEST") + "-armed"
	cmd := exec.CommandContext(context.Background(), "go", "build", "-o", out, "-tags", "failpoints", ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, text)
	}
	return out, nil
})

// say adds a line to the summary.
func (b *bench) say(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, fmt.Sprintf(format, args...))
}

// width is how many cases are tried at the same time: most of a case is waiting.
const width = 8

// each does the work for n cases.
func (b *bench) each(n int, work func(i int)) {
	var hands sync.WaitGroup
	var next atomic.Int64
	for range width {
		hands.Go(func() {
			for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
				work(i - 1)
			}
		})
	}
	hands.Wait()
}

// rig is one run in a state directory and a work directory of its own.
type rig struct {
	bin  string
	dir  string
	mark string // in the environment of everything that is started here
	base []string
	wrap []string // goes before every command
}

// newRig makes a rig; wipe must follow.
func (b *bench) newRig(bin string) (*rig, error) {
	b.mu.Lock()
	b.rigs++
	r := &rig{bin: bin, dir: filepath.Join(b.dir, "r"+strconv.Itoa(b.rigs))}
	b.mu.Unlock()
	for _, d := range []string{r.dir, r.state(), r.work()} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, err
		}
	}
	r.mark = "CRASH_RIG=" + r.dir
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "BELAY_") && !strings.HasPrefix(kv, "AMPLIHACK_") {
			r.base = append(r.base, kv)
		}
	}
	r.base = append(r.base, r.mark, "BELAY_STATE="+r.state(), "BELAY_CONFIG="+os.DevNull, "BELAY_KILL_GRACE=300ms")
	return r, writeRecipes(r.work())
}

func (r *rig) state() string             { return filepath.Join(r.dir, "state") }
func (r *rig) work() string              { return filepath.Join(r.dir, "work") }
func (r *rig) inWork(name string) string { return filepath.Join(r.work(), name) }

// put writes a file into the work directory.
func (r *rig) put(name, text string) error {
	return os.WriteFile(r.inWork(name), []byte(text), 0o600)
}

// id is the run of this rig, once it has a folder.
func (r *rig) id() belay.RunID {
	entries, err := os.ReadDir(filepath.Join(r.state(), "runs"))
	if err != nil || len(entries) == 0 {
		return ""
	}
	return belay.RunID(entries[0].Name())
}

func (r *rig) folder() journal.Folder {
	return journal.Folder(filepath.Join(r.state(), "runs", string(r.id())))
}

// records reads the journal as any other process may.
func (r *rig) records() ([]event.Record, error) {
	v, err := journal.OpenView(string(r.folder()))
	if err != nil {
		return nil, err
	}
	recs, err := v.Load()
	return recs, errors.Join(err, v.Close())
}

// command is a belay that was started.
type command struct {
	cmd      *exec.Cmd
	out, err string // files
	done     chan struct{}
}

// start starts belay; its output goes to files, so that nothing that outlives
// it can hold it up.
func (r *rig) start(env []string, args ...string) (*command, error) {
	args = append(append(slices.Clone(r.wrap), r.bin), args...)
	c := &command{cmd: exec.CommandContext(context.Background(), args[0], args[1:]...), done: make(chan struct{})}
	c.cmd.Dir, c.cmd.Env = r.work(), append(slices.Clone(r.base), env...)
	for _, s := range []struct {
		name string
		file *string
		set  func(*os.File)
	}{
		{"out-*", &c.out, func(f *os.File) { c.cmd.Stdout = f }},
		{"err-*", &c.err, func(f *os.File) { c.cmd.Stderr = f }},
	} {
		f, err := os.CreateTemp(r.dir, s.name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		*s.file = f.Name()
		s.set(f)
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = c.cmd.Wait() // what it says is in ProcessState
		close(c.done)
	}()
	return c, nil
}

func (c *command) pid() int { return c.cmd.Process.Pid }

func (c *command) signal(s syscall.Signal) { _ = c.cmd.Process.Signal(s) } // it may be gone: the end tells

func (c *command) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// killAfter kills the process when the delay is over; false: it was faster.
func (c *command) killAfter(delay time.Duration) bool {
	select {
	case <-c.done:
		return false
	case <-time.After(delay):
		c.signal(syscall.SIGKILL)
		<-c.done
		return c.result().signal == syscall.SIGKILL
	}
}

// end is how a process ended.
type end struct {
	code     int
	signal   syscall.Signal
	out, err string
}

func (e end) String() string {
	if e.signal != 0 {
		return fmt.Sprintf("ended by %v", e.signal)
	}
	return fmt.Sprintf("exit %d: %s", e.code, strings.TrimSpace(tail(e.err, 600)))
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// wait waits for the end.
func (c *command) wait() (end, error) {
	select {
	case <-c.done:
		return c.result(), nil
	case <-time.After(patience):
		c.signal(syscall.SIGKILL)
		<-c.done
		return end{}, fmt.Errorf("%v hangs: %s", c.cmd.Args, c.result().err)
	}
}

func (c *command) result() end {
	st, _ := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	e := end{code: st.ExitStatus(), out: text(c.out), err: text(c.err)}
	if st.Signaled() {
		e.signal = st.Signal()
	}
	return e
}

func text(file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// belay runs a command to its end.
func (r *rig) belay(env []string, args ...string) (end, error) {
	c, err := r.start(env, args...)
	if err != nil {
		return end{}, err
	}
	return c.wait()
}

// want is belay with the code that it must end with.
func (r *rig) want(code int, args ...string) error {
	e, err := r.belay(nil, args...)
	if err == nil && (e.code != code || e.signal != 0) {
		err = fmt.Errorf("belay %s: want exit %d, %v", strings.Join(args, " "), code, e)
	}
	return err
}

// until waits for a condition. It looks less and less often: a look at all
// processes is not cheap.
func until(what string, ok func() bool) error {
	pause, most := 2*time.Millisecond, 20*time.Millisecond
	for late := time.After(patience / 2); !ok(); pause = min(2*pause, most) {
		select {
		case <-late:
			return fmt.Errorf("it did not come: %s", what)
		case <-time.After(pause):
		}
	}
	return nil
}

// exists waits for a file of the work directory.
func (r *rig) exists(name string) error {
	return until(name, func() bool { _, err := os.Stat(r.inWork(name)); return err == nil })
}

// carrying lists the living processes whose environment has the entry.
func carrying(entry string) []int { return withEntry(entry + "\x00") }

// marked lists the living processes of a run: its mark begins with its id.
func marked(run belay.RunID) []int { return withEntry("BELAY_MARK=" + string(run) + "-") }

// withEntry lists the living processes with an entry that begins so.
func withEntry(start string) []int {
	dirs, err := filepath.Glob("/proc/[0-9]*") // a longer pattern would list every one of them
	if err != nil {
		return nil // the pattern is sound
	}
	want := []byte("\x00" + start)
	var pids []int
	for _, dir := range dirs {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !bytes.Contains(append([]byte{0}, env...), want) {
			continue // gone, or another's
		}
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// describe names processes for a message.
func describe(pids []int) string {
	var list []string
	for _, pid := range pids {
		line := bytes.ReplaceAll([]byte(text(fmt.Sprintf("/proc/%d/cmdline", pid))), []byte{0}, []byte{' '})
		list = append(list, fmt.Sprintf("%d (%s)", pid, tail(string(line), 120)))
	}
	return strings.Join(list, ", ")
}

// wipe leaves nothing of the rig behind, whatever happened in it.
func (r *rig) wipe() {
	if keeper, err := r.keeper(); err == nil {
		_ = keeper.Signal(syscall.SIGKILL) // mostly it is gone
	}
	for range 100 {
		pids := carrying(r.mark)
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL) // the next look tells whether it worked
		}
		<-time.After(10 * time.Millisecond)
	}
}

// state is the letter that the kernel gives a process: R, S, T, Z; "" = gone.
func state(pid int) string { return statOf(fmt.Sprintf("/proc/%d/stat", pid)) }

func statOf(file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) == 0 {
		return ""
	}
	return string(f[0])
}

// stopped tells whether a process stands still: each of its threads does. A signal
// that stops it was only sent when its sender goes on, and until the kernel has
// told every thread the others may still read, write and answer.
func stopped(pid int) bool {
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range tasks {
		if statOf(fmt.Sprintf("/proc/%d/task/%s/stat", pid, task.Name())) != "T" {
			return false
		}
	}
	return err == nil && len(tasks) > 0
}

// keeper is the last one that wrote its name into the log; its pid is 0 when
// none did.
func (r *rig) keeper() (proc.Identity, error) {
	var last proc.Identity
	b, err := os.ReadFile(r.folder().KeeperLog())
	if errors.Is(err, os.ErrNotExist) {
		return last, nil
	}
	for line := range bytes.Lines(b) {
		var l struct {
			Keeper *proc.Identity `json:"keeper"`
		}
		if json.Unmarshal(line, &l) == nil && l.Keeper != nil {
			last = *l.Keeper
		}
	}
	return last, err
}
