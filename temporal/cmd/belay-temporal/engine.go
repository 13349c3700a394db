package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"

	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/temporal"
)

// other is the engine on Temporal, for the command line. How the server is reached
// is said by flags, else by the variables that all programs of Temporal read
// (TEMPORAL_ADDRESS, TEMPORAL_API_KEY, TEMPORAL_TLS…), else by the settings of this
// machine's user, else by the file that those programs read (temporal.toml).
type other struct {
	version string

	address, namespace, profile string
	queue, host, blobs          string
	lost, snapshots, clone      string
	labels                      []string
	tls, moves                  bool
}

// The variables of the environment that are Belay's own.
const (
	envQueue = "BELAY_TEMPORAL_TASK_QUEUE"
	envHost  = "BELAY_TEMPORAL_HOST"
	envLabel = "BELAY_TEMPORAL_RUNS_ON"
	envBlobs = "BELAY_TEMPORAL_BLOBS"
	envLost  = "BELAY_TEMPORAL_LOST_AFTER"
	envSnaps = "BELAY_TEMPORAL_SNAPSHOTS"
	envClone = "BELAY_TEMPORAL_CLONE_FROM"
)

const defaultQueue = "belay"

// A connection that has gone dead is noticed, and made anew, well before a worker is
// taken for lost.
const (
	aliveEvery  = 10 * time.Second
	aliveWithin = 5 * time.Second
)

func (o *other) Name() string { return temporal.DrivenBy }

func (o *other) Flags(f *pflag.FlagSet) {
	f.StringVar(&o.address, "address", "", "host and port of the Temporal server (TEMPORAL_ADDRESS; default 127.0.0.1:7233)")
	f.StringVar(&o.namespace, "namespace", "", "namespace there (TEMPORAL_NAMESPACE; default: default)")
	f.StringVar(&o.profile, "profile", "", "profile in the file of Temporal's settings (TEMPORAL_PROFILE)")
	f.BoolVar(&o.tls, "tls", false, "reach the server by TLS (TEMPORAL_TLS; certificates and API key: by TEMPORAL_TLS_… and TEMPORAL_API_KEY)")
	f.StringVar(&o.queue, "task-queue", "", "task queue of the workflows ("+envQueue+"; default "+defaultQueue+")")
	f.StringVar(&o.host, "host", "", "the worker that has the files of a new run, by its name ("+envHost+"; default: any; of a worker: this machine's name)")
	f.StringSliceVar(&o.labels, "runs-on", nil, "labels that the worker of a new run must have, beside those of its recipe ("+envLabel+")")
	f.StringVar(&o.lost, "lost-after", "", fmt.Sprintf("how long the worker of a new run may say nothing before it is given up; 0 = it is waited for (%s; default %s)", envLost, temporal.LostAfter))
	f.StringVar(&o.snapshots, "snapshots-to", "", "a remote of git, by its name or URL, to which the files of a new run are pushed, so that any worker can have it, and go on with it when the first is lost ("+envSnaps+"; default: nothing leaves a machine)")
	f.StringVar(&o.clone, "clone-from", "", "a remote of git, by its name or URL, of which the worker of a new run makes a checkout of its own at the commit that is checked out here ("+envClone+"; default: origin, by workers that do not have the directory, when all is committed and pushed; none = by no worker)")
	f.BoolVar(&o.moves, "elsewhere", false, "with resume: on another worker than the one that was given up")
	f.StringVar(&o.blobs, "blobs", "", "directory for big payloads, which all workers and clients see ("+envBlobs+"; default: none, they are only packed)")
}

// Settings are the flags as variables, for processes that this one starts.
func (o *other) Settings() []string {
	var env []string
	for name, v := range map[string]string{
		"TEMPORAL_ADDRESS": o.address, "TEMPORAL_NAMESPACE": o.namespace, "TEMPORAL_PROFILE": o.profile,
		envQueue: o.queue, envHost: o.host, envLabel: strings.Join(o.labels, ","), envBlobs: o.blobs, envLost: o.lost, envSnaps: o.snapshots, envClone: o.clone,
	} {
		if v != "" {
			env = append(env, name+"="+v)
		}
	}
	if o.tls {
		env = append(env, "TEMPORAL_TLS=true")
	}
	return env
}

// variables are those of the process, and over them those that were made of settings.
type variables struct{ env func(string) string }

// Environ is that of the process: what begins as the program's own is looked up by name.
func (variables) Environ() []string { return os.Environ() }

// LookupEnv is one of them.
func (v variables) LookupEnv(name string) (string, bool) {
	if text := v.env(name); text != "" {
		return text, true
	}
	return os.LookupEnv(name)
}

