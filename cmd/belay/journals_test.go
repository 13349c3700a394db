package main_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The archives in testdata/journals are state directories that earlier versions
// of Belay wrote: of the examples, of agents that work side by side, of runs that
// were killed. They are never written again; the texts beside them are, with
// -update, when the words for people change.

// TestEarlierJournals holds that runs of earlier versions are read as ever.
func TestEarlierJournals(t *testing.T) {
	t.Parallel()
	for _, archive := range archives(t) {
		state := unpack(t, archive)
		runs, err := os.ReadDir(filepath.Join(state, "runs"))
		if err != nil || len(runs) == 0 {
			t.Fatalf("%s: %d runs, %v", archive, len(runs), err)
		}
		for _, r := range runs {
			t.Run(strings.TrimSuffix(filepath.Base(archive), ".tar.gz")+"/"+r.Name(), func(t *testing.T) {
				t.Parallel()
				var told strings.Builder
				for _, args := range [][]string{{"why"}, {"show"}, {"history"}, {"why", "--json"}, {"show", "--json"}, {"history", "--json"}} {
					told.WriteString("$ belay " + strings.Join(args, " ") + "\n" + tell(t, state, append(args, r.Name())...) + "\n")
				}
				same(t, strings.TrimSuffix(archive, ".tar.gz")+"-"+r.Name()+".golden", told.String())
			})
		}
	}
}

// TestEarlierJournalsGoOn holds that killed runs of earlier versions go on from
// where they were, and that a step that must not run twice does not.
func TestEarlierJournalsGoOn(t *testing.T) {
	t.Parallel()
	for _, archive := range archives(t) {
		state := unpack(t, archive)
		for run, code := range map[string]int{"killed-long": 0, "killed-wait": 0, "killed-one": 0, "killed-once": 11} {
			t.Run(strings.TrimSuffix(filepath.Base(archive), ".tar.gz")+"/"+run, func(t *testing.T) {
				t.Parallel()
				out, err := earlier(state, "resume", run)
				var exit *exec.ExitError
				got := 0
				if errors.As(err, &exit) {
					got = exit.ExitCode()
				}
				if got != code {
					t.Errorf("resume %s: %v, want exit %d\n%s", run, err, code, out)
				}
			})
		}
	}
}

func archives(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join("testdata", "journals", "*.tar.gz"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	return list
}

func unpack(t *testing.T, archive string) string {
	t.Helper()
	state := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("tar", "-xzf", archive, "-C", state).CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	return state
}

func earlier(state string, args ...string) (string, error) {
	cmd := exec.Command(program, append([]string{"--state", state}, args...)...)
	cmd.Env = append(os.Environ(), "TZ=UTC", "NO_COLOR=1", "COLUMNS=80")
	out, err := cmd.Output()
	return string(out), err
}

// past is a time of the past and how long ago it was: the only thing that changes
// by itself. A longer one also moves the line breaks of its paragraph.
var past = regexp.MustCompile(`([0-9]{4}-[0-9]{2}-[0-9]{2} )?[0-9:]{8} \((just now|[^()]* ago)\)`)

func tell(t *testing.T, state string, args ...string) string {
	t.Helper()
	out, err := earlier(state, args...)
	if err != nil {
		t.Errorf("belay %v: %v", args, err)
	}
	parts := strings.Split(strings.ReplaceAll(out, state, "$STATE"), "\n\n")
	for i, p := range parts {
		if line := strings.Join(strings.Fields(p), " "); past.MatchString(line) {
			parts[i] = past.ReplaceAllString(line, "THEN")
		}
	}
	return strings.Join(parts, "\n\n")
}

func same(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: a run of an earlier version is told in another way:\n%s", golden, difference(string(want), got))
	}
}

// difference is the first line in which two texts differ.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "- " + w[i] + "\n+ " + g[i]
		}
	}
	return "one of them is longer"
}
