package temporal

import (
	"context"
	"errors"
	"os"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/belay-run/belay/engine"
)

// Worker is one process that works for Temporal: it runs workflows, and is a host.
type Worker struct {
	Client  client.Client
	Queue   string // of workflows
	Host    string // its name: it must be its own, and stay the same
	Engine  *engine.Local
	Version string
	State   string        // what its state directory is known by; "" = nobody looks for another worker with this name
	Machine string        // where it is, for people
	Slots   int           // attempts at the same time
	Drain   time.Duration // how long attempts may go on at the end; after that their keepers have them alone
	Labels  []string      // what it is good for, for runs that say runs_on
	Metrics *Metrics      // nil = nobody counts
	Codec   Codec         // that the client has
	Warn    func(string)  // for whoever looks after the worker; nil = nobody does
}

const (
	controlSlots = 64
	sticky       = time.Second      // how long a workflow waits for the process that knows it
	deadlock     = 20 * time.Second // how long a turn may take
	lastTurns    = time.Second      // for the turns that follow from the last attempts: one that is given to a worker that leaves is missed for half a minute
)

// placeQueue is where a run is placed that has no host yet: on any worker, or on one
// that has the first of some labels. Who takes it looks whether it has the others.
func placeQueue(queue string, labels []string) string {
	if len(labels) == 0 {
		return queue + "-place"
	}
	return queue + "-place-" + labels[0]
}

// Run works until ctx is done.
func (w Worker) Run(ctx context.Context, ready func()) error {
	if err := w.single(ctx); err != nil {
		return err
	}
	h := &Host{Name: w.Host, Engine: w.Engine, Client: w.Client, Labels: w.Labels, Metrics: w.Metrics}
	h.Accounts = &Accounts{
		Client: w.Client, Queue: w.Queue, Host: w.Host, Own: w.Engine.State.Ledger(), Warn: w.Warn,
		Asked: func() { w.Metrics.more("account_asks") },
	}
	w.Engine.Accounts = h.Accounts
	if w.Slots <= 0 {
		w.Slots = slots(os.DirFS("/"))
	}
	w.Metrics.count("slots", int64(w.Slots))
	all := w.workers(h)
	var started []worker.Worker
	defer func() {
		w.Metrics.health(false)
		h.leaving.Store(true)
		for i, s := range started { // first what makes attempts: the others are needed until they have ended
			if s.Stop(); i == 0 {
				<-time.After(lastTurns)
			}
		}
		h.Leave(context.WithoutCancel(ctx))
	}()
	for _, s := range all {
		if err := s.Start(); err != nil {
			return err
		}
		started = append(started, s)
	}
	if err := h.Back(ctx); err != nil {
		return err
	}
	defer w.Metrics.listening(ctx, w.Client)()
	w.Metrics.health(true)
	if ready != nil {
		ready()
	}
	<-ctx.Done()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// workers are those of this process, in the order in which they end.
func (w Worker) workers(h *Host) []worker.Worker {
	work := worker.New(w.Client, workQueue(w.Host), worker.Options{
		DisableWorkflowWorker: true, MaxConcurrentActivityExecutionSize: w.Slots, WorkerStopTimeout: w.Drain,
		MaxHeartbeatThrottleInterval: 5 * time.Second,
	})
	work.RegisterActivityWithOptions(h.Do, activity.RegisterOptions{Name: "Do"})
	all := []worker.Worker{work}
	queues := []string{placeQueue(w.Queue, nil)}
	for _, label := range w.Labels {
		queues = append(queues, placeQueue(w.Queue, []string{label}))
	}
	for _, queue := range queues {
		p := worker.New(w.Client, queue, worker.Options{
			DisableWorkflowWorker: true, MaxConcurrentActivityExecutionSize: 4, MaxConcurrentActivityTaskPollers: 1,
		})
		p.RegisterActivityWithOptions(h.Place, activity.RegisterOptions{Name: "Place"})
		all = append(all, p)
	}
	flows := worker.New(w.Client, w.Queue, worker.Options{
		StickyScheduleToStartTimeout: sticky, DeadlockDetectionTimeout: deadlock, LocalActivityWorkerOnly: true,
		WorkerStopTimeout: deadlock, // a turn that is given up is missed for as long as the server waits for it
	})
	flows.RegisterWorkflowWithOptions(Workflows{Version: w.Version, Codec: w.Codec}.Tree, workflow.RegisterOptions{Name: TreeWorkflow})
	flows.RegisterWorkflowWithOptions(Workflows{}.Account, workflow.RegisterOptions{Name: AccountWorkflow})
	flows.RegisterWorkflowWithOptions(Workflows{}.Files, workflow.RegisterOptions{Name: FilesWorkflow})
	control := worker.New(w.Client, controlQueue(w.Host), worker.Options{
		DisableWorkflowWorker: true, MaxConcurrentActivityExecutionSize: controlSlots, WorkerStopTimeout: time.Second, Identity: w.identity(),
	})
	for name, f := range map[string]any{"Attach": h.Attach, "Kill": h.Kill, "Ask": h.Ask, "Keep": h.Keep, "Files": h.Files, "Account": h.Account, "Here": h.Here, "Place": h.Place} {
		control.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	return append(all, flows, control)
}
