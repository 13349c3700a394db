package main_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/exit"
)

// storms are runs that come to nothing in the same way for ever, with the starts of
// an agent that each may cost.
var storms = []struct {
	run  string
	most int
}{
	{"lost", 4}, // its driver and its keeper die each time, as on a machine without memory
	{"kept", 1}, // its driver dies; the agent lives on, and the next driver finds it
	{"same", 1}, // every driver after the first fails by itself
}

// stormScript is what the agent does: it ends those who drive it, and their next ones.
const stormScript = `echo x >> $STORM/$BELAY_RUN_ID.starts
of=$BELAY_STATE/runs/$BELAY_RUN_ID
while [ -e $STORM/storm.yaml ]; do
  pid=$(sed -n 's/.*"pid":\([0-9]*\).*/\1/p' $of/beat)
  born=$(sed -n 's/.*"start":\([0-9]*\).*/\1/p' $of/beat) # its pid may be another's by now
  [ "$(cut -d' ' -f22 /proc/$pid/stat 2>/dev/null)" = "$born" ] && kill -9 $pid
  [ $BELAY_RUN_ID = kept ] || kill -9 $(pgrep -f "keeper $of") $(pgrep -f "attend $of")
  sleep 0.02
done
`

// Runs that fail in the same way for ever, under a watch that is started again
// whenever it ends: three tries at most, agents within their budget, one item in the
// inbox, one notice and its reminders, and 11 each time. A few seconds on a change,
// two minutes with BELAY_SWEEPS=all.
//
// promise: W6, W8, W12, G4
func TestWatchStorm(t *testing.T) {
	t.Parallel()
	span, nudge := time.Second, time.Hour
	if wholeSweep() {
		span, nudge = 2*time.Minute, 10*time.Second
	}
	s := newStorm(t, nudge)
	defer s.over()
	for _, r := range storms {
		s.dies(r.run)
	}
	logs := filepath.Join(s.dir, "state", "runs", "same", "logs")
	if err := os.Rename(logs, logs+".gone"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(logs, nil, 0o600); err != nil { // no driver can do anything with that
		t.Fatal(err)
	}
	resumes, watches := map[string]int{}, 0
	for end := time.Now().Add(span); watches < 3 || time.Now().Before(end); watches++ {
		out, err := s.command("watch", "--poll", "20ms", "--window", "2m", "--json").Output()
		if code := codeOf(err); code != exit.Held {
			t.Fatalf("exit %d (%v), want 11\n%s", code, err, out)
		}
		for line := range strings.Lines(string(out)) {
			var l struct {
				Event string
				RunID string
			}
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatal(err)
			}
			if l.Event == "RUN_RESUMED" {
				resumes[l.RunID]++
			}
		}
	}
	s.calm(resumes, watches, wholeSweep())
}

// storm is a crowd with somebody who is told.
type storm struct {
	*crowd
	nudge time.Duration

	mu    sync.Mutex
	seen  map[string]bool // ids of notices
	fresh map[string]int  // of a run
	again map[string]int  // its reminders
}

// stormSecret signs the notices.
const stormSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func newStorm(t *testing.T, nudge time.Duration) *storm {
	t.Helper()
	s := &storm{crowd: newCrowd(t, 0, 0), nudge: nudge, seen: map[string]bool{}, fresh: map[string]int{}, again: map[string]int{}}
	for name, text := range map[string]string{
		"storm.yaml":   "name: storm\nsteps:\n  - {id: work, agent: scripted, prompt: work, expect: answer, output: x}\n",
		"agent.script": "- run: bash $STORM/die.sh\n- answer: never\n",
		"die.sh":       stormScript,
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hook := httptest.NewServer(http.HandlerFunc(s.take))
	t.Cleanup(hook.Close)
	s.env = []string{
		"STORM=" + s.dir, "BELAY_WEBHOOK_SECRET=" + stormSecret, "BELAY_NOTIFY_WEBHOOK=" + hook.URL,
		"BELAY_NOTIFY_NUDGE=" + nudge.String(), "BELAY_KILL_GRACE=300ms",
	}
	return s
}

// take counts a notice.
func (s *storm) take(_ http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	var n struct {
		Data struct {
			Run      string
			Reminder int
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := req.Header.Get("webhook-id")
	if err != nil || json.Unmarshal(body, &n) != nil || !signed(req.Header, body, stormSecret) || s.seen[id] {
		s.t.Errorf("notice %s, seen before: %v, %v\n%s", id, s.seen[id], err, body)
	}
	s.seen[id] = true
	if n.Data.Reminder == 0 {
		s.fresh[n.Data.Run]++
	} else {
		s.again[n.Data.Run]++
	}
}

// over ends the storms.
func (s *storm) over() {
	_ = os.Remove(filepath.Join(s.dir, "storm.yaml")) // then each agent ends
	for _, r := range storms {
		_ = s.command("cancel", r.run).Run() // what is left of it
	}
}

// dies starts a run whose agent ends its driver.
func (s *storm) dies(run string) {
	s.t.Helper()
	cmd := s.command("run", "../storm.yaml", "--id", run, "--agent", "scripted:../agent.script", "--max-agents", "5")
	cmd.Dir = filepath.Join(s.dir, run) // two in one place wait for each other
	if err := os.Mkdir(cmd.Dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Run(); codeOf(err) != -1 {
		s.t.Fatalf("run %s was not killed: %v", run, err)
	}
}

// calm checks what the storms came to.
func (s *storm) calm(resumes map[string]int, watches int, whole bool) {
	t := s.t
	t.Helper()
	items := map[string]int{}
	var inbox []struct{ Kind, Run string }
	if err := json.Unmarshal([]byte(s.belay("inbox", "--json")), &inbox); err != nil {
		t.Fatal(err)
	}
	for _, i := range inbox {
		items[i.Run]++
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range storms {
		text, err := os.ReadFile(filepath.Join(s.dir, r.run+".starts"))
		if err != nil {
			t.Fatal(err)
		}
		starts := strings.Count(string(text), "x")
		if resumes[r.run] == 0 || resumes[r.run] > 3 || starts > r.most || items[r.run] != 1 || s.fresh[r.run] != 1 {
			t.Errorf("run %s: %d resumes, %d starts of its agent, %d items, %d notices", r.run, resumes[r.run], starts, items[r.run], s.fresh[r.run])
		}
		if n := s.again[r.run]; whole != (n > 0) || n > 3 { // after 10 s, 40 s and 160 s more
			t.Errorf("run %s: %d reminders", r.run, n)
		}
		s.belay("audit", r.run)
	}
	t.Logf("%d watches, resumes %v, notices %v, reminders %v", watches, resumes, s.fresh, s.again)
}
