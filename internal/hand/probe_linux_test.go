package hand

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

	"github.com/belay-run/belay/belaytest/leak"
	"github.com/belay-run/belay/effect"
)

// childVar names the part that a second process of the test binary plays.
const childVar = "BELAY_ENGINE_TEST_CHILD"

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(childVar) {
	case "disks":
		err = playDisks(os.Args[1])
	case "memory":
		err = playMemory()
	case "hog":
		err = playHog()
	default:
		os.Exit(leak.None(m.Run))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// looks are what was found, by when.
type looks map[string]effect.Probe

func (l looks) print() error { return json.NewEncoder(os.Stdout).Encode(l) }

// playDisks looks at small disks of its own: nobody else sees them.
func playDisks(dir string) error {
	found := looks{}
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, options := range map[string]string{"small": "size=4m", "inodes": "size=4m,nr_inodes=3"} {
		err := os.Mkdir(at(name), 0o755)
		if err == nil {
			err = unix.Mount("tmpfs", at(name), "tmpfs", 0, options)
		}
		if err != nil {
			return fmt.Errorf("mount: %w", err)
		}
	}
	found["sound"] = Look(at("small"), dir, OOMKills())
	if os.Geteuid() == 0 && os.Getenv("BELAY_ENGINE_TEST_ROOT") != "" {
		if err := syscall.Setreuid(-1, 65534); err != nil {
			return fmt.Errorf("become nobody: %w", err)
		}
		found["denied"] = Look(at("small"), dir, OOMKills())
		if err := syscall.Setreuid(-1, 0); err != nil {
			return fmt.Errorf("become root: %w", err)
		}
	}
	left, err := os.ReadDir(at("small"))
	if err != nil || len(left) > 0 {
		return fmt.Errorf("left behind: %v, %w", left, err)
	}
	if err := os.WriteFile(at("small/big"), make([]byte, 3<<20+512<<10), 0o600); err != nil {
		return err
	}
	found["full"] = Look(at("small"), dir, OOMKills())
	found["full state"] = Look(dir, at("small"), OOMKills())
	if err := os.Remove(at("small/big")); err != nil {
		return err
	}
	for n := 0; err == nil; n++ {
		err = os.WriteFile(at(fmt.Sprintf("inodes/%d", n)), nil, 0o600)
	}
	if !errors.Is(err, unix.ENOSPC) {
		return err
	}
	found["no inodes"] = Look(at("inodes"), dir, OOMKills())
	if err := unix.Mount("", at("small"), "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("remount: %w", err)
	}
	found["read-only"] = Look(at("small"), dir, OOMKills())
	found["read-only state"] = Look(dir, at("small"), OOMKills())
	found["gone"] = Look(at("nowhere"), dir, OOMKills())
	return found.print()
}

// ownMounts lets a process have mounts that nobody else sees.
func ownMounts() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		attr.Cloneflags = syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return attr
}

// promise: F7
func TestLookAtDisks(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], dir)
	cmd.Env = append(os.Environ(), childVar+"=disks", "TMPDIR="+dir)
	if os.Geteuid() == 0 {
		cmd.Env = append(cmd.Env, "BELAY_ENGINE_TEST_ROOT=1")
	}
	cmd.SysProcAttr = ownMounts()
	var said, problem strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &problem
	if err := cmd.Start(); err != nil {
		t.Skipf("no mounts of one's own here: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		if strings.HasPrefix(problem.String(), "mount: ") {
			t.Skipf("no mounts of one's own here: %s", &problem)
		}
		t.Fatalf("%v: %s", err, &problem)
	}
	var found looks
	if err := json.Unmarshal([]byte(said.String()), &found); err != nil {
		t.Fatal(err)
	}
	small := filepath.Join(dir, "small")
	for when, want := range (looks{
		"sound": {}, "gone": {}, "denied": {}, "read-only state": {},
		"full":       {DiskFull: true, Detail: small + " has 512 KiB free"},
		"full state": {DiskFull: true, Detail: small + " has 512 KiB free"},
		"no inodes":  {DiskFull: true, Detail: filepath.Join(dir, "inodes") + " has no inodes free; " + filepath.Join(dir, "inodes") + " takes no more: open " + filepath.Join(dir, "inodes") + ": no space left on device"},
		"read-only":  {ReadOnly: true, Detail: small + " is read-only"},
	}) {
		got, looked := found[when]
		if !looked && when == "denied" && os.Geteuid() != 0 {
			t.Log("only root can become somebody who is denied")
			continue
		}
		if !looked || got != want {
			t.Errorf("%s: %+v, want %+v", when, got, want)
		}
	}
}