// dial reaches the server.
func (o *other) dial(ctx context.Context, env func(string) string, metrics client.MetricsHandler) (client.Client, error) {
	opts, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{ConfigFileProfile: cmp.Or(o.profile, env("TEMPORAL_PROFILE")), EnvLookup: variables{env}})
	if err != nil {
		return nil, exit.New(exit.Invalid, "read the settings of Temporal", err, "see docs/howto/run-on-temporal.md")
	}
	opts.HostPort = cmp.Or(o.address, env("TEMPORAL_ADDRESS"), opts.HostPort, client.DefaultHostPort)
	opts.Namespace = cmp.Or(o.namespace, env("TEMPORAL_NAMESPACE"), opts.Namespace, client.DefaultNamespace)
	opts.ConnectionOptions.KeepAliveTime, opts.ConnectionOptions.KeepAliveTimeout = aliveEvery, aliveWithin
	if o.tls && opts.ConnectionOptions.TLS == nil {
		opts.ConnectionOptions.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	opts.Logger, opts.MetricsHandler = quiet{os.Stderr}, metrics
	opts.Identity = fmt.Sprintf("belay-temporal %s %d", machine(), os.Getpid())
	opts.DataConverter = o.codec(env).Converter()
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	c, err := client.DialContext(ctx, opts)
	if err != nil {
		return nil, exit.New(exit.Infra, "reach Temporal at "+opts.HostPort, err, "check --address, --namespace, TLS and the API key")
	}
	return c, nil
}

// codec keeps what is big where the settings say.
func (o *other) codec(env func(string) string) temporal.Codec {
	return temporal.Codec{Dir: cmp.Or(o.blobs, env(envBlobs))}
}

// Open reaches the server for a command.
func (o *other) Open(ctx context.Context, env func(string) string) (engine.Elsewhere, func(), error) {
	lost, err := lostAfter(cmp.Or(o.lost, env(envLost)))
	if err != nil {
		return nil, nil, err
	}
	c, err := o.dial(ctx, env, nil)
	if err != nil {
		return nil, nil, err
	}
	at := &temporal.Engine{
		Client: c, Queue: cmp.Or(o.queue, env(envQueue), defaultQueue), Host: cmp.Or(o.host, env(envHost)),
		Labels: o.runsOn(env), Lost: lost, Moves: o.moves, Snapshots: cmp.Or(o.snapshots, env(envSnaps)),
		CloneFrom: cmp.Or(o.clone, env(envClone)), Near: machine(), Say: func(text string) { fmt.Fprintln(os.Stderr, "belay: "+text) },
	}
	if at.Snapshots != "" && at.CloneFrom != "" && at.CloneFrom != temporal.CloneNever {
		c.Close()
		return nil, nil, exit.New(exit.Usage, "", errors.New("--snapshots-to and --clone-from are two ways to bring the files of a run to its worker"), "give one of them")
	}
	return at, c.Close, nil
}

// runsOn are the labels that were said.
func (o *other) runsOn(env func(string) string) []string {
	if len(o.labels) > 0 || env(envLabel) == "" {
		return o.labels
	}
	return strings.Split(env(envLabel), ",")
}

// lostAfter reads how long a worker may say nothing.
func lostAfter(text string) (time.Duration, error) {
	if text == "" {
		return temporal.LostAfter, nil
	}
	d, err := time.ParseDuration(text)
	if err == nil && d != 0 && d < temporal.LeastLost {
		err = fmt.Errorf("%s is too short for a worker to prove that it is there", d)
	}
	if err != nil {
		return 0, exit.New(exit.Usage, "", fmt.Errorf("--lost-after %q: %w", text, err), fmt.Sprintf("at least %s, as 90s or 5m; 0 = a worker is waited for", temporal.LeastLost))
	}
	return d, nil
}

// Worker is the command worker.
func (o *other) Worker(f *pflag.FlagSet) func(context.Context, func(string) string, *engine.Local, func(string)) error {
	slots := f.Int("slots", 0, "attempts at the same time (default: what this machine's memory holds, at 1 GiB each)")
	drain := f.Duration("drain", 0, "how long attempts may go on when the worker is told to end; after that their keepers have them alone, for the next worker")
	listen := f.String("listen", "", "address for /healthz and /metrics, as 127.0.0.1:9464 (default: none)")
	labels := f.StringSlice("labels", nil, "what this machine is good for: runs that want a label are placed on a worker that has it")
	return func(ctx context.Context, env func(string) string, local *engine.Local, say func(string)) error {
		alone, err := local.State.LockWorker()
		if err != nil {
			return err
		}
		defer alone.Release()
		m := temporal.NewMetrics()
		c, err := o.dial(ctx, env, m)
		if err != nil {
			return err
		}
		defer c.Close()
		w := temporal.Worker{
			Client: c, Queue: cmp.Or(o.queue, env(envQueue), defaultQueue), Host: cmp.Or(o.host, env(envHost), machine()),
			Engine: local, Version: o.version, Slots: *slots, Drain: *drain, Metrics: m, Labels: *labels, Codec: o.codec(env), State: alone.ID, Machine: machine(),
			Warn: func(text string) { fmt.Fprintln(os.Stderr, "belay: "+text) },
		}
		if *listen != "" {
			end, at, err := m.Serve(ctx, *listen)
			if err != nil {
				return exit.New(exit.Infra, "listen", err, "name another address with --listen")
			}
			defer end()
			say("health and metrics: http://" + at + "/healthz and /metrics")
		}
		err = w.Run(ctx, func() { say(fmt.Sprintf("worker %s is ready: queue %s, state %s", w.Host, w.Queue, local.State.Dir())) })
		var said *exit.Error
		switch {
		case err == nil, errors.Is(err, context.Canceled), ctx.Err() != nil:
			return nil
		case !errors.As(err, &said):
			return exit.New(exit.Infra, "work", err, "")
		}
		return err
	}
}

// machine is the name of this machine.
func machine() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "localhost"
	}
	return strings.ToLower(name)
}
