//go:build e2e && linux

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/receipt"
)

// TestDo gives a task to belay do that a real CLI works on from the plan to the
// reflection: the tests are run by Belay, the work is on a branch, and the receipt
// holds.
// promise: S1
func TestDo(t *testing.T) {
	t.Parallel()
	bin := build(t)
	for _, kind := range workers(t) {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			d := doTask(t, bin, kind, false)
			defer d.log(t)
			d.ended(t, belay.Achieved, exit.OK)
			if got := d.git(t, "diff", "--name-only", "main", d.branch(t)); got != "limit/limit.go\nlimit/limit_test.go" {
				t.Errorf("changed on the branch: %q", got)
			}
			if got := d.git(t, "show", d.branch(t)+":limit/limit.go"); got != strings.TrimSpace(limitCode) {
				t.Errorf("limit.go on the branch: %q", got)
			}
			// Words around an answer and a fence are read at once.
			for _, words := range []string{"Say what kind of task it is", "Review the uncommitted change", "Somebody worked on a task"} {
				if n := d.asked(words); n != 1 {
					t.Errorf("%q was asked %d times", words, n)
				}
			}
			r := d.receipt(t)
			if v := verdicts(r); v != "c1 met, c2 met" {
				t.Errorf("criteria: %s", v)
			}
			ran := slices.ContainsFunc(r.Steps, func(s receipt.Step) bool {
				return strings.HasSuffix(s.Step, "/check") && s.Verdict == "done" && s.Basis == effect.BasisTests &&
					slices.Contains(s.Evidence, "tests passed: go test ./... (2)")
			})
			if !ran {
				t.Errorf("no tests that Belay ran: %+v", r.Steps)
			}
			if code, out, talk := d.belay(t, "receipt", "task", "--check"); code != exit.OK {
				t.Errorf("belay receipt --check: exit %d\n%s\n%s", code, out, talk)
			}
			// What was taken away afterwards does not hold any more.
			d.git(t, "checkout", "-q", d.branch(t))
			d.git(t, "rm", "-q", "limit/limit.go")
			d.git(t, "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "take it away")
			if code, out, _ := d.belay(t, "receipt", "task", "--check"); code != exit.Failed {
				t.Errorf("belay receipt --check without the code: exit %d\n%s", code, out)
			}
		})
	}
}

// TestDoLies is the same with a model that says all of it and does nothing: it
// names tests that are not there, and its reflection says ACHIEVED.
// promise: S4
func TestDoLies(t *testing.T) {
	t.Parallel()
	bin := build(t)
	for _, kind := range workers(t) {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			d := doTask(t, bin, kind, true)
			defer d.log(t)
			d.ended(t, belay.Hollow, exit.Hollow)
			if got := d.git(t, "log", "--format=%s", "--branches", "--not", "main"); got != "" {
				t.Errorf("commits on branches: %q", got)
			}
			r := d.receipt(t)
			if v := verdicts(r); v != "c1 unmet, c2 unproven" { // the second passed before the work
				t.Errorf("criteria: %s", v)
			}
			if code, out, talk := d.belay(t, "receipt", "task", "--check"); code != exit.Hollow {
				t.Errorf("belay receipt --check: exit %d\n%s\n%s", code, out, talk)
			}
			// The second round is told, and is the last one: a third would be the same.
			if n := d.asked("Somebody worked on a task"); n != 2 {
				t.Errorf("%d reflections, want 2", n)
			}
			if d.asked("Words do not count") == 0 {
				t.Error("the model was not told that words do not count")
			}
		})
	}
}

// workers are the CLIs that do a whole task here: the others start too slowly for
// so many steps.
func workers(t *testing.T) []agent.Kind {
	t.Helper()
	return clis(t)[:2]
}

// ended holds what is the same for every end: the exit code, the last record of
// the journal, the receipt, a checkout that nobody touched, and no process.
func (d tasked) ended(t *testing.T, status belay.Status, exit int) {
	t.Helper()
	if d.exit != exit {
		t.Errorf("belay do: exit %d, want %d", d.exit, exit)
	}
	lines := bytes.Split(bytes.TrimSpace(d.out), []byte("\n"))
	var last struct {
		Kind, Run string
		Status    belay.Status
		Code      int `json:"exit_code"`
	}
	if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil {
		t.Fatalf("belay do --json printed %q: %v", lines[len(lines)-1], err)
	}
	if last.Kind != "run.ended" || last.Run != "task" || last.Status != status || last.Code != exit {
		t.Errorf("the last record: %+v", last)
	}
	r := d.receipt(t)
	if r.Status != status || r.Code == nil || *r.Code != exit {
		t.Errorf("receipt.json: %s", r.Status)
	}
	page, err := os.ReadFile(filepath.Join(d.run(), "receipt.md"))
	if err != nil || !bytes.Contains(page, []byte(status)) {
		t.Errorf("receipt.md does not say %s: %v\n%s", status, err, page)
	}
	if got := d.git(t, "status", "--porcelain") + d.git(t, "log", "--format=%s", "main"); got != "begin" {
		t.Errorf("the checkout of the person: %q", got)
	}
	if d.left != 0 {
		t.Errorf("%d processes were left", d.left)
	}
}

// asked is how many calls of the model had some words in them.
func (d tasked) asked(words string) int {
	n := 0
	kept, _ := d.server.Requests()
	for _, q := range kept {
		if q.Call > 0 && bytes.Contains(q.Body, []byte(words)) {
			n++
		}
	}
	return n
}

// log says how long it took, and everything after a failure.
func (d tasked) log(t *testing.T) {
	t.Helper()
	t.Logf("%d calls of the model in %s", d.server.Calls(), d.took.Round(100*time.Millisecond))
	if t.Failed() {
		t.Logf("%s\n%s", d.out, d.talk)
	}
}

func (d tasked) run() string { return filepath.Join(d.place.home, ".state", "belay", "runs", "task") }

// branch is the branch that the run offers, the only one of its kind.
func (d tasked) branch(t *testing.T) string {
	t.Helper()
	name := d.git(t, "for-each-ref", "--format=%(refname:short)", "refs/heads/belay/")
	if !strings.HasPrefix(name, "belay/add-a-package-limit") || strings.Contains(name, "\n") {
		t.Fatalf("the branches are %q", name)
	}
	return name
}

func (d tasked) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Env = d.place.work, d.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// receipt is what is kept in the folder of the run.
func (d tasked) receipt(t *testing.T) receipt.Receipt {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(d.run(), "receipt.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r receipt.Receipt
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func verdicts(r receipt.Receipt) string {
	var out []string
	for _, c := range r.Criteria {
		out = append(out, c.ID+" "+c.Verdict)
	}
	return strings.Join(out, ", ")
}
