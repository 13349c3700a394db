package doctor

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/belaytest/leak"
	"github.com/belay-run/belay/belaytest/scratch"
	"github.com/belay-run/belay/internal/roster"
	"github.com/belay-run/belay/internal/scripted"
	"github.com/belay-run/belay/internal/supervise"
)

// TestMain lets the test binary play the parts of the program that the doctor
// starts: the attendant, and the scripted agent.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case "attend":
			os.Exit(playAttendant(os.Args[2]))
		case "scripted":
			os.Exit(scripted.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
		case "nsinit":
			os.Exit(1) // no namespace here
		}
	}
	flag.Parse()
	if err := scratch.SideBySide(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(leak.None(m.Run))
}

func playAttendant(path string) int {
	o, err := supervise.ReadOrder(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code, err := supervise.Run(context.Background(), o, supervise.Streams{Out: os.Stdout, Err: os.Stderr}, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// rig is a patient with a home, a PATH of stand-ins and a state directory.
type rig struct {
	t    *testing.T
	home string
	bin  string
	p    Patient
}

func newRig(t *testing.T) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{t: t, home: filepath.Join(dir, "home"), bin: filepath.Join(dir, "bin")}
	for _, d := range []string{r.home, r.bin, filepath.Join(dir, "etc")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.p = Patient{
		Self: []string{os.Args[0]}, Dir: r.home, State: filepath.Join(dir, "state"), Etc: filepath.Join(dir, "etc"),
		Environ: []string{"HOME=" + r.home, "PATH=" + r.bin, "TMPDIR=" + dir}, Patience: 20 * time.Second,
	}
	r.own()
	return r
}

// newParallelRig is a rig for a test that runs beside others. The doctor ends
// what is left below its own process, which is the test's, unless a child was
// there before: so each such test has one, and the doctor of none ends the
// programs of another.
func newParallelRig(t *testing.T) *rig {
	t.Helper()
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // it is killed when the test is over: that is its error
	return newRig(t)
}

// own gives the patient agents of its own.
func (r *rig) own(list ...agent.Agent) {
	r.t.Helper()
	var err error
	if r.p.Roster, err = roster.New(r.p.Self, r.p.Environ, list); err != nil {
		r.t.Fatal(err)
	}
}

// program puts a stand-in on the PATH: a small script under the name of a program.
func (r *rig) program(name, script string) string {
	r.t.Helper()
	path := filepath.Join(r.bin, name)
	// A process that is started meanwhile would hold the file open for writing for
	// a moment, and such a file cannot be run.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		r.t.Fatal(err)
	}
	return path
}

func (r *rig) file(name, text string) string {
	r.t.Helper()
	path := filepath.Join(r.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}

func (r *rig) setenv(kv string) {
	r.p.Environ = append(r.p.Environ, kv)
	r.own()
}

// want holds the one finding of a check against a level and a part of its text.
func want(t *testing.T, list []Finding, check string, level Level, text string) Finding {
	t.Helper()
	var found []Finding
	for _, f := range list {
		if f.Check == check {
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d findings of %s: %+v", len(found), check, list)
	}
	f := found[0]
	if f.Level != level || !strings.Contains(f.What, text) {
		t.Errorf("%s: %s %q, want %s with %q", check, f.Level, f.What, level, text)
	}
	if (level == LevelWarn || level == LevelBlock) && f.Cure == "" {
		t.Errorf("%s has no cure: %+v", check, f)
	}
	return f
}