// playHog takes memory until it is ended.
func playHog() error {
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0o600); err != nil {
		return err
	}
	var all [][]byte
	for range 256 {
		b := make([]byte, 1<<20)
		for i := range b {
			b[i] = 1
		}
		all = append(all, b)
	}
	return fmt.Errorf("took %d MiB and lives", len(all))
}

// playMemory waits to be put into a group, and lets a process die in it.
func playMemory() error {
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	before := OOMKills()
	found := looks{"before": Look(os.TempDir(), os.TempDir(), before)}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"=hog")
	out, err := cmd.CombinedOutput()
	if err == nil {
		return errors.New("the hog lives")
	}
	if len(out) > 0 {
		return fmt.Errorf("the hog ended with %w: %s", err, out)
	}
	found["after"] = Look(os.TempDir(), os.TempDir(), before)
	found["later"] = Look(os.TempDir(), os.TempDir(), OOMKills())
	return found.print()
}

// memoryGroup makes a group below this process's own that may use 96 MiB.
func memoryGroup(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Skipf("no groups here: %v", err)
	}
	var refusals []string
	for _, file := range memoryFiles(string(text)) {
		parent := filepath.Dir(file)
		limit := "memory.max"
		if filepath.Base(file) == "memory.oom_control" {
			limit = "memory.limit_in_bytes"
		}
		if _, err := os.Stat(parent); err != nil {
			continue
		}
		dir := filepath.Join(parent, fmt.Sprintf("belay-test-%d", os.Getpid()))
		err := os.Mkdir(dir, 0o700)
		if err == nil {
			t.Cleanup(func() {
				if err := os.Remove(dir); err != nil {
					t.Error(err)
				}
			})
			err = os.WriteFile(filepath.Join(dir, limit), []byte(strconv.Itoa(96<<20)), 0o600)
		}
		if err == nil {
			return dir
		}
		refusals = append(refusals, err.Error())
	}
	t.Skipf("no memory group can be made here: %s", strings.Join(refusals, "; "))
	return ""
}

// promise: F7
func TestLookAtMemory(t *testing.T) {
	group := memoryGroup(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"=memory")
	var said, problem strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &problem
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(cmd.Process.Pid)), 0o600); err != nil {
		_ = cmd.Process.Kill() // the reason is told below
		_ = cmd.Wait()         // killed on purpose
		t.Skipf("no process can be put into a group here: %v", err)
	}
	if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
		t.Fatalf("%v: %s", err, &problem)
	}
	var found looks
	if err := json.Unmarshal([]byte(said.String()), &found); err != nil {
		t.Fatal(err)
	}
	if found["before"].OOMKill || !found["after"].OOMKill || found["after"].Detail == "" || found["later"].OOMKill {
		t.Errorf("%+v", found)
	}
}

func TestMemoryFiles(t *testing.T) {
	got := memoryFiles("5:cpu,cpuacct:/c\n4:blkio,memory:/a/b\n0::/x\n\nodd\n")
	want := []string{
		"/sys/fs/cgroup/memory/a/b/memory.oom_control", "/sys/fs/cgroup/memory/memory.oom_control",
		"/sys/fs/cgroup/x/memory.events", "/sys/fs/cgroup/unified/x/memory.events", "/sys/fs/cgroup/memory.events",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// A disk that does not answer holds nobody up.
func TestLookDoesNotWaitForEver(t *testing.T) {
	hang := make(chan struct{})
	done := make(chan struct{})
	p := lookFor(10*time.Millisecond, func() effect.Probe {
		defer close(done)
		<-hang
		return effect.Probe{DiskFull: true}
	})
	if p.DiskFull || !strings.Contains(p.Detail, "no answer") {
		t.Errorf("%+v", p)
	}
	close(hang)
	<-done
}

func BenchmarkLook(b *testing.B) {
	dir, state := b.TempDir(), b.TempDir()
	for b.Loop() {
		Look(dir, state, 0)
	}
}

// Time that passes while the machine stands still is one tick, however long.
func TestStandstillIsNoSilentDisk(t *testing.T) {
	t.Parallel()
	for ticks, want := range map[int]bool{1: true, lookTimes - 1: true, lookTimes: false} {
		found, tick := make(chan effect.Probe, 1), make(chan time.Time)
		go func() {
			for range ticks {
				tick <- time.Time{}
			}
			found <- effect.Probe{ReadOnly: true}
		}()
		if p, ok := hear(found, tick); ok != want || p.ReadOnly != want {
			t.Errorf("an answer after %d ticks: %v, %+v", ticks, ok, p)
		}
	}
}
