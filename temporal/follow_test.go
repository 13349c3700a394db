package temporal_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/temporal"
)

// TestFollowingIsCheap follows a run in which nothing happens for half an hour: it is asked about less
// and less often. What a person wants of it is handed on at once all the same, and what comes
// after that is looked at soon.
//
// promise: X
func TestFollowingIsCheap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"root.yaml": "name: n\nsteps: [{id: a, command: sleep 1800}]\n", "config.yaml": ""} {
		write(t, filepath.Join(dir, name), text)
	}
	local, err := place{Agents: dir}.open(filepath.Join(dir, "state"), os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = local.State.Close() }) // nothing of it is read again
	set, err := load(dir, "root", dir)
	if err != nil {
		t.Fatal(err)
	}
	c := &quietRun{}
	local.Elsewhere = &temporal.Engine{Client: c, CloneFrom: temporal.CloneNever}
	open, err := local.Create(engine.Spec{Set: set, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		c.began = time.Now()
		done := make(chan error, 1)
		go func() {
			_, err := open.Drive(context.Background(), nil, nil)
			done <- err
		}()
		time.Sleep(30*time.Minute - 10*time.Millisecond)
		looks, proofs := c.looks, c.proofs
		if per := time.Since(c.began).Seconds() / float64(looks); per < 4.5 || per > 5 {
			t.Errorf("%d queries in half an hour: one each %.1f seconds", looks, per)
		}
		if proofs > 181 || proofs < 100 {
			t.Errorf("it was looked %d times whether its workflow is there", proofs)
		}
		asked := time.Now()
		if _, err := local.State.Put(event.Request{Run: open.ID, By: "somebody", Ask: event.RequestPause}); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if late := c.told.Sub(asked); c.told.IsZero() || late > 100*time.Millisecond {
			t.Errorf("what a person wants was handed on after %s", late)
		}
		if late := time.Since(c.told); late > 100*time.Millisecond {
			t.Errorf("what came of it was seen %s after that", late)
		}
		t.Logf("%d queries and %d looks at the workflow in half an hour; a pause is handed on after %s, and seen %s after that",
			looks, proofs, c.told.Sub(asked), time.Since(c.told))
	})
	if err := open.Close(); err != nil {
		t.Fatal(err)
	}
}

// quietRun is a client of a server with a run in which nothing happens until it is paused.
type quietRun struct {
	client.Client
	began, told   time.Time
	first         event.RunStarted
	looks, proofs int
}

func (c *quietRun) ExecuteWorkflow(_ context.Context, _ client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	if p, ok := args[0].(engine.Parcel); ok {
		c.first = p.Started
	}
	return nil, nil
}

func (c *quietRun) QueryWorkflow(_ context.Context, workflow, _, _ string, args ...any) (converter.EncodedValue, error) {
	c.looks++
	p := temporal.Page{Seq: 1, Stored: 1, Status: belay.Running}
	if after, ok := args[0].(int64); ok && after == 0 {
		p.Records = []event.Record{{Seq: 1, At: c.began, Run: belay.RunID(workflow[len("belay-"):]), Event: c.first}}
	}
	p.Asleep = !c.told.IsZero()
	return page(p), nil
}

func (c *quietRun) UpdateWorkflow(context.Context, client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	c.told = time.Now()
	return taken{}, nil
}

func (c *quietRun) DescribeWorkflowExecution(context.Context, string, string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	c.proofs++
	return &workflowservice.DescribeWorkflowExecutionResponse{
		WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING},
	}, nil
}

// taken is an update that was taken.
type taken struct{ client.WorkflowUpdateHandle }

func (taken) Get(context.Context, any) error { return nil }

// page is an answer to a query.
type page temporal.Page

func (page) HasValue() bool { return true }

func (p page) Get(to any) error {
	b, err := converter.GetDefaultDataConverter().ToPayload(temporal.Page(p))
	if err != nil {
		return err
	}
	return converter.GetDefaultDataConverter().FromPayload(b, to)
}
