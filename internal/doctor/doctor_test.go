package doctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func names(list []Finding) []string {
	var n []string
	for _, f := range list {
		n = append(n, f.Check)
	}
	return n
}

// The order does not depend on who answers first.
func TestFixedOrder(t *testing.T) {
	r := newParallelRig(t)
	r.program("git", `[ "$1" = --version ] || exit 1; /bin/sleep 0.2; echo git version 2.45.1`)
	r.program("bash", "echo GNU bash, version 5.2.15")
	r.program("gh", "echo gh version 2.40.0")
	r.program("codex", "echo codex-cli 0.166.0")
	first := names(Examine(t.Context(), r.p))
	begin := []string{"state", "disk", "clock", "path", "tmpdir", "bash", "git", "git.author", "gh", "containment", "agents", "agent.claude", "agent.codex", "agent.codex.login"}
	if len(first) < len(begin) || !slices.Equal(first[:len(begin)], begin) {
		t.Errorf("order %q, want it to begin %q", first, begin)
	}
	r.program("git", `[ "$1" = --version ] && echo git version 2.45.1`)
	r.program("codex", "/bin/sleep 0.2; echo codex-cli 0.166.0")
	if again := names(Examine(t.Context(), r.p)); !slices.Equal(first, again) {
		t.Errorf("order %q, then %q", first, again)
	}
}

// A program that hangs, and a child of it in a session of its own, are ended in time.
func TestHangingProgram(t *testing.T) {
	r := newRig(t)
	r.p.Environ[1] += ":/usr/bin:/bin" // for setsid and sleep
	r.own()
	pids := filepath.Join(r.home, "pids")
	r.program("claude", "setsid sh -c 'echo $$ >>"+pids+"; exec sleep 1000' & echo $$ >>"+pids+"; while :; do sleep 1; done")
	var list []Finding
	var all []string
	for r.p.Patience = 500 * time.Millisecond; len(all) != 2 && r.p.Patience < time.Minute; r.p.Patience *= 4 { // until it gets to hang
		if err := os.RemoveAll(pids); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		list = Examine(t.Context(), r.p)
		if took := time.Since(began); took > 30*time.Second+4*r.p.Patience {
			t.Errorf("took %s", took)
		}
		b, err := os.ReadFile(pids)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		all = strings.Fields(string(b))
	}
	if len(all) != 2 {
		t.Fatalf("pids %q, want two", all)
	}
	want(t, list, "agent.claude", LevelWarn, "killed")
	want(t, list, "strays", LevelNote, "left")
	for _, text := range all {
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, 0); err == nil {
			t.Errorf("process %d lives", pid)
		}
	}
}

// Children that were there before are somebody else's.
func TestForeignChildrenLive(t *testing.T) {
	r := newRig(t)
	cmd := exec.CommandContext(t.Context(), "sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	Examine(t.Context(), r.p)
	if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the child is gone: %v", err)
	}
	_ = cmd.Process.Kill() // its end is not looked at
	_ = cmd.Wait()         // it was killed: that is its error
}

