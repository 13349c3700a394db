package cli

import (
	"context"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/proc"
	"github.com/belay-run/belay/redact"
)

// keeperCommand is how a driver starts the process that holds a run's steps.
// Nobody types it.
func (a *app) keeperCommand() *cobra.Command {
	cmd := command("keeper DIR SOCKET", "hold the processes of a run (started by belay itself)", 2, 2,
		func(ctx context.Context, _ *cobra.Command, args []string) error {
			runtime.GOMAXPROCS(1) // it waits nearly always; more threads only wake each other
			cfg, err := config.Load(a.environ)
			if err != nil {
				return err
			}
			err = proc.Keep(ctx, proc.KeepOptions{
				Dir: args[0], Socket: args[1], Grace: cfg.KeeperGrace.Value,
				Filter: door(),
			})
			if err != nil {
				return exit.New(exit.Infra, "keep processes", err, "")
			}
			return nil
		})
	cmd.Hidden = true
	return cmd
}

// door is the redaction door of a keeper. Nearly all attempts of a run hide the
// same values, so what was made for the last ones is kept.
func door() func(mask []string, w io.Writer) io.WriteCloser {
	var mu sync.Mutex
	var last []string
	made := redact.New(nil)
	return func(mask []string, w io.Writer) io.WriteCloser {
		mu.Lock()
		defer mu.Unlock()
		if !slices.Equal(mask, last) {
			last, made = mask, redact.New(mask)
		}
		return made.Writer(w)
	}
}
