package temporal_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/temporal"
)

// machine is a host for a workflow that no server runs: every attempt ends well.
type machine struct {
	env   *testsuite.TestWorkflowEnvironment
	done  map[belay.Key]bool
	began map[belay.Key]int
	opens [][]belay.Key // what was open, at each attach
}

func (m *machine) end(k belay.Key) event.Record {
	run, _ := k.Step()
	now := time.Now()
	m.done[k] = true
	return event.Record{Run: run, Event: event.AttemptEnded{Key: k, Observation: effect.Observation{Began: true, Started: now, Ended: now}}}
}

func (m *machine) attach(_ context.Context, in temporal.AttachIn) (got temporal.Attached, err error) {
	m.opens = append(m.opens, in.Open)
	for _, k := range in.Open {
		run, _ := k.Step()
		if m.done[k] {
			got.Facts = append(got.Facts, event.Record{Run: run, Event: event.AttemptFound{Key: k, How: fault.Harvested}}, m.end(k))
		} else {
			got.Facts = append(got.Facts, event.Record{Run: run, Event: event.AttemptFound{Key: k, How: fault.Unborn}})
		}
	}
	return got, nil
}

// do makes an attempt. While the first one ends its host comes back, under another
// process: both are told in one task of the workflow.
func (m *machine) do(_ context.Context, in temporal.DoIn) (temporal.Facts, error) {
	m.began[in.Job.Key]++
	if len(m.began) == 1 {
		m.env.SignalWorkflowSkippingWorkflowTask("back", "h")
	}
	return temporal.Facts{m.end(in.Job.Key)}, nil
}

// TestHostComesBackAsAnAttemptEnds: what ended is on record before the tree is taken
// again, so that it is not found as open too. In the other order the run was failed for
// good.
//
// promise: K1
func TestHostComesBackAsAnAttemptEnds(t *testing.T) {
	t.Parallel()
	shelf := t.TempDir()
	write(t, filepath.Join(shelf, "root.yaml"), "name: n\nsteps:\n- {id: a, command: 'true'}\n- {id: b, command: 'true'}\n")
	set, err := load(shelf, "root", shelf)
	if err != nil {
		t.Fatal(err)
	}
	local, err := place{}.open(filepath.Join(t.TempDir(), "state"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = local.State.Close() }() // nothing of it is read again
	open, err := local.Create(engine.Spec{Set: set, Dir: shelf, Vars: map[string]json.RawMessage{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = open.Close() }() // the same
	parcel, err := open.Copy().Parcel()
	if err != nil {
		t.Fatal(err)
	}

	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	m := &machine{env: suite.NewTestWorkflowEnvironment(), done: map[belay.Key]bool{}, began: map[belay.Key]int{}}
	m.env.RegisterWorkflowWithOptions(temporal.Workflows{}.Tree, workflow.RegisterOptions{Name: temporal.TreeWorkflow})
	for name, f := range map[string]any{"Attach": m.attach, "Do": m.do, "Keep": func(context.Context, temporal.KeepIn) error { return nil }} {
		m.env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	m.env.ExecuteWorkflow(temporal.TreeWorkflow, parcel, temporal.Start{Run: open.ID, Host: "h"})
	if err := m.env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	var end temporal.Ended
	if err := m.env.GetWorkflowResult(&end); err != nil {
		t.Fatal(err)
	}
	if end.Result.Status != belay.Achieved || len(m.began) != 2 {
		t.Errorf("the run is %s, and %d attempts began", end.Result.Status, len(m.began))
	}
	if len(m.opens) != 2 || len(m.opens[1]) > 1 {
		t.Errorf("open at each attach: %q", m.opens)
	}
	for k, n := range m.began {
		if n != 1 {
			t.Errorf("%s began %d times", k, n)
		}
	}
}
