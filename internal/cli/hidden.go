package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/check"
	"github.com/belay-run/belay/internal/scripted"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/verdict"
)

// Commands that Belay itself starts, and nobody types.

// attendCommand looks after one agent.
func (a *app) attendCommand() *cobra.Command {
	cmd := command("attend ORDER", "look after one agent (started by belay itself)", 1, 1,
		func(ctx context.Context, _ *cobra.Command, args []string) error {
			order, err := supervise.ReadOrder(args[0])
			if err != nil {
				return exit.New(exit.Invalid, "attend", err, "")
			}
			code, err := supervise.Run(ctx, order, supervise.Streams{Out: a.std.Out, Err: a.std.Err}, func(n int) string {
				return engine.RefusedStart(order.State, order.Tree, belay.Key(order.Tally)+order.Key, n)
			})
			if err != nil {
				return exit.New(exit.Infra, "attend", err, "")
			}
			return quietly(code)
		})
	cmd.Hidden = true
	return cmd
}

// checkCommand makes one check.
func (a *app) checkCommand() *cobra.Command {
	cmd := command("check ORDER", "run the tests of a directory, or ask for its pull requests (started by belay itself)", 1, 1,
		func(ctx context.Context, _ *cobra.Command, args []string) error {
			order, err := check.ReadOrder(args[0])
			if err != nil {
				return exit.New(exit.Invalid, "check", err, "")
			}
			r, err := check.Run(ctx, order, a.environ, check.Streams{Out: a.std.Out, Err: a.std.Err})
			if err != nil {
				return exit.New(exit.Infra, "check", err, "")
			}
			if r.PR != nil {
				_, _ = fmt.Fprintln(a.std.Out, verdict.Requested(*r.PR)) // the log is for people: the report counts
			}
			if verdict.Shortfall(r) != nil {
				return quietly(exit.Failed)
			}
			return nil
		})
	cmd.Hidden = true
	return cmd
}

// nsinitCommand is the first process of a PID namespace.
func (a *app) nsinitCommand() *cobra.Command {
	cmd := command("nsinit PROGRAM [ARG…]", "be the first process of a namespace (started by belay itself)", 1, -1,
		func(_ context.Context, _ *cobra.Command, args []string) error { return quietly(proc.NSInit(args)) })
	cmd.Hidden, cmd.DisableFlagParsing = true, true
	return cmd
}

// scriptedCommand plays the scripted agent.
func (a *app) scriptedCommand() *cobra.Command {
	cmd := command("scripted SCRIPT", "play a scripted agent (started by belay itself)", 1, -1,
		func(_ context.Context, _ *cobra.Command, args []string) error {
			return quietly(scripted.Main(args, os.Stdin, os.Stdout, os.Stderr)) //nolint:contextcheck // it is a program of its own and ends by signals
		})
	cmd.Hidden, cmd.DisableFlagParsing = true, true
	return cmd
}

// status is an exit code that says everything.
type status int

func (s status) Error() string { return "ended" }

// quietly is the error for an exit code about which nothing is to be printed.
func quietly(code int) error {
	if code == 0 {
		return nil
	}
	return &exit.Error{Code: code, Err: status(code)}
}
