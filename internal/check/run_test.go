package check

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/effect"
)

// A summary counts wherever it stands in a long output.
func TestSummaryOfALongOutput(t *testing.T) {
	t.Parallel()
	bin := lay(t, map[string]string{"pytest*": "#!/bin/sh\necho '2 passed in 0.1s'\ni=0\nwhile [ $i -lt 400 ]; do printf '%08000d\\n' $i; i=$((i+1)); done\n"})
	dir := lay(t, map[string]string{"pytest.ini": ""})
	plan := Find(dir, dir, bin)
	o := Order{Dir: dir, Run: dir, Tests: &plan, Report: filepath.Join(t.TempDir(), "report")}
	if _, err := Run(context.Background(), o, []string{"PATH=" + bin + ":/usr/bin:/bin"}, Streams{io.Discard, io.Discard}); err != nil {
		t.Fatal(err)
	}
	r, err := ReadReport(o.Report)
	if err != nil || len(r.Tests) != 1 || r.Tests[0].Tally == nil || r.Tests[0].Tally.Passed != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A forge that does not answer takes no longer than its limit.
func TestForgeThatHangs(t *testing.T) {
	t.Parallel()
	bin := lay(t, map[string]string{"gh*": "#!/bin/sh\nexec sleep 1000\n"})
	forge := program("gh", "", bin)
	began := time.Now()
	_, what, why := pulls(context.Background(), forge, "main", Order{Dir: bin, Within: 50 * time.Millisecond}, []string{"PATH=/usr/bin:/bin"})
	if what != effect.PRNoAnswer || !strings.Contains(why, "did not answer within 50ms") {
		t.Errorf("%s: %s", what, why)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}

func TestAnswersOfForges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       effect.PullRequest
	}{
		{"gh", `[{"number":7,"url":"u","headRefOid":"abc","state":"OPEN","createdAt":"2026-01-02T03:04:05Z","mergedAt":null}]`,
			effect.PullRequest{Number: 7, URL: "u", Head: "abc", State: effect.PROpen, Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}},
		{"glab", `[{"iid":8,"web_url":"w","sha":"def","state":"merged","created_at":"2026-01-02T03:04:05Z","merged_at":"2026-01-02T03:04:06Z"}]`,
			effect.PullRequest{Number: 8, URL: "w", Head: "def", State: effect.PRMerged, Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Merged: time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)}},
	} {
		got, err := readPulls([]byte(c.text))
		if err != nil || len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
	if _, err := readPulls([]byte("<html>")); err == nil {
		t.Error("a page of a proxy is taken for an answer")
	}
}

// A command that says that no test ran has shown nothing, also when what it left
// behind holds its output.
func TestNoTestRan(t *testing.T) {
	t.Parallel()
	trial := Trial{Args: []string{"sh", "-c", "sleep 3 & echo 'collected 0 items'; echo '==== no tests ran in 0.01s ===='; exit 0"}, Within: time.Minute}
	r, err := tryCommand(t.Context(), trial, t.TempDir(), []string{"PATH=/usr/bin:/bin"}, Streams{io.Discard, io.Discard})
	if err != nil || r.Passed || r.Why != "exit 0, and no test ran" {
		t.Errorf("%+v, %v", r, err)
	}
}