// A call of the system that does not come back does not hold the doctor up.
func TestSystemGivesNoAnswer(t *testing.T) {
	r := newParallelRig(t)
	r.p.Patience = 50 * time.Millisecond
	dir := filepath.Join(r.p.Etc, "systemd")
	pipe := filepath.Join(dir, "logind.conf")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(pipe, 0o600); err != nil { // opening it waits for a writer
		t.Fatal(err)
	}
	want(t, Examine(t.Context(), r.p), "logind", LevelBlock, "no answer within")
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // lets the reader go
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func TestMissingPrograms(t *testing.T) {
	r := newParallelRig(t)
	list := Examine(t.Context(), r.p)
	want(t, list, "git", LevelBlock, "git is not on the PATH")
	want(t, list, "bash", LevelBlock, "bash is not on the PATH")
	want(t, list, "gh", LevelNote, "gh is not on the PATH")
	want(t, list, "agents", LevelWarn, "no agent CLI")
	want(t, list, "agent.claude", LevelNote, "claude is not on the PATH")
	want(t, list, "agent.scripted", LevelOK, "built in")
	r.p.Environ = slices.Concat(r.p.Environ, []string{"PATH="})
	want(t, Examine(t.Context(), r.p), "path", LevelBlock, "PATH is not set")
	r.p.Environ = append(r.p.Environ, "PATH=.:/bin")
	want(t, Examine(t.Context(), r.p), "path", LevelWarn, `"."`)
}

// Stand-ins that say a version.
func TestVersionsOfTools(t *testing.T) {
	for _, c := range []struct {
		program, says string
		level         Level
		text          string
	}{
		{"git", "echo git version 2.29.3", LevelBlock, "needs 2.30"},
		{"git", "echo git version 2.34.1", LevelWarn, "need 2.36"},
		{"git", "echo git version 2.36.0", LevelOK, "git 2.36.0"},
		{"git", "echo 'git version 2.39.5 (Apple Git-154)'", LevelOK, "git 2.39.5"},
		{"git", "echo git version 10.0.1", LevelOK, "git 10.0.1"},
		{"git", "echo hello", LevelWarn, "does not tell its version"},
		{"git", "echo broken >&2; exit 3", LevelBlock, "exit status 3: broken"},
		{"bash", "echo 'GNU bash, version 3.2.57(1)-release (arm64)'", LevelWarn, "empty array"},
		{"bash", "echo 'GNU bash, version 4.4.20(1)-release (x86_64)'", LevelOK, "4.4.20(1)-release"},
		{"gh", "echo gh version 2.40.0", LevelNote, "no sign of a login"},
		{"gh", "exit 1", LevelNote, "exit status 1"},
	} {
		t.Run(c.program, func(t *testing.T) {
			r := newParallelRig(t)
			r.program(c.program, c.says)
			want(t, Examine(t.Context(), r.p), c.program, c.level, c.text)
		})
	}
}

func TestAuthorAndLogins(t *testing.T) {
	r := newParallelRig(t)
	r.program("git", `case "$1$3" in --version) echo git version 2.45.1;; configuser.name) echo Ada;; *) exit 1;; esac`)
	f := want(t, Examine(t.Context(), r.p), "git.author", LevelNote, "user.email")
	if strings.Contains(f.What, "user.name") {
		t.Errorf("%q names what is set", f.What)
	}
	r.setenv("GIT_AUTHOR_EMAIL=a@example.org")
	r.setenv("GIT_COMMITTER_EMAIL=a@example.org")
	if list := names(Examine(t.Context(), r.p)); slices.Contains(list, "git.author") {
		t.Error("the author is set by the environment")
	}
	r.program("gh", "echo gh version 2.40.0")
	hosts := r.file(".config/gh/hosts.yml", "github.com:\n")
	want(t, Examine(t.Context(), r.p), "gh", LevelOK, "login: "+hosts)
	r.setenv("GH_TOKEN=never-shown")
	if f := want(t, Examine(t.Context(), r.p), "gh", LevelOK, "login: GH_TOKEN"); strings.Contains(f.What, "never-shown") {
		t.Error("a token is shown")
	}
}

func TestStateDirectory(t *testing.T) {
	r := newParallelRig(t)
	list := Examine(t.Context(), r.p)
	want(t, list, "state", LevelOK, "holds 0 runs")
	want(t, list, "disk", LevelOK, r.p.State)
	if err := os.Chmod(r.p.State, 0o755); err != nil {
		t.Fatal(err)
	}
	if f := want(t, Examine(t.Context(), r.p), "state", LevelBlock, "other users"); f.Cure != "run chmod 700 "+r.p.State {
		t.Errorf("cure %q", f.Cure)
	}
	r.p.State = r.file("a-file", "")
	want(t, Examine(t.Context(), r.p), "state", LevelBlock, "not a directory")
}

func TestTemp(t *testing.T) {
	r := newParallelRig(t)
	r.setenv("TMPDIR=" + filepath.Join(r.home, "gone"))
	want(t, Examine(t.Context(), r.p), "tmpdir", LevelBlock, "gone")
}

func TestDisk(t *testing.T) {
	const gib, many = 1 << 30, 1 << 30
	for _, c := range []struct {
		free, nodes uint64
		counted     bool
		level       Level
		text        string
	}{
		{gib, many, true, LevelOK, "1.0 GiB free"},
		{gib - 1, many, true, LevelWarn, "1024.0 MiB free"},
		{100 << 20, many, true, LevelWarn, "100.0 MiB free"},
		{100<<20 - 1, many, true, LevelBlock, "MiB free"},
		{0, many, true, LevelBlock, "0.0 KiB free"},
		{gib, 9_999, true, LevelWarn, "9999 more files"},
		{gib, 999, true, LevelBlock, "999 more files"},
		{gib, 0, false, LevelOK, "free"},
	} {
		want(t, []Finding{judgeDisk("/d", c.free, c.nodes, c.counted)}, "disk", c.level, c.text)
	}
}

func TestClock(t *testing.T) {
	now := time.Date(2031, 2, 3, 4, 5, 6, 0, time.FixedZone("XST", 3600))
	want(t, []Finding{judgeClock(now, time.Millisecond)}, "clock", LevelOK, "2031-02-03 04:05:06 XST (+01:00)")
	want(t, []Finding{judgeClock(now, -time.Second)}, "clock", LevelWarn, "moved -1s")
	want(t, []Finding{judgeClock(now.AddDate(-60, 0, 0), 0)}, "clock", LevelWarn, "cannot be")
	want(t, []Finding{judgeClock(now.AddDate(100, 0, 0), 0)}, "clock", LevelWarn, "cannot be")
	want(t, clock(t.Context()), "clock", LevelOK, "20")
}

func TestLogind(t *testing.T) {
	r := newParallelRig(t)
	r.p.Etc = r.home
	for _, c := range []struct {
		file, text string
		tells      bool
	}{
		{"systemd/logind.conf", "[Login]\n#KillUserProcesses=yes\n", false},
		{"systemd/logind.conf", "[Login]\nKillUserProcesses = yes\n", true},
		{"systemd/logind.conf.d/50-off.conf", "[Login]\nKillUserProcesses=no\n", false},
		{"systemd/logind.conf.d/60-on.conf", "[Login]\nKillUserProcesses=1\n", true},
	} {
		r.file(c.file, c.text)
		list := r.p.logind(t.Context())
		if c.tells {
			want(t, list, "logind", LevelNote, filepath.Base(c.file))
		} else if len(list) > 0 {
			t.Errorf("%s: %+v", c.file, list)
		}
	}
}

func TestContainment(t *testing.T) {
	r := newParallelRig(t)
	want(t, r.p.containment(t.Context()), "containment", LevelOK, "level 1 of 2 (subreaper): processes that a step leaves behind are found and ended, which is enough for most runs")
	r.p.Contain = 2
	want(t, r.p.containment(t.Context()), "containment", LevelWarn, "level 2 is asked for")
}
