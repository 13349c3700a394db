package proc

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/fault"
)

// The memory of a program is its own, not that of the keeper that started it. It
// comes before the tests that run beside each other: what they take becomes the peak
// of every keeper that is started after them.
func TestPeakMemory(t *testing.T) {
	r := newRig(t)
	k, _ := r.attach()
	if e := r.do(k, r.bash("small", `true`)); e.RSSKB != 0 {
		t.Errorf("a small program had %d KiB: that is the keeper's", e.RSSKB)
	}
	const big = 256 << 10 // KiB
	if e := r.do(k, r.bash("big", `head -c 256M /dev/zero | tail -c 256M >/dev/null`)); e.RSSKB < big || e.RSSKB > big+big/2 {
		t.Errorf("a program with %d KiB had %d", big, e.RSSKB)
	}
	r.close(k)
}

// promise: K1
func TestExitIsSeenAndWrittenDown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	e := r.do(k, r.bash("a", `echo out; echo err >&2; exit 7`))
	if !e.Began || e.Code != 7 || e.Signal != 0 || e.KilledBy != "" || e.Fault != "" || e.Pid == 0 {
		t.Errorf("exit %+v", e)
	}
	if got := r.text("a.log"); got != "out\nerr\n" || string(e.Tail) != got || e.LogSize != 8 || e.LogKept != 8 {
		t.Errorf("log %q tail %q size %d kept %d", got, e.Tail, e.LogSize, e.LogKept)
	}
	if sum := sha256.Sum256([]byte("out\nerr\n")); e.LogSha != hex.EncodeToString(sum[:]) {
		t.Errorf("digest %s", e.LogSha)
	}
	if e.Ended.Before(e.Started) || e.CPUUS == 0 {
		t.Errorf("times %v %v, cpu %d", e.Started, e.Ended, e.CPUUS)
	}
	if e := r.do(k, r.bash("b", `kill -9 $$`)); e.Signal != 9 || e.Code != 137 || e.KilledBy != "" {
		t.Errorf("killed by itself: %+v", e)
	}
	r.close(k)
	var kinds []string
	for _, line := range r.lines() {
		for _, kind := range []string{"keeper", "birth", "exit"} {
			if line[kind] != nil {
				kinds = append(kinds, kind)
			}
		}
	}
	if got := strings.Join(kinds, " "); got != "keeper birth exit birth exit" {
		t.Errorf("log has %s", got)
	}
}

