package verdict_test

import (
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/verdict"
)

// promise: H3
func TestWhatTestsMustShow(t *testing.T) {
	t.Parallel()
	three, none, bad := &belay.Tally{Passed: 3}, &belay.Tally{None: true}, &belay.Tally{Failed: 1, Bad: true}
	for _, c := range []struct {
		name  string
		runs  []belay.TestRun
		class belay.Class // "" = enough
		says  string
	}{
		{"nothing was found", nil, belay.ClassHollow, "no test command was found"},
		{"counted", []belay.TestRun{{Command: "go test", Counts: true, Tally: three}}, "", ""},
		{"ran, without a number", []belay.TestRun{{Command: "go test", Counts: true, Tally: &belay.Tally{}}}, "", ""},
		{"a command nobody knows", []belay.TestRun{{Command: "make test"}}, "", ""},
		{"the same, changed", []belay.TestRun{{Command: "make test", Changed: []string{"Makefile"}}}, belay.ClassHollow, "Makefile changed"},
		{"changed and counted", []belay.TestRun{{Command: "make test", Changed: []string{"Makefile"}, Tally: three}}, "", ""},
		{"found late", []belay.TestRun{{Command: "make test", Late: true}}, belay.ClassHollow, "not there at the start"},
		{"found late and counted", []belay.TestRun{{Command: "make test", Late: true, Tally: three}}, "", ""},
		{"a runner that is silent", []belay.TestRun{{Command: "pytest", Counts: true}}, belay.ClassHollow, "counts no test"},
		{"none ran", []belay.TestRun{{Command: "go test", Counts: true, Tally: none}}, belay.ClassHollow, "no test ran"},
		{"none ran, and it says so", []belay.TestRun{{Command: "pytest", Exit: 5, Tally: none}}, belay.ClassHollow, "exit 5"},
		{"none here, some there", []belay.TestRun{{Command: "go test", Counts: true, Tally: none}, {Command: "npm test", Tally: three}}, "", ""},
		{"some here, none in what changed", []belay.TestRun{{Command: "go test", Tally: three}, {Command: "make test", Changed: []string{"Makefile"}}}, belay.ClassHollow, "Makefile"},
		{"failed", []belay.TestRun{{Command: "go test", Exit: 1, Last: "FAIL"}}, belay.ClassWorkFailure, "exit 1: FAIL"},
		{"the second failed", []belay.TestRun{{Command: "go test", Tally: three}, {Command: "make test", Exit: 2}}, belay.ClassWorkFailure, "make test"},
		{"its output tells of failures", []belay.TestRun{{Command: "make test", Tally: bad}}, belay.ClassWorkFailure, "as their output tells"},
		{"another program", []belay.TestRun{{Command: "pytest", Swapped: "/bin/pytest"}}, belay.ClassTampered, "/bin/pytest"},
		{"no program", []belay.TestRun{{Command: "mix test", Missing: "mix"}}, belay.ClassInfrastructure, "there is no mix"},
	} {
		f := verdict.Shortfall(belay.CheckReport{Tests: c.runs, Dir: "/w"})
		switch {
		case c.class == "" && f != nil:
			t.Errorf("%s: %v", c.name, f)
		case c.class != "" && (f == nil || f.Class != c.class || !strings.Contains(f.Cause, c.says)):
			t.Errorf("%s: got %v, want %s with %q", c.name, f, c.class, c.says)
		}
	}
}

// promise: H3
func TestWhatAForgeMustSay(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	before, after := since.Add(-time.Hour), since.Add(time.Hour)
	fresh, old := []belay.PRHead{{Commit: "c", New: true}}, []belay.PRHead{{Commit: "c"}}
	open := func(head string, made time.Time) []belay.PullRequest {
		return []belay.PullRequest{{URL: "u", Head: head, State: belay.PROpen, Created: made}}
	}
	for _, c := range []struct {
		name  string
		seen  belay.PRReport
		class belay.Class // "" = enough
	}{
		{"a new request with a new commit", belay.PRReport{Heads: fresh, Found: open("c", after)}, ""},
		{"a new push to an old request", belay.PRReport{Heads: fresh, Found: open("c", before)}, ""},
		{"a new request for an old commit", belay.PRReport{Heads: old, Found: open("c", after)}, ""},
		{"an old request with an old commit", belay.PRReport{Heads: old, Found: open("c", before)}, belay.ClassHollow},
		{"a request with another commit", belay.PRReport{Heads: fresh, Found: open("d", after)}, belay.ClassHollow},
		{"a request without a head", belay.PRReport{Heads: []belay.PRHead{{New: true}}, Found: open("", after)}, belay.ClassHollow},
		{"none", belay.PRReport{Heads: fresh}, belay.ClassHollow},
		{"closed", belay.PRReport{Heads: fresh, Found: []belay.PullRequest{{Head: "c", State: belay.PRClosed, Created: after}}}, belay.ClassHollow},
		{"merged since", belay.PRReport{Heads: fresh, Found: []belay.PullRequest{{Head: "c", State: belay.PRMerged, Created: after, Merged: after}}}, ""},
		{"merged before", belay.PRReport{Heads: fresh, Found: []belay.PullRequest{{Head: "c", State: belay.PRMerged, Created: before, Merged: before}}}, belay.ClassHollow},
		{"no login", belay.PRReport{Trouble: belay.PRNoLogin}, belay.ClassInfrastructure},
		{"no answer", belay.PRReport{Trouble: belay.PRNoAnswer}, belay.ClassInfrastructure},
		{"another program", belay.PRReport{Trouble: belay.PRSwapped}, belay.ClassTampered},
		{"no commit", belay.PRReport{Trouble: belay.PRNoCommit}, belay.ClassHollow},
	} {
		c.seen.Since = since
		f := verdict.Shortfall(belay.CheckReport{PR: &c.seen})
		if c.class == "" && f != nil || c.class != "" && (f == nil || f.Class != c.class) {
			t.Errorf("%s: got %v, want %q", c.name, f, c.class)
		}
	}
}
