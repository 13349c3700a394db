package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/journal"
)

// patience is how long something may take before it counts as never. Nothing
// that passes waits for it, so it is long: the machine may be busy.
const patience = 2 * time.Minute

// until waits for a condition; what it waits for is said when it never comes.
// It looks less and less often: a look at all processes is not cheap.
func until(what string, cond func() bool) error {
	pause, most := 5*time.Millisecond, 50*time.Millisecond
	for end := time.Now().Add(patience); !cond(); pause = min(2*pause, most) {
		if time.Now().After(end) {
			return fmt.Errorf("waited %s for %s", patience, what)
		}
		<-time.After(pause)
	}
	return nil
}

// job is a process that a script started and goes on beside.
type job struct {
	cmd  *exec.Cmd
	done chan struct{}
	exit error
}

type jobsKey struct{}

type jobs struct {
	mu sync.Mutex
	by map[string]*job
}

func jobOf(ts *testscript.TestScript, name string) *job {
	js := ts.Value(jobsKey{}).(*jobs)
	js.mu.Lock()
	defer js.mu.Unlock()
	if js.by[name] == nil {
		ts.Fatalf("no job %s was started", name)
	}
	return js.by[name]
}

// startIn starts a program: start NAME PROGRAM [ARG…]. What it prints goes to
// the files NAME.out and NAME.err as it comes.
func startIn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: start NAME PROGRAM [ARG…]")
	}
	path := args[1]
	if path == "belay" {
		path = program
	}
	j := &job{cmd: exec.Command(path, args[2:]...), done: make(chan struct{})}
	j.cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "BELAY_STATE", "TZ", "TMPDIR", "WORK", "BELAY_KILL_GRACE", "GORACE"} {
		if v := ts.Getenv(name); v != "" {
			j.cmd.Env = append(j.cmd.Env, name+"="+v)
		}
	}
	out, err := os.Create(ts.MkAbs(args[0] + ".out"))
	ts.Check(err)
	defer out.Close()
	talk, err := os.Create(ts.MkAbs(args[0] + ".err"))
	ts.Check(err)
	defer talk.Close()
	j.cmd.Stdout, j.cmd.Stderr = out, talk
	ts.Check(j.cmd.Start())
	js := ts.Value(jobsKey{}).(*jobs)
	js.mu.Lock()
	js.by[args[0]] = j
	js.mu.Unlock()
	go func() {
		j.exit = j.cmd.Wait()
		close(j.done)
	}()
	ts.Defer(func() {
		_ = j.cmd.Process.Kill() // mostly it is gone already
		<-j.done
	})
}

// signalTo sends a signal: signal NAME INT. STOP comes back when the job stands
// still: until then it may take one more step, and a lock with it.
func signalTo(ts *testscript.TestScript, neg bool, args []string) {
	sigs := map[string]syscall.Signal{
		"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP,
		"KILL": syscall.SIGKILL, "STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT,
	}
	if neg || len(args) != 2 || sigs[args[1]] == 0 {
		ts.Fatalf("usage: signal NAME INT|TERM|HUP|KILL|STOP|CONT")
	}
	p := jobOf(ts, args[0]).cmd.Process
	ts.Check(p.Signal(sigs[args[1]]))
	if sigs[args[1]] == syscall.SIGSTOP {
		ts.Check(until(args[0]+" to stand still", func() bool { return standsStill(p.Pid) }))
	}
}

// standsStill reports whether every thread of a process is stopped; ps is asked
// where there is no /proc.
func standsStill(pid int) bool {
	states, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid)) // the pattern is sound
	for _, name := range states {
		stat, err := os.ReadFile(name)
		_, after, found := bytes.Cut(stat, []byte(") "))
		if err != nil || !found || !bytes.HasPrefix(after, []byte("T")) {
			return false
		}
	}
	if len(states) > 0 {
		return true
	}
	stat, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && bytes.HasPrefix(bytes.TrimSpace(stat), []byte("T"))
}

// finish waits for a job and holds its exit code against the one given.
func finish(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: finish NAME CODE")
	}
	j := jobOf(ts, args[0])
	select {
	case <-j.done:
	case <-time.After(patience):
		ts.Fatalf("%s does not end", args[0])
	}
	if got := codeOf(j.exit); fmt.Sprint(got) != args[1] {
		ts.Fatalf("%s: exit code %d, want %s\nstdout: %s\nstderr: %s", args[0], got, args[1],
			ts.ReadFile(args[0]+".out"), ts.ReadFile(args[0]+".err"))
	}
}

// waitFor waits for a file: waitfor FILE [REGEXP]; with a pattern, for a file in
// which it is found.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: waitfor FILE [REGEXP]")
	}
	pattern := regexp.MustCompile("")
	if len(args) == 2 {
		pattern = regexp.MustCompile(args[1])
	}
	ts.Check(until(strings.Join(args, " "), func() bool {
		b, err := os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && pattern.Match(b)
	}))
}

// record waits for a record of a kind in the journal of a run, one that holds
// the text when there is one: record RUN KIND [TEXT].
func record(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: record RUN KIND [TEXT]")
	}
	dir := filepath.Join(ts.Getenv("BELAY_STATE"), "runs", args[0])
	text := strings.Join(args[2:], "")
	ts.Check(until(strings.Join(append([]string{"a record"}, args[1:]...), " "), func() bool { return hasRecord(dir, args[1], text) }))
}

func hasRecord(dir, kind, text string) bool {
	view, err := journal.OpenView(dir)
	if err != nil {
		return false
	}
	defer view.Close()
	recs, err := view.Load()
	if err != nil {
		return false
	}
	for _, r := range recs {
		if r.Event.Kind() != kind || r.Run != belay.RunID(filepath.Base(dir)) {
			continue
		}
		if b, err := json.Marshal(r.Event); err == nil && bytes.Contains(b, []byte(text)) {
			return true
		}
	}
	return false
}

// nothingLeft checks that no process of a script is left: one whose command
// line or environment names the script's own directory.
func nothingLeft(work string) error {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		return nil // without /proc there is nothing to look at
	}
	var found []process
	err := until("the processes of the script to be gone", func() bool {
		found = processesOf(work)
		return len(found) == 0
	})
	if err != nil {
		for _, p := range found {
			_ = syscall.Kill(p.pid, syscall.SIGKILL) // a failed script must not fill the machine
		}
		return errors.Join(err, fmt.Errorf("left behind: %v", found))
	}
	return nil
}

type process struct {
	pid  int
	line string
}

func processesOf(work string) []process {
	var found []process
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is a constant
	for _, dir := range dirs {
		cmdline, _ := os.ReadFile(filepath.Join(dir, "cmdline")) // gone meanwhile: not left behind
		environ, _ := os.ReadFile(filepath.Join(dir, "environ"))
		if bytes.Contains(environ, []byte("WORK="+work+"\x00")) || bytes.Contains(cmdline, []byte(work+"/")) {
			pid, _ := strconv.Atoi(filepath.Base(dir)) // the pattern lets only digits through
			found = append(found, process{pid, string(bytes.ReplaceAll(cmdline, []byte{0}, []byte(" ")))})
		}
	}
	return found
}
