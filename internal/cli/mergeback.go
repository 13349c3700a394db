package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/step"
)

// mergebackCommand brings the work of an isolated step back.
func (a *app) mergebackCommand() *cobra.Command {
	cmd := command("mergeback ORDER", "bring isolated work into its run's tree (started by belay itself)", 1, 1,
		func(ctx context.Context, _ *cobra.Command, args []string) error {
			if err := step.MergeBack(ctx, args[0]); err != nil {
				return exit.New(exit.Infra, "", err, "")
			}
			return nil
		})
	cmd.Hidden = true
	return cmd
}
