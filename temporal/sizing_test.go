package temporal_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/belaytest"
	"github.com/belay-run/belay/temporal"
	"github.com/belay-run/belay/temporal/shown"
	"github.com/belay-run/belay/temporal/sizing"
)

const (
	stepFile = "testdata/step.json"
	sumsPage = "../docs/howto/run-on-temporal.md"
)

// TestSizes measures what an agent step leaves in the history of a real server. The
// figures are kept in testdata/step.json (-update), from which cmd/sums and the page
// have theirs; a step that costs otherwise by more than a quarter is a failure.
//
// promise: X
func TestSizes(t *testing.T) {
	t.Parallel()
	const steps = 20
	recipe := "name: n\nsteps:\n"
	for i := range steps {
		recipe += fmt.Sprintf("- {id: s%d, type: agent, prompt: 'write file %d', expect: change}\n", i, i)
	}
	s := onTemporal{server: devServer(t)}.stage(t, belaytest.Case{
		Recipe: recipe, Repo: map[string]string{"README": "x"},
		Agents: []belaytest.Agent{{Name: "worker", Script: "- run: 'date +%s%N > \"f$RANDOM$RANDOM\"; sleep 0.5'\n- answer: 'it is written: " + strings.Repeat("and what was done is told at some length ", 50) + "'\n"}},
	})
	if err := <-s.begin(); err != nil {
		t.Fatal(err)
	}
	if o := s.look(nil); o.Status != belay.Achieved {
		t.Fatalf("the run is %s: %v", o.Status, o.Failures)
	}
	var got sizing.Step
	for _, h := range s.histories() {
		for _, e := range h.Events {
			got.Events++
			got.Bytes += float64(proto.Size(e))
			switch {
			case e.GetWorkflowTaskCompletedEventAttributes() != nil:
				got.Turns++
			case e.GetActivityTaskCompletedEventAttributes() != nil:
				got.Activities++
			case e.GetWorkflowExecutionSignaledEventAttributes() != nil:
				got.Signals++
			case e.GetMarkerRecordedEventAttributes() != nil:
				got.Markers++
			}
		}
	}
	for _, v := range []*float64{&got.Events, &got.Bytes, &got.Turns, &got.Activities, &got.Signals, &got.Markers} {
		*v = math.Round(*v/steps*10) / 10
	}
	shown.Figure(t, "an agent step: %+v", got)
	if *update {
		b, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		write(t, stepFile, string(b)+"\n")
	}
	was := measured(t)
	for name, v := range map[string][2]float64{
		"events": {got.Events, was.Events}, "bytes": {got.Bytes, was.Bytes}, "activities": {got.Activities, was.Activities},
	} {
		if v[0] > v[1]*1.25 || v[0] < v[1]/1.25 {
			t.Errorf("a step has %.1f %s, and %s says %.1f: run this test with -update, and write the sums again", v[0], name, stepFile, v[1])
		}
	}
}

func measured(t *testing.T) (s sizing.Step) {
	t.Helper()
	b, err := os.ReadFile(stepFile)
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSumsTakeWhatIsDone: the sums are made for the heartbeats that hosts send, and for the
// looks of clients.
func TestSumsTakeWhatIsDone(t *testing.T) {
	t.Parallel()
	u := sizing.Usual()
	for what, v := range map[string][2]float64{
		"heartbeats": {u.Beat, temporal.BeatEvery.Seconds()}, "queries": {u.Look, temporal.LookLate.Seconds()}, "looks": {u.Prove, temporal.ProveEvery.Seconds()},
	} {
		if math.Abs(v[0]-v[1]) > 1e-6 {
			t.Errorf("%s: the sums take %v seconds between two, and it is %v", what, v[0], v[1])
		}
	}
}

// TestSumsOfThePage: the sums of the documentation are those that cmd/sums prints
// (-update writes them).
func TestSumsOfThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.FromSlash(sumsPage))
	if err != nil {
		t.Fatal(err)
	}
	const from, to = "<!-- sums: go run ./cmd/sums -->\n", "<!-- end of sums -->"
	before, rest, ok := bytes.Cut(page, []byte(from))
	have, after, ended := bytes.Cut(rest, []byte(to))
	if !ok || !ended {
		t.Fatal("the page has no place for the sums")
	}
	want := sizing.Table(sizing.Usual(), measured(t))
	if *update {
		write(t, filepath.FromSlash(sumsPage), string(before)+from+want+to+string(after))
		return
	}
	if string(have) != want {
		t.Errorf("the page has\n%s\nand cmd/sums prints\n%s", have, want)
	}
}