func TestSilentStepLeavesNoFile(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	s := r.bash("a", `true`)
	s.Out = r.file("a.out")
	if e := r.do(k, s); e.Code != 0 || e.LogSize != 0 || e.LogSha != "" || e.OutInline != nil {
		t.Errorf("exit %+v", e)
	}
	for _, name := range []string{"a.log", "a.out"} {
		if _, err := os.Stat(r.file(name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
	r.close(k)
}

func TestEnvironmentAndPath(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if err := os.WriteFile(r.file("prog"), []byte("#!/bin/sh\nenv\nreadlink /proc/self/fd/0\nps -o pgid= -p $$\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.o.Env = []string{"A=1", "B=2", "A=3", "PATH=/bin:/usr/bin", "BELAY_KEY=outer"}
	k, _ := r.attach()
	s := r.bash("a", "")
	s.Argv, s.Env = []string{"prog"}, []string{"B=4", "C=5", "C=6", "PATH=relative:" + r.dir + ":/bin:/usr/bin", "BELAY_MARK=forged"}
	e := r.do(k, s)
	got := r.text("a.log")
	for _, want := range []string{"A=3\n", "B=4\n", "C=6\n", "BELAY_MARK=" + r.text(markName) + "\n", "BELAY_KEY=" + string(s.Key) + "\n", "/dev/null\n"} {
		if strings.Count("\n"+got, "\n"+want) != 1 {
			t.Errorf("%q is not there once in\n%s", want, got)
		}
	}
	for _, not := range []string{"A=1", "B=2", "C=5", "forged", "outer"} {
		if strings.Contains(got, not) {
			t.Errorf("%q is there in\n%s", not, got)
		}
	}
	if lines := strings.Fields(got); lines[len(lines)-1] != itoa(e.Pid) {
		t.Errorf("group %s of process %d", lines[len(lines)-1], e.Pid)
	}
	r.close(k)
}

func TestFaults(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	spawn := func(name string, change func(*Spawn)) Spawn {
		s := r.bash(name, "echo x; echo y; true")
		change(&s)
		return s
	}
	long := make([]byte, belay.MaxInline+1)
	for i := range long {
		long[i] = 'x'
	}
	tests := []struct {
		s     Spawn
		want  fault.Fault
		began bool
	}{
		{spawn("dir", func(s *Spawn) { s.Dir = r.file("none") }), fault.Dir, false},
		{spawn("program", func(s *Spawn) { s.Argv = []string{"no-such-program"} }), fault.Program, false},
		{spawn("path", func(s *Spawn) { s.Argv = []string{"/no/such/program"} }), fault.Program, false},
		{spawn("none", func(s *Spawn) { s.Argv = nil }), fault.Input, false},
		{spawn("nul", func(s *Spawn) { s.Env = []string{"A=\x00"} }), fault.Input, false},
		{spawn("big", func(s *Spawn) { s.Env = []string{"A=" + strings.Repeat("x", 200<<10)} }), fault.TooBig, false},
		{spawn("log", func(s *Spawn) { s.Log = r.file("none/x.log") }), fault.Disk, true},
		{spawn("out", func(s *Spawn) { s.Out, s.MaxOut = r.file("x.out"), 3 }), fault.Output, true},
		{spawn("outdir", func(s *Spawn) { s.Out, s.Argv[2] = r.file("none/x.out"), "printf "+string(long) }), fault.Disk, true},
	}
	for _, tt := range tests {
		e := r.do(k, tt.s)
		if e.Fault != tt.want || e.Began != tt.began || e.Detail == "" {
			t.Errorf("%s: %+v", tt.s.Key, e)
		}
		if code := 0; !tt.began {
			code = noCode
			if e.Code != code {
				t.Errorf("%s: code %d", tt.s.Key, e.Code)
			}
		}
	}
	r.close(k)
}

// A working directory that is to blame is named.
func TestWorkingDirectoryIsNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	r.touch("file")
	for dir, why := range map[string]string{"none/below": "no such file or directory", "file": "not a directory"} {
		s := r.bash("in."+why, "true")
		s.Dir = r.file(dir)
		want := "working directory " + s.Dir + ": " + why
		if e := r.do(k, s); e.Fault != fault.Dir || e.Detail != want || e.Began {
			t.Errorf("%s %q, not %q", e.Fault, e.Detail, want)
		}
	}
	r.close(k)
}

func TestOutputAsValue(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	s := r.bash("small", `printf value; echo noise >&2`)
	s.Out = r.file("small.out")
	if e := r.do(k, s); string(e.OutInline) != "value" || e.OutSize != 5 || e.LogSize != 11 {
		t.Errorf("small: %+v", e)
	}
	s = r.bash("big", `head -c 20000 /dev/zero | tr '\0' z`)
	s.Out = r.file("big.out")
	e := r.do(k, s)
	want := bytes.Repeat([]byte("z"), 20000)
	sum := sha256.Sum256(want)
	if e.OutInline != nil || e.OutSize != 20000 || e.OutSha != hex.EncodeToString(sum[:]) || r.text("big.out") != string(want) {
		t.Errorf("big: size %d sha %s", e.OutSize, e.OutSha)
	}
	r.close(k)
}

// A secret that one stream prints in two pieces is hidden, also when the other
// stream speaks in between.
func TestFilterPerStream(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	s := r.bash("a", `printf sec; printf noise >&2; printf ret`)
	s.Mask, s.Out = []string{"secret"}, r.file("a.out")
	e := r.do(k, s)
	if log := r.text("a.log"); strings.Contains(log, "sec") || !strings.Contains(log, "***") || !strings.Contains(log, "noise") {
		t.Errorf("log %q", log)
	}
	if string(e.OutInline) != "***" || !e.Hidden || bytes.Contains(e.Tail, []byte("sec")) {
		t.Errorf("output %q tail %q", e.OutInline, e.Tail)
	}
	if strings.Contains(r.text(ledgerName), "secret") {
		t.Error("the secret is in the keeper's log")
	}
	s = r.bash("b", `echo secret >&2; echo plain`)
	s.Mask, s.Out = []string{"secret"}, r.file("b.out")
	if e := r.do(k, s); e.Hidden || string(e.OutInline) != "plain\n" {
		t.Errorf("a secret on stderr alone: hidden %v, output %q", e.Hidden, e.OutInline)
	}
	r.close(k)
}

// promise: K3
func TestDeadlineAndSignal(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	s := r.bash("late", `sleep 100`)
	s.Deadline, s.Grace = 30*time.Millisecond, time.Minute
	if e := r.do(k, s); e.KilledBy != fault.KilledDeadline || e.Signal != int(syscall.SIGTERM) {
		t.Errorf("deadline: %+v", e)
	}
	for n, limit := 0, 100*time.Millisecond; ; n, limit = n+1, 4*limit { // until it is deaf in time
		s = r.bash("deaf"+itoa(n), `trap '' TERM; echo up; while :; do sleep 1; done`)
		s.Deadline, s.Grace = limit, 100*time.Millisecond
		e := r.do(k, s)
		if r.text("deaf"+itoa(n)+".log") == "" && limit < time.Minute {
			continue
		}
		if e.KilledBy != fault.KilledDeadline || e.Signal != int(syscall.SIGKILL) {
			t.Errorf("deaf: %+v", e)
		}
		break
	}
	s = r.bash("polite", `trap 'exit 3' TERM; echo up; while :; do sleep 0.01; done`)
	r.spawn(k, s)
	r.wait("polite is up", func() bool { return r.text("polite.log") == "up\n" })
	if err := errors.Join(k.Signal(s.Key, fault.KilledCancel, time.Minute), k.Signal(s.Key, fault.KilledStop, 30*time.Second)); err != nil {
		t.Fatal(err)
	}
	if e := r.exit(k, s.Key); e.KilledBy != fault.KilledCancel || e.Code != 3 || e.Signal != 0 {
		t.Errorf("the first reason stays: %+v", e)
	}
	s = r.bash("stopped", `kill -STOP $$; sleep 100`)
	s.Deadline, s.Grace = 50*time.Millisecond, time.Minute
	if e := r.do(k, s); e.KilledBy != fault.KilledDeadline || e.Signal != int(syscall.SIGTERM) {
		t.Errorf("a stopped one hears TERM: %+v", e)
	}
	r.close(k)
}

// A signal to something that has ended is not written down as its cause.
func TestSignalAfterTheEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	s := r.bash("a", `exit 4`)
	e := r.do(k, s)
	if err := k.Signal(s.Key, fault.KilledCancel, 0); err != nil {
		t.Fatal(err)
	}
	r.spawn(k, s) // the same key: answered with what is known
	if again := r.exit(k, s.Key); again.Code != 4 || again.KilledBy != "" || again.Pid != e.Pid {
		t.Errorf("again: %+v", again)
	}
	r.close(k)
}

func TestStopClosesTheDoor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	r.spawn(k, r.bash("a", `sleep 100`))
	if err := k.Stop(fault.KilledStop, 0); err != nil {
		t.Fatal(err)
	}
	r.spawn(k, r.bash("b", `touch born`))
	var exits []*Exit
	for range 2 {
		ev := <-k.Events()
		if ev.Exit == nil {
			t.Fatal(ev.Gone)
		}
		exits = append(exits, ev.Exit)
	}
	for _, e := range exits {
		if e.KilledBy != fault.KilledStop || e.Began != (e.Key == r.key("a")) {
			t.Errorf("%+v", e)
		}
	}
	r.close(k)
	if _, err := os.Stat(r.file("born")); err == nil {
		t.Error("b was born")
	}
	k, states := r.attach(r.key("b")) // the next epoch is open again
	if states[r.key("b")].Found != fault.Unborn {
		t.Errorf("b: %+v", states)
	}
	if e := r.do(k, r.bash("b", `touch born`)); e.Code != 0 || !e.Began {
		t.Errorf("%+v", e)
	}
	r.close(k)
}

// A run can be stopped past a driver that does nothing.
func TestHalt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if n, err := Halt(context.Background(), r.o, fault.KilledStop, 0); n != 0 || err != nil {
		t.Errorf("no keeper: %d %v", n, err)
	}
	k, _ := r.attach()
	s := r.bash("a", `echo up; sleep 100`)
	r.spawn(k, s)
	r.wait("a is up", func() bool { return r.text("a.log") == "up\n" })
	if n, err := Halt(context.Background(), r.o, fault.KilledStop, 0); n != 1 || err != nil {
		t.Errorf("halt: %d %v", n, err)
	}
	if e := r.exit(k, s.Key); e.KilledBy != fault.KilledStop {
		t.Errorf("%+v", e)
	}
	if e := r.do(k, r.bash("b", `true`)); e.Began || e.KilledBy != fault.KilledStop {
		t.Errorf("born after the halt: %+v", e)
	}
	r.close(k)
}

func TestTwoKeepers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	out, err := exec.Command(r.o.Exe[0], r.o.Exe[1:]...).Output()
	if err == nil || strings.TrimSpace(string(out)) != sayHeld {
		t.Errorf("second keeper: %q, %v", out, err)
	}
	if e := r.do(k, r.bash("a", `true`)); e.Code != 0 {
		t.Errorf("%+v", e)
	}
	r.close(k)
	if _, err := os.Stat(r.file(lockName)); err != nil {
		t.Error(err)
	}
}

