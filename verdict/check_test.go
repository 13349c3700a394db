package verdict_test

import (
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/verdict"
)

// promise: H3
func TestWhatTestsMustShow(t *testing.T) {
	t.Parallel()
	three, none, bad := &belay.Tally{Passed: 3}, &belay.Tally{None: true}, &belay.Tally{Failed: 1, Bad: true}
	for _, c := range []struct {
		name  string
		runs  []effect.TestRun
		class belay.Class // "" = enough
		says  string
	}{
		{"nothing was found", nil, belay.ClassHollow, "no test command was found"},
		{"counted", []effect.TestRun{{Command: "go test", Counts: true, Tally: three}}, "", ""},
		{"ran, without a number", []effect.TestRun{{Command: "go test", Counts: true, Tally: &belay.Tally{}}}, "", ""},
		{"a command nobody knows", []effect.TestRun{{Command: "make test"}}, "", ""},
		{"the same, changed", []effect.TestRun{{Command: "make test", Changed: []string{"Makefile"}}}, belay.ClassHollow, "Makefile changed"},
		{"changed and counted", []effect.TestRun{{Command: "make test", Changed: []string{"Makefile"}, Tally: three}}, "", ""},
		{"found late", []effect.TestRun{{Command: "make test", Late: true}}, belay.ClassHollow, "not there at the start"},
		{"found late and counted", []effect.TestRun{{Command: "make test", Late: true, Tally: three}}, "", ""},
		{"a runner that is silent", []effect.TestRun{{Command: "pytest", Counts: true}}, belay.ClassHollow, "counts no test"},
		{"none ran", []effect.TestRun{{Command: "go test", Counts: true, Tally: none}}, belay.ClassHollow, "no test ran"},
		{"none ran, and it says so", []effect.TestRun{{Command: "pytest", Exit: 5, Tally: none}}, belay.ClassHollow, "exit 5"},
		{"none here, some there", []effect.TestRun{{Command: "go test", Counts: true, Tally: none}, {Command: "npm test", Tally: three}}, "", ""},
		{"some here, none in what changed", []effect.TestRun{{Command: "go test", Tally: three}, {Command: "make test", Changed: []string{"Makefile"}}}, belay.ClassHollow, "Makefile"},
		{"failed", []effect.TestRun{{Command: "go test", Exit: 1, Last: "FAIL"}}, belay.ClassWorkFailure, "exit 1: FAIL"},
		{"the second failed", []effect.TestRun{{Command: "go test", Tally: three}, {Command: "make test", Exit: 2}}, belay.ClassWorkFailure, "make test"},
		{"its output tells of failures", []effect.TestRun{{Command: "make test", Tally: bad}}, belay.ClassWorkFailure, "as their output tells"},
		{"another program", []effect.TestRun{{Command: "pytest", Swapped: "/bin/pytest"}}, belay.ClassTampered, "/bin/pytest"},
		{"no program", []effect.TestRun{{Command: "mix test", Missing: "mix"}}, belay.ClassInfrastructure, "there is no mix"},
	} {
		f := verdict.Shortfall(effect.CheckReport{Tests: c.runs, Dir: "/w"})
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
	fresh, old := []effect.PRHead{{Commit: "c", New: true}}, []effect.PRHead{{Commit: "c"}}
	open := func(head string, made time.Time) []effect.PullRequest {
		return []effect.PullRequest{{URL: "u", Head: head, State: effect.PROpen, Created: made}}
	}
	for _, c := range []struct {
		name  string
		seen  effect.PRReport
		class belay.Class // "" = enough
	}{
		{"a new request with a new commit", effect.PRReport{Heads: fresh, Found: open("c", after)}, ""},
		{"a new push to an old request", effect.PRReport{Heads: fresh, Found: open("c", before)}, ""},
		{"a new request for an old commit", effect.PRReport{Heads: old, Found: open("c", after)}, ""},
		{"an old request with an old commit", effect.PRReport{Heads: old, Found: open("c", before)}, belay.ClassHollow},
		{"a request with another commit", effect.PRReport{Heads: fresh, Found: open("d", after)}, belay.ClassHollow},
		{"a request without a head", effect.PRReport{Heads: []effect.PRHead{{New: true}}, Found: open("", after)}, belay.ClassHollow},
		{"none", effect.PRReport{Heads: fresh}, belay.ClassHollow},
		{"closed", effect.PRReport{Heads: fresh, Found: []effect.PullRequest{{Head: "c", State: effect.PRClosed, Created: after}}}, belay.ClassHollow},
		{"merged since", effect.PRReport{Heads: fresh, Found: []effect.PullRequest{{Head: "c", State: effect.PRMerged, Created: after, Merged: after}}}, ""},
		{"merged before", effect.PRReport{Heads: fresh, Found: []effect.PullRequest{{Head: "c", State: effect.PRMerged, Created: before, Merged: before}}}, belay.ClassHollow},
		{"no login", effect.PRReport{Trouble: effect.PRNoLogin}, belay.ClassInfrastructure},
		{"no answer", effect.PRReport{Trouble: effect.PRNoAnswer}, belay.ClassInfrastructure},
		{"another program", effect.PRReport{Trouble: effect.PRSwapped}, belay.ClassTampered},
		{"no commit", effect.PRReport{Trouble: effect.PRNoCommit}, belay.ClassHollow},
	} {
		c.seen.Since = since
		f := verdict.Shortfall(effect.CheckReport{PR: &c.seen})
		if c.class == "" && f != nil || c.class != "" && (f == nil || f.Class != c.class) {
			t.Errorf("%s: got %v, want %q", c.name, f, c.class)
		}
	}
}
