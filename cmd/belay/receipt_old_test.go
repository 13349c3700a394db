package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/journal"
)

// TestReceiptOfAnOldRun reads the records that the first Belay wrote: a receipt is
// made from the journal, also where nobody knew of receipts.
func TestReceiptOfAnOldRun(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "old-run")
	state := oldRun(t, dir)
	out, code := receiptOf(t, state)
	for _, want := range []string{
		"# Receipt of run k3f9q: ACHIEVED\n",
		"| build | done | exit 0; verify: exit 0 |\n",
		"| maybe | failed (optional) | exit 4 |\n",
		"- build: recovered\n",
		"attempt 1 of 2 failed: exit 1: try 0; recovery: retry at once\n",
		"- maybe: optional: ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if code != 0 {
		t.Errorf("exit %d", code)
	}
	// The place where its check ran is gone: nobody can tell.
	out, code = receiptOf(t, state, "--check")
	if want := "| build | not run | the place where it ran is gone: /nowhere/lab |"; code != exit.Partial || !strings.Contains(out, want) {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

// oldRun puts a run that is kept as text into a state directory.
func oldRun(t *testing.T, dir string) (state string) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "records.jsonl"))
	must(err)
	source, err := os.ReadFile(filepath.Join(dir, "recipe.yaml"))
	must(err)
	var recs []event.Record
	for line := range bytes.Lines(text) {
		var r event.Record
		must(json.Unmarshal(line, &r))
		recs = append(recs, r)
	}
	state = filepath.Join(t.TempDir(), "state")
	st, err := journal.OpenState(state)
	must(err)
	run, err := st.Create(recs[0].Run)
	must(err)
	_, err = run.PutBlob(source)
	must(err)
	must(run.SetEpoch(1))
	_, err = run.Append(recs)
	must(err)
	must(run.Close())
	must(st.Close())
	return state
}

func receiptOf(t *testing.T, state string, more ...string) (out string, code int) {
	t.Helper()
	cmd := exec.Command(program, append([]string{"--state", state, "receipt", "k3f9q"}, more...)...)
	var talk strings.Builder
	cmd.Stderr = &talk
	b, err := cmd.Output()
	if talk.Len() > 0 {
		t.Errorf("it says: %s", &talk)
	}
	if err == nil {
		return string(b), 0
	}
	return string(b), codeOf(err)
}