func TestKeeperLeavesAndIsReaped(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	id, err := Identify(k.pid)
	if err != nil {
		t.Fatal(err)
	}
	r.close(k)
	if _, err := look(id.Pid); !errors.Is(err, ErrGone) {
		t.Errorf("keeper %d is there: %v", id.Pid, err)
	}
	if _, err := os.Stat(r.o.Socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("socket is there: %v", err)
	}
}

func TestKeeperStandsApart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	p, err := look(k.pid)
	if err != nil {
		t.Fatal(err)
	}
	if p.sid != k.pid {
		t.Errorf("session %d of keeper %d", p.sid, k.pid)
	}
	for fd := range 3 {
		to, err := os.Readlink(filepath.Join("/proc", itoa(k.pid), "fd", itoa(fd)))
		if os.Geteuid() != 0 { // its own user cannot look into it, so no step can
			if !errors.Is(err, os.ErrPermission) {
				t.Errorf("stream %d can be seen: %v", fd, err)
			}
		} else if err != nil || to != os.DevNull {
			t.Errorf("stream %d: %s %v", fd, to, err)
		}
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		if err := syscall.Kill(k.pid, sig); err != nil {
			t.Fatal(err)
		}
	}
	e := r.do(k, r.bash("a", `grep -E '^Sig(Ign|Blk)' /proc/self/status; ls /proc/self/fd | wc -l`))
	if e.Code != 0 || strings.Contains(r.text("a.log"), "00004") {
		t.Errorf("after signals: %+v", e)
	}
	if st, err := os.Stat(r.o.Socket); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v %v", st.Mode(), err)
	}
	r.close(k)
}

// A step inherits neither ignored signals nor descriptors.
func TestStepInheritsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	r.do(k, r.bash("a", `sed -n 's/^SigIgn:\t//p' /proc/self/status; for f in /proc/self/fd/*; do readlink $f; done`))
	lines := strings.Split(r.text("a.log"), "\n")
	ignored, err := strconv.ParseUint(lines[0], 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	const theirs = 1<<31 | 1<<32 // 32 and 33 belong to the C library, which a race build brings
	if ignored&^theirs != 0 {
		t.Errorf("ignored signals %s", lines[0])
	}
	for _, l := range lines[1:] {
		if strings.HasPrefix(l, "socket:") || strings.Contains(l, r.dir) || strings.HasPrefix(l, "anon_inode") {
			t.Errorf("descriptor %s", l)
		}
	}
	r.close(k)
}

func TestLongSocketPath(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	deep := filepath.Join(r.dir, strings.Repeat("d", 120))
	if err := os.Mkdir(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	r.o.Socket = filepath.Join(deep, "s")
	r.o.Exe[3] = r.o.Socket
	k, _ := r.attach()
	if e := r.do(k, r.bash("a", `exit 5`)); e.Code != 5 {
		t.Errorf("%+v", e)
	}
	r.close(k)
}
