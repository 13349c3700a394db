package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// forgeRig is a forge with machines that file issues in it.
type forgeRig struct {
	t   *testing.T
	dir string
}

func newForgeRig(t *testing.T) *forgeRig {
	t.Helper()
	r := &forgeRig{t, t.TempDir()}
	if err := os.Mkdir(filepath.Join(r.dir, "forge"), 0o700); err != nil {
		t.Fatal(err)
	}
	return r
}

// wholeSweep tells whether all of a long sweep is asked for, not a part of it.
func wholeSweep() bool { return os.Getenv("BELAY_SWEEPS") == "all" }

// chosenSeed is the same on every change, and another one each time all of a sweep is
// asked for.
func chosenSeed() int {
	if wholeSweep() {
		return rand.IntN(1_000_000)
	}
	return 1
}

// belay is a call on a machine: a state directory of its own.
func (r *forgeRig) belay(machine, faults string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(r.t.Context(), program, append([]string{"issue"}, args...)...)
	path := forgeFolder()
	if faults == "away" {
		path = r.dir
	}
	cmd.Env = []string{
		"PATH=" + path, "HOME=" + r.dir, "BELAY_STATE=" + filepath.Join(r.dir, machine), "BELAY_ISSUES_REPO=o/r",
		"BELAY_ISSUES_TIMEOUT=5s", "BELAY_ISSUES_SETTLE=400ms", "FORGE_DIR=" + filepath.Join(r.dir, "forge"), "FORGE_FAULTS=lag=5s " + faults,
		"GORACE=" + os.Getenv("GORACE"),
	}
	return cmd
}

func (r *forgeRig) file(machine, faults, mark string) *exec.Cmd {
	return r.belay(machine, faults, "file", "--fingerprint", mark, "--title", "about "+mark, "--body", "text of "+mark)
}

// sync files what was kept until nothing is left.
func (r *forgeRig) sync(faults string) {
	r.t.Helper()
	for range 50 {
		out, err := r.belay("one", faults, "sync").CombinedOutput()
		if err == nil {
			return
		}
		if codeOf(err) != 8 {
			r.t.Fatalf("sync: %v\n%s", err, out)
		}
	}
	r.t.Fatal("50 syncs were not enough")
}

// issues reads the file of the forge: how many issues each fingerprint has.
func (r *forgeRig) issues() (all []*forgeIssue, by map[string]int) {
	r.t.Helper()
	var f forge
	text, err := os.ReadFile(filepath.Join(r.dir, "forge", "issues.json"))
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		r.t.Fatal(err)
	}
	by = map[string]int{}
	for _, is := range f.Issues {
		_, mark, _ := strings.Cut(is.Title, "about ")
		by[mark]++
	}
	return f.Issues, by
}

func (r *forgeRig) wantOnce(prints int) {
	r.t.Helper()
	all, by := r.issues()
	if len(all) != prints || len(by) != prints {
		r.t.Errorf("%d issues for %d fingerprints of %d: %v", len(all), len(by), prints, by)
	}
}

// Many processes file the same things at once, in a tracker whose search lags,
// whose list lags a little, and which fails before and after it acted.
//
// promise: D4, D5
func TestIssuesOnce(t *testing.T) {
	t.Parallel()
	processes, prints, faults := 3, 5, "fail=10 lose=15 listlag=200ms"
	if wholeSweep() {
		processes, prints, faults = 8, 50, "fail=10 lose=15 hang=2 listlag=200ms"
	}
	r := newForgeRig(t)
	faults += fmt.Sprintf(" seed=%d", chosenSeed())
	t.Log(faults)
	var hands sync.WaitGroup
	for p := range processes {
		hands.Go(func() {
			for _, i := range rand.New(rand.NewPCG(1, uint64(p/2))).Perm(prints) { // pairs go the same way
				out, err := r.file("one", faults, fmt.Sprintf("p-%d", i)).CombinedOutput()
				if code := codeOf(err); code != 0 && code != 8 {
					t.Errorf("file: %v\n%s", err, out)
				}
			}
		})
	}
	hands.Wait()
	r.sync(faults)
	r.wantOnce(prints)
}

