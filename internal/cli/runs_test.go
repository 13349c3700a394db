package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/recipe"
)

// written is a state directory with one run whose driver is dead. The index says
// RUNNING, as it does when the driver had no time to note the end.
func written(t *testing.T, source string, events ...event.Event) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	st, err := journal.OpenState(dir)
	must(t, err)
	run, err := st.Create("r1")
	must(t, err)
	r, problems := recipe.Parse("r.yaml", []byte(source))
	if r == nil {
		t.Fatal(problems)
	}
	_, err = run.PutBlob([]byte(source))
	must(t, err)
	must(t, run.SetEpoch(1))
	recs := []event.Record{
		{Run: "r1", Event: event.RunStarted{
			Schema: event.Schema, Name: r.Name, Recipe: r.Digest, Dir: "/", Limits: belay.DefaultLimits(),
			Session: &belay.Session{Tree: "r1", MaxDepth: 3, MaxSessions: 10},
		}},
		{Run: "r1", Event: event.RunAttached{Epoch: 1, Pid: 1 << 30}},
	}
	for _, e := range events {
		recs = append(recs, event.Record{Run: "r1", Event: e})
	}
	_, err = run.Append(recs)
	must(t, err)
	dead := proc.Identity{Pid: 1 << 30, Start: 1, Boot: "b"}
	must(t, st.NoteRun(journal.Summary{ID: "r1", Name: r.Name, Status: belay.Running, Started: time.Now(), Driver: dead}))
	must(t, run.Close())
	must(t, st.Close())
	return dir
}

// beat writes the last beat of a driver that is dead, in the form of the file.
func beat(t *testing.T, state string, phase belay.Status) {
	t.Helper()
	file := filepath.Join(state, "runs", "r1", "beat")
	old, err := os.ReadFile(file)
	must(t, err)
	b, err := json.Marshal(journal.Beat{Pid: 1 << 30, Start: 1, Boot: "b", Phase: string(phase), At: time.Now()})
	must(t, err)
	b = append(b, bytes.Repeat([]byte{' '}, len(old)-9-len(b))...)
	must(t, os.WriteFile(file, fmt.Appendf(b, "%08x\n", crc32.ChecksumIEEE(b)), 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// belayOn runs a command line on a state directory.
func belayOn(t *testing.T, state string, args ...string) (string, string, int) {
	t.Helper()
	var out, talk bytes.Buffer
	env := []string{"BELAY_STATE=" + state, "XDG_CONFIG_HOME=" + state}
	err := Main(t.Context(), Streams{Out: &out, Err: &talk}, args, env, Program{Version: "test"})
	return out.String(), talk.String(), exit.Code(err)
}

const oneStep = "name: one\nallow_empty: true\ncontext: {n: 1}\nsteps:\n  - {id: a, command: \"true\", condition: \"n > 2\"}\n"

func TestRunsOfADriverThatDiedAfterTheEnd(t *testing.T) {
	t.Parallel()
	end := event.RunEnded{RunResult: belay.RunResult{Status: belay.Achieved}}
	state := written(t, oneStep, event.StepNotTaken{Path: "a", Why: "no"}, end)
	beat(t, state, belay.Running)
	if out, _, code := belayOn(t, state, "runs"); code != 0 || !strings.Contains(out, lostText) {
		t.Errorf("by a beat before the end: %d %s", code, out)
	}
	beat(t, state, belay.Achieved)
	if out, _, code := belayOn(t, state, "runs"); code != 0 || !strings.Contains(out, "ACHIEVED") || strings.Contains(out, "crashed") {
		t.Errorf("by its last beat: %d %s", code, out)
	}
	beat(t, state, belay.Running)
	out, talk, code := belayOn(t, state, "resume", "r1", "--json")
	if code != 0 || !strings.Contains(out, `"ACHIEVED"`) {
		t.Fatalf("resume: %d %s %s", code, out, talk)
	}
	out, _, _ = belayOn(t, state, "runs", "--json")
	var line runLine
	must(t, json.Unmarshal([]byte(out), &line))
	if line.Status != belay.Achieved || line.Crashed || line.Ended.IsZero() {
		t.Errorf("after resume: %s", out)
	}
	if again, _, _ := belayOn(t, state, "resume", "r1", "--json"); again == "" {
		t.Error("no answer")
	}
	if later, _, _ := belayOn(t, state, "runs", "--json"); later != out {
		t.Errorf("to look at an ended run changes its end:\n%s%s", out, later)
	}
}

// A driver may be killed after it wrote down that its run is stopped, and before it
// could say so to those who list runs. Who stops the run then finds it stopped, and
// says so for it.
// promise: K5
func TestStopOfARunThatIsStopped(t *testing.T) {
	t.Parallel()
	state := written(t, oneStep, event.RunStopped{By: "me"})
	beat(t, state, belay.Running)
	if out, _, _ := belayOn(t, state, "runs"); !strings.Contains(out, lostText) {
		t.Fatalf("before: %s", out)
	}
	if out, talk, code := belayOn(t, state, "stop", "r1"); code != 0 || !strings.Contains(out, "STOPPED already") {
		t.Fatalf("stop: %d %s %s", code, out, talk)
	}
	if out, _, _ := belayOn(t, state, "runs"); strings.Contains(out, lostText) || !strings.Contains(out, "STOPPED") {
		t.Errorf("after: %s", out)
	}
}
