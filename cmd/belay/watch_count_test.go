//go:build linux

package main_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
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

// A run whose disk is full when its driver writes, and a run that died and whose tries
// cannot be counted for that: nothing is started at all, people are told once by each,
// and the cure is one that helps. With room again both go on.
//
// promise: W5, W6
func TestWatchWithAFullDisk(t *testing.T) {
	t.Parallel()
	c := newCrowd(t, 1, 1)
	if !(exitBench{c.dir}).smallDisk(t) {
		t.Skip("a full disk needs a disk of its own")
	}
	told := make(chan string, 100)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body) // what is missing is not found
		told <- string(body)
	}))
	t.Cleanup(hook.Close)
	c.env = []string{"BELAY_WEBHOOK_SECRET=" + stormSecret, "BELAY_NOTIFY_WEBHOOK=" + hook.URL, "BELAY_NOTIFY_ON=stalled", "XDG_RUNTIME_DIR=" + t.TempDir()}
	toldOf := func(run string) {
		t.Helper()
		select {
		case body := <-told:
			if !strings.Contains(body, `"run":"`+run+`"`) || !strings.Contains(body, "free space on "+c.dir) || !strings.Contains(body, filepath.Join(c.dir, "state")+" resume "+run) || len(told) > 0 {
				t.Errorf("%d more notices after %s", len(told), body)
			}
		default:
			t.Errorf("nobody was told of run %s", run)
		}
	}
	left := c.leave("w0")
	ballast := filepath.Join(c.dir, "state", "ballast")
	fills := "name: fills\nsteps:\n  - {id: fill, command: '! cp /dev/zero " + ballast + " 2>/dev/null'}\n  - {id: s0, command: 'true'}\n"
	if err := os.WriteFile(filepath.Join(c.dir, "fills.yaml"), []byte(fills), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := c.command("run", "fills.yaml", "--id", "fills").CombinedOutput()
	if hint := "free space on " + c.dir; codeOf(err) != exit.Infra || !strings.Contains(string(out), hint) || !strings.Contains(string(out), "belay resume fills") {
		t.Errorf("exit %d, want 8 and %q\n%s", codeOf(err), hint, out)
	}
	toldOf("fills")
	c.refuses("w0", "no space left on device", left)
	toldOf("w0")
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	c.belay("resume", "fills")
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
	return filepath.Join(c.dir, "state", "runs", run, "driver.log")
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
		var l struct{ Event, RunID, Reason string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			c.t.Fatal(err)
		}
		if l.Event == "USER_ACTION_REQUIRED" && l.RunID == run && strings.Contains(l.Reason, why) {
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
