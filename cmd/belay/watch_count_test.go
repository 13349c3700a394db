//go:build linux

package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/ledger"
)

// A run that died, and a watch that cannot count its tries, because what it keeps
// cannot be written or cannot be read: nothing is started at all, and a person is
// told.
//
// promise: W5, W6
func TestWatchThatCannotCount(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 1, 1)
	left := c.leave("w0")
	st, err := journal.OpenState(filepath.Join(c.dir, "state"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() }) // of a test
	change := func(sql ...string) {
		t.Helper()
		err := st.Ledger().Store.Change("break", func(x ledger.Tx) error {
			for _, q := range sql {
				if err := x.Run(q); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	change("CREATE TRIGGER full1 BEFORE INSERT ON watched BEGIN SELECT RAISE(ABORT, 'no room'); END",
		"CREATE TRIGGER full2 BEFORE UPDATE ON watched BEGIN SELECT RAISE(ABORT, 'no room'); END")
	c.refuses("w0", "a try cannot be counted", left)
	change("DROP TRIGGER full1", "DROP TRIGGER full2", "INSERT OR REPLACE INTO watched VALUES ('w0', '{\"resumes\":')")
	c.refuses("w0", "what the watch has counted for it cannot be read", left)

	c.belay("clear", "w0", "restarts", "--why", "it is mended")
	c.settle()
	c.sound("w0")
	if _, err := os.Stat(left); err != nil {
		t.Errorf("a driver that a watch started leaves no log: %v", err)
	}
}

// A run that died, and a disk that is full when its tries are to be counted: nothing
// is started at all, and one line says so. With room again it goes on.
//
// promise: W5, W6
func TestWatchWithAFullDisk(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 1, 1)
	if !(exitBench{c.dir}).smallDisk(t) {
		t.Skip("a full disk needs a disk of its own")
	}
	left := c.leave("w0")
	ballast := filepath.Join(c.dir, "state", "ballast")
	if out, err := exec.CommandContext(t.Context(), "cp", "/dev/zero", ballast).CombinedOutput(); err == nil {
		t.Fatalf("the disk has no end: %s", out)
	}
	c.refuses("w0", "no space left on device", left)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	c.settle()
	c.sound("w0")
}

// leave starts a run and kills its driver. It gives the log of the driver that a watch
// would start.
func (c *crowd) leave(run string) (left string) {
	c.t.Helper()
	cmd := c.command("run", "r.yaml", "--id", run, "--set", "name="+run)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); c.driver(run) == 0 && time.Now().Before(end); {
		c.wait(10 * time.Millisecond)
	}
	_ = cmd.Process.Kill() // it may have died by itself: then the watch says so
	_ = cmd.Wait()         // killed
	return filepath.Join(c.dir, "state", "runs", run, "watch.log")
}

// refuses has a watch look at a run for two seconds: it calls a person, once, and
// starts nothing.
func (c *crowd) refuses(run, why, left string) {
	c.t.Helper()
	cmd := c.command("watch", run, "--poll", "20ms", "--window", "2s", "--json")
	out, err := cmd.Output()
	if code := codeOf(err); code != exit.Held {
		c.t.Errorf("exit %d (%v), want 11\n%s", code, err, out)
	}
	told := 0
	for line := range strings.Lines(string(out)) {
		var l struct{ Event, Reason string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			c.t.Fatal(err)
		}
		if l.Event == "USER_ACTION_REQUIRED" && strings.Contains(l.Reason, why) {
			told++
		}
	}
	if told != 1 || strings.Contains(string(out), "RUN_RESUMED") {
		c.t.Errorf("told %d times of %q:\n%s", told, why, out)
	}
	if _, err := os.Stat(left); err == nil {
		c.t.Errorf("%s: a driver was started", why)
	}
}
