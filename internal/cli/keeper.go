package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/redact"
)

// keeperCommand is how a driver starts the process that holds a run's steps.
// Nobody types it.
func (a *app) keeperCommand() *cobra.Command {
	cmd := command("keeper DIR SOCKET", "hold the processes of a run (started by belay itself)", 2, 2,
		func(ctx context.Context, _ *cobra.Command, args []string) error {
			cfg, err := config.Load(a.environ)
			if err != nil {
				return err
			}
			err = proc.Keep(ctx, proc.KeepOptions{
				Dir: args[0], Socket: args[1], Grace: cfg.KeeperGrace.Value,
				Filter: func(mask []string, w io.Writer) io.WriteCloser { return redact.New(mask).Writer(w) },
			})
			if err != nil {
				return belay.Exit(belay.ExitInfra, "keep processes", err, "")
			}
			return nil
		})
	cmd.Hidden = true
	return cmd
}
