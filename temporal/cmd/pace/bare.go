package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// The two kinds of steps. The recipes of the benchmark have the same: call: value, and
// command: "true".
const (
	noop = "noop"
	bash = "bash"
)

const bareWorkflow = "pace.bare"

// bareWorker has a workflow with nothing in it but activities, one after the other.
func bareWorker(ctx context.Context, c client.Client, queue string, slots int) error {
	w := worker.New(c, queue, worker.Options{MaxConcurrentActivityExecutionSize: slots, DisableEagerActivities: true})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context, kind string, steps int) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: time.Hour, HeartbeatTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
		})
		for i := range steps {
			if err := workflow.ExecuteActivity(ctx, kind, i).Get(ctx, nil); err != nil {
				return err
			}
		}
		return nil
	}, workflow.RegisterOptions{Name: bareWorkflow})
	w.RegisterActivityWithOptions(func(_ context.Context, i int) (string, error) { return fmt.Sprint(i), nil }, activity.RegisterOptions{Name: noop})
	w.RegisterActivityWithOptions(func(ctx context.Context, _ int) (string, error) {
		out, err := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", "true").CombinedOutput()
		return string(out), err
	}, activity.RegisterOptions{Name: bash})
	if err := w.Start(); err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, "ready")
	<-ctx.Done()
	w.Stop()
	return nil
}

// bare runs workflows of it at once.
func (p *pace) bare(ctx context.Context, kind string, steps, runs int) (ids []string, err error) {
	var all []client.WorkflowRun
	for i := range runs {
		run, err := p.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: p.fresh("bare", i), TaskQueue: p.queue + "-bare"}, bareWorkflow, kind, steps)
		if err != nil {
			return nil, err
		}
		all = append(all, run)
	}
	for _, run := range all {
		if err := run.Get(ctx, nil); err != nil {
			return nil, err
		}
		ids = append(ids, run.GetID())
	}
	return ids, nil
}
