package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"syscall"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/cli"
)

const (
	helperName = "belay-helper" // the name that a helper is started by
	driveWord  = "drive"        // its first argument, to drive a run
	agentWord  = "agent"        // to be an agent
)

// Serve makes this program able to run recipes, and gives the [Client] that does.
// Call it once, before anything else, best in a package variable:
//
//	var belay = client.Serve()
//
// Where the program was started by Belay as one of the processes of a run, Serve
// does that work and exits; main is not reached. It panics when agents cannot be
// used as they are, so that the first start of the program tells.
func Serve(agents ...Agent) *Client {
	if err := checkAgents(agents); err != nil {
		panic("client.Serve: " + err.Error()) //nolint:forbidigo // a mistake in the source of a program, as of regexp.MustCompile
	}
	if filepath.Base(os.Args[0]) == helperName {
		os.Exit(exit.Code(serve(agents, os.Args))) //nolint:forbidigo // this process is one of a run, and has no main of its own
	}
	return &Client{served: true}
}

// serve is a process of a run.
func serve(agents []Agent, args []string) error {
	cli.Settle()
	p := cli.Program{Version: version(), Path: args[0]}
	for _, a := range agents {
		p.Agents = append(p.Agents, agent.Agent{Name: a.Name, Kind: agent.Command, Program: []string{p.Path, agentWord, a.Name}})
	}
	switch {
	case len(args) == 3 && args[1] == agentWord:
		return actAs(agents, args[2])
	case len(args) == 2 && args[1] == driveWord:
		return serveDriver(p)
	}
	std := cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	return cli.Main(context.Background(), std, args[1:], os.Environ(), p)
}

// serveDriver drives a run for the client that wrote the order, and stops when
// that is gone.
func serveDriver(p cli.Program) error {
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return exit.New(exit.Usage, "read order", err, "")
	}
	var o order
	if err := json.Unmarshal(line, &o); err != nil {
		return exit.New(exit.Usage, "read order", err, "")
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() { // it ends with the process: who waits for it would wait for the client
		_, _ = io.Copy(io.Discard, in) // whatever ends it, nobody is there any more
		cancel(errGone)
	}()
	p.Vars = o.Vars
	err = cli.Main(ctx, cli.Streams{Out: os.Stdout, Err: os.Stderr}, o.Args, os.Environ(), p)
	var run *belay.RunError
	if err == nil || errors.As(err, &run) {
		return err
	}
	var coded *exit.Error
	end := ending{Kind: failed, Error: err.Error(), RunResult: belay.RunResult{Code: exit.Code(err)}}
	if errors.As(err, &coded) {
		end.Hint = coded.Hint
	}
	_ = json.NewEncoder(os.Stdout).Encode(end) // the code says it, too
	return err
}

var errGone = errors.New("the program that started it stopped it, or ended")

// actAs is an agent: the prompt on stdin, the answer on stdout.
func actAs(agents []Agent, name string) error {
	i := slices.IndexFunc(agents, func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return fmt.Errorf("the first client.Serve of this program has no agent %q", name)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	task, err := readTask()
	if err != nil {
		return err
	}
	out := os.Stdout
	os.Stdout = os.Stderr // what the function prints is a sign of life, not the answer
	answer, err := agents[i].Do(ctx, task)
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err) // a closed stderr changes nothing
		return err
	}
	_, err = io.WriteString(out, answer)
	return err
}

// version is that of Belay in this program.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(devel)"
	}
	for _, m := range info.Deps {
		if m.Path == "github.com/belay-run/belay" {
			return m.Version
		}
	}
	return info.Main.Version
}
