package cli

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	attendant "github.com/belay-run/belay/internal/attend"
	"github.com/belay-run/belay/internal/check"
	"github.com/belay-run/belay/internal/scripted"
	"github.com/belay-run/belay/proc"
)

// Commands that Belay itself starts, and nobody types.

// attendCommand looks after one agent.
func (a *app) attendCommand() *cobra.Command {
	cmd := command("attend ORDER", "look after one agent (started by belay itself)", 1, 1,
		func(ctx context.Context, _ *cobra.Command, args []string) error {
			order, err := attendant.ReadOrder(args[0])
			if err != nil {
				return belay.Exit(belay.ExitInvalid, "attend", err, "")
			}
			code, err := attendant.Attend(ctx, order, attendant.Streams{Out: a.std.Out, Err: a.std.Err})
			if err != nil {
				return belay.Exit(belay.ExitInfra, "attend", err, "")
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
				return belay.Exit(belay.ExitInvalid, "check", err, "")
			}
			code, err := check.Run(ctx, order, a.environ, check.Streams{Out: a.std.Out, Err: a.std.Err})
			if err != nil {
				return belay.Exit(belay.ExitInfra, "check", err, "")
			}
			return quietly(code)
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
	return &belay.Error{Code: code, Err: status(code)}
}