// An answer is lost after the issue was made, and neither the search nor the list
// knows of it yet.
//
// promise: D4
func TestIssueAnswerLost(t *testing.T) {
	t.Parallel()
	r := newForgeRig(t)
	out, err := r.file("one", "drop=1 blind=1", "lost").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "an answer of the tracker was lost") || !strings.Contains(string(out), "created    https://github.com/o/r/issues/1\n") {
		t.Errorf("file: %v\n%s", err, out)
	}
	r.wantOnce(1)
}

// Without gh every issue is a file on this machine, and later an issue.
//
// promise: D6
func TestIssuesAway(t *testing.T) {
	t.Parallel()
	prints := 6
	if wholeSweep() {
		prints = 50
	}
	r := newForgeRig(t)
	for i := range 2 * prints { // each of them twice
		out, err := r.file("one", "away", fmt.Sprintf("p-%d", i%prints)).CombinedOutput()
		if codeOf(err) != 8 || !strings.Contains(string(out), "gh is not on the PATH") {
			t.Fatalf("file: %v\n%s", err, out)
		}
	}
	leaflets := func() int {
		list, err := filepath.Glob(filepath.Join(r.dir, "one", "issues", "o=r", "*.md"))
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	if n := leaflets(); n != prints {
		t.Errorf("%d files for %d issues", n, prints)
	}
	r.sync("")
	r.wantOnce(prints)
	r.sync("")
	r.wantOnce(prints)
	if n := leaflets(); n != 0 {
		t.Errorf("%d files are left", n)
	}
}

// A process that is killed while it files leaves no twin behind, and what it had
// written down is not lost.
//
// promise: D4
func TestIssueKilled(t *testing.T) {
	t.Parallel()
	kills := 4
	if wholeSweep() {
		kills = 100
	}
	r := newForgeRig(t)
	prints := 0
	for _, moment := range []string{"before", "after"} {
		mark := "p-" + moment
		if out, err := r.file("one", "die="+moment, mark).CombinedOutput(); codeOf(err) != -1 {
			t.Fatalf("it was not killed: %v\n%s", err, out)
		}
		if err := os.Remove(filepath.Join(r.dir, "forge", "died")); err != nil {
			t.Fatal(err)
		}
		prints++
	}
	out, err := r.belay("one", "", "list", "--json").Output()
	if err != nil || strings.Count(string(out), `"status":"unsure"`) != prints {
		t.Errorf("what was begun is not written down: %v\n%s", err, out)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	dice := rand.New(rand.NewPCG(seed, 0))
	for i := range kills {
		mark := fmt.Sprintf("p-%d", i)
		cmd := r.file("one", "", mark)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Duration(dice.Int64N(int64(120 * time.Millisecond))))
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // killed or not
		if out, err := r.file("one", "", mark).CombinedOutput(); err != nil {
			t.Fatalf("after the kill: %v\n%s", err, out)
		}
		prints++
	}
	r.sync("")
	r.wantOnce(prints)
}

// Two machines that know nothing of each other make the same issue in the same
// moment: the later one is closed by who made it.
//
// promise: D5
func TestIssueOfTwoMachines(t *testing.T) {
	t.Parallel()
	r := newForgeRig(t)
	var hands sync.WaitGroup
	for _, machine := range []string{"one", "two"} {
		hands.Go(func() {
			if out, err := r.file(machine, "meet=2", "same").CombinedOutput(); err != nil {
				t.Errorf("file: %v\n%s", err, out)
			}
		})
	}
	hands.Wait()
	all, _ := r.issues()
	if len(all) != 2 || all[0].State != "open" || all[1].State != "closed" || len(all[1].Said) != 1 || all[1].Said[0].Body != "Duplicate of #1" {
		t.Errorf("not one open issue and one closed twin: %+v", all)
	}
	for _, machine := range []string{"one", "two"} {
		out, err := r.belay(machine, "", "find", "--fingerprint", "same").Output()
		if err != nil || string(out) != "https://github.com/o/r/issues/1\n" {
			t.Errorf("machine %s means %s: %v", machine, out, err)
		}
	}
}
