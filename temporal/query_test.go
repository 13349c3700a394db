package temporal_test

import (
	"context"
	"errors"
	"testing"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/temporal"
)

// TestQueryThatFails asks a workflow whose first answers are errors, as those of a
// replay that does not fit are: it is asked again, and not for ever.
func TestQueryThatFails(t *testing.T) {
	t.Parallel()
	c, err := place{Server: devServer(t), Blobs: t.TempDir()}.dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for _, want := range []struct {
		name  string
		fails int // the first answers
		asked int
		ok    bool
	}{
		{"twice", 2, 3, true},
		{"always", 100, 5, false},
	} {
		t.Run(want.name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			answers := func(ctx workflow.Context) error {
				if err := workflow.SetQueryHandler(ctx, "parcel", func() (engine.Parcel, error) {
					if asked++; asked <= want.fails {
						return engine.Parcel{}, errors.New("the replay does not fit")
					}
					return engine.Parcel{Started: event.RunStarted{Name: "n"}}, nil
				}); err != nil {
					return err
				}
				if err := workflow.SetQueryHandler(ctx, "records", func(int64) (temporal.Page, error) { return temporal.Page{}, nil }); err != nil {
					return err
				}
				workflow.GetSignalChannel(ctx, "end").Receive(ctx, nil)
				return nil
			}
			id, queue := belay.RunID("query-"+want.name), "query-"+want.name
			w := worker.New(c, queue, worker.Options{})
			w.RegisterWorkflowWithOptions(answers, workflow.RegisterOptions{Name: "answers"})
			if err := w.Start(); err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "belay-" + string(id), TaskQueue: queue}, "answers")
			if err != nil {
				t.Fatal(err)
			}
			p, _, err := (&temporal.Engine{Client: c}).Begun(id)
			if (err == nil) != want.ok || asked != want.asked || want.ok && p.Started.Name != "n" {
				t.Errorf("asked %d times: %q, %v; want %d times", asked, p.Started.Name, err, want.asked)
			}
			if err := c.SignalWorkflow(t.Context(), run.GetID(), "", "end", nil); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestQueryThatIsDropped asks through a server that gives up the first answers, as one does
// whose worker dies or goes over to a new history in the middle of one.
func TestQueryThatIsDropped(t *testing.T) {
	t.Parallel()
	for _, want := range []struct {
		name  string
		says  error
		drops int
		asked int
		code  int
	}{
		{"twice", serviceerror.NewCanceled("context canceled"), 2, 3, exit.Invalid}, // there is no such run: that is an answer
		{"always", serviceerror.NewCanceled("context canceled"), 100, 5, exit.Infra},
		{"no worker yet", serviceerror.NewFailedPrecondition("no poller seen"), 2, 3, exit.Invalid},
	} {
		t.Run(want.name, func(t *testing.T) {
			t.Parallel()
			c := &dropping{left: want.drops, says: want.says}
			_, _, err := (&temporal.Engine{Client: c}).Begun("run")
			if exit.Code(err) != want.code || c.asked != want.asked {
				t.Errorf("asked %d times: %v; want %d times and code %d", c.asked, err, want.asked, want.code)
			}
		})
	}
}

// dropping is a client whose server gives up the first answers, and then knows of nothing.
type dropping struct {
	client.Client
	says        error
	left, asked int
}

func (c *dropping) QueryWorkflow(context.Context, string, string, string, ...any) (converter.EncodedValue, error) {
	if c.asked++; c.asked <= c.left {
		return nil, c.says
	}
	return nil, serviceerror.NewNotFound("no workflow")
}
