package temporal_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/temporal"
)

// told is a server that answers each query by the next of some workflows, and goes on
// with the last one.
type told struct {
	client.Client
	by    []*testsuite.TestWorkflowEnvironment
	asked int
}

func (s *told) QueryWorkflow(_ context.Context, _, _, what string, args ...any) (converter.EncodedValue, error) {
	env := s.by[min(s.asked, len(s.by)-1)]
	s.asked++
	return env.QueryWorkflow(what, args...)
}

// twice is a run with a workflow that was, and one whose last tasks were refused.
type twice struct {
	local         *engine.Local
	open          *engine.Open
	was, refused  *testsuite.TestWorkflowEnvironment
	truth, dreams []event.Record
	common        int
}

// decideTwice makes the first part of a run once, and the rest of it twice: at another
// time, and with another end.
func decideTwice(t *testing.T) *twice {
	t.Helper()
	shelf := t.TempDir()
	write(t, filepath.Join(shelf, "root.yaml"), "name: n\nsteps:\n- {id: a, command: 'true'}\n- {id: b, command: 'true'}\n")
	set, err := load(shelf, "root", shelf)
	if err != nil {
		t.Fatal(err)
	}
	w := &twice{}
	if w.local, err = (place{}).open(filepath.Join(t.TempDir(), "state"), nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.local.State.Close() }) // nothing of it is read again
	w.local.Elsewhere = &temporal.Engine{}
	if w.open, err = w.local.Create(engine.Spec{Set: set, Dir: shelf, Vars: map[string]json.RawMessage{}}); err != nil {
		t.Fatal(err)
	}
	parcel, err := w.open.Copy().Parcel()
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2030, 1, 2, 3, 4, 5, 6, time.UTC)
	play := func(at time.Time, begun []event.Record, fails bool) (*testsuite.TestWorkflowEnvironment, []event.Record) {
		env := played(t, parcel, temporal.Start{Run: w.open.ID, Host: "h", Records: begun}, at, fails)
		return env, pages(t, env)
	}
	_, first := play(at, nil, false)
	for first[w.common].Event.Kind() != (event.AttemptEnded{}).Kind() {
		w.common++
	}
	w.common++
	w.was, w.truth = play(at.Add(2*time.Hour), first[:w.common], false)
	w.refused, w.dreams = play(at.Add(time.Hour), first[:w.common], true)
	return w
}

// played is the workflow of a run that has ended.
func played(t *testing.T, p engine.Parcel, in temporal.Start, at time.Time, fails bool) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestWorkflowEnvironment()
	env.SetStartTime(at)
	m := &machine{env: env, done: map[belay.Key]bool{}, began: map[belay.Key]int{}}
	do := func(_ context.Context, in temporal.DoIn) (temporal.Done, error) {
		end := m.end(in.Job.Key)
		if fails {
			e, _ := end.Event.(event.AttemptEnded)
			e.Observation = effect.Observation{Began: true, Exit: 1, Started: e.Observation.Started, Ended: e.Observation.Ended}
			end.Event = e
		}
		return temporal.Done{Facts: temporal.Facts{end}}, nil
	}
	env.RegisterWorkflowWithOptions(temporal.Workflows{}.Tree, workflow.RegisterOptions{Name: temporal.TreeWorkflow})
	for name, f := range map[string]any{"Attach": m.attach, "Do": do, "Keep": func(context.Context, temporal.KeepIn) error { return nil },
		"Ask": func(context.Context, temporal.AskIn) (temporal.Answered, error) { return temporal.Answered{}, nil }} {
		env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	env.ExecuteWorkflow(temporal.TreeWorkflow, p, in)
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	return env
}

// pages are all records of a workflow.
func pages(t *testing.T, env *testsuite.TestWorkflowEnvironment) []event.Record {
	t.Helper()
	v, err := env.QueryWorkflow("records", int64(0))
	var page temporal.Page
	if err == nil {
		err = v.Get(&page)
	}
	if err != nil || int64(len(page.Records)) != page.Seq {
		t.Fatalf("%d of %d records: %v", len(page.Records), page.Seq, err)
	}
	return page.Records
}

// fetched is the copy after a fetch from workflows that answer in turn.
func (w *twice) fetched(t *testing.T, by ...*testsuite.TestWorkflowEnvironment) {
	t.Helper()
	if err := (&temporal.Engine{Client: &told{by: by}}).Fetch(w.open.Copy()); err != nil {
		t.Fatal(err)
	}
}

// isTrue holds the copy against the records that were, in memory and on disk.
func (w *twice) isTrue(t *testing.T) {
	t.Helper()
	recs, err := w.open.Records()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(recs, w.truth) {
		t.Errorf("the copy has\n%v\nand the run\n%v", recs, w.truth)
	}
	if s := w.open.Tree.Status(); s != belay.Achieved {
		t.Errorf("the run is %s by the copy", s)
	}
	view, err := w.local.State.View(w.open.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = view.Close() }() // read only
	if recs, err = view.Load(); err != nil || len(recs) != len(w.truth) {
		t.Errorf("who looks sees %d records: %v", len(recs), err)
	}
}

// TestRefusedRecordsAreNotTaken: what a workflow task decided that the server refused
// does not get into the copy of who asked meanwhile.
//
// promise: K1
func TestRefusedRecordsAreNotTaken(t *testing.T) {
	t.Parallel()
	w := decideTwice(t)
	w.fetched(t, w.refused, w.was)
	w.isTrue(t)
}

// TestCopyWithRefusedRecordsHeals: a copy that has such records, more of them or fewer
// than there are now, becomes that of the run.
//
// promise: K1
func TestCopyWithRefusedRecordsHeals(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 1000} {
		w := decideTwice(t)
		if err := w.open.Copy().Take(w.dreams[:min(w.common+n, len(w.dreams))]); err != nil {
			t.Fatal(err)
		}
		w.fetched(t, w.was)
		w.isTrue(t)
		if err := w.open.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCopyThatDoesNotFitHeals: a copy of an older Belay, which has records of two ends
// of a run, can be opened, and becomes that of the run.
//
// promise: K1
func TestCopyThatDoesNotFitHeals(t *testing.T) {
	t.Parallel()
	w := decideTwice(t)
	mixed := append(w.truth[:w.common:w.common], w.truth[len(w.truth)-2:]...)
	for i := range mixed {
		mixed[i].Seq = int64(i + 1)
	}
	_ = w.open.Copy().Take(mixed) // they are on disk; that they do not fit may be said
	if err := w.open.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.local.Resume(w.open.ID); err == nil {
		t.Fatal("records that do not fit are folded")
	}
	write(t, filepath.Join(string(w.open.Copy().Folder()), "driven-elsewhere"), temporal.DrivenBy+"\n")
	w.local.Elsewhere = &temporal.Engine{Client: &told{by: []*testsuite.TestWorkflowEnvironment{w.was}}}
	open, err := w.local.Resume(w.open.ID)
	if err != nil {
		t.Fatal(err)
	}
	w.open = open
	w.isTrue(t)
	if err := open.Close(); err != nil {
		t.Fatal(err)
	}
}
