package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/demo"
)

type demoOptions struct {
	keep bool
	json bool
}

func (a *app) demoCommand() *cobra.Command {
	var o demoOptions
	cmd := command("demo", "show how Belay handles failures, in seconds, without a key or a network", 0, 0,
		func(ctx context.Context, _ *cobra.Command, _ []string) error { return a.demo(ctx, o) })
	cmd.Long = `Show how Belay handles failures, in seconds.

The demo makes a temporary repository with a small task and scripted agents, and starts
a real run. In this run a test fails, an agent claims work that it has not done, an
agent hangs, the quota of an account is used up, a recipe fails, a recipe calls itself
without end, and a recipe has no step for the task. Belay itself is killed with kill -9
and resumed. The demo needs git and bash, and no key or network. It uses its own state
directory and settings and removes them at the end. It exits with 0 if everything that
it promises was seen.`
	f := cmd.Flags()
	f.BoolVar(&o.keep, "keep", false, "keep the temporary folder, and print its path")
	f.BoolVar(&o.json, "json", false, "print what was promised and seen as one JSON object; the rest goes to stderr")
	return cmd
}

func (a *app) demo(ctx context.Context, o demoOptions) error {
	exe, err := a.self()
	if err != nil {
		return err
	}
	show := demo.Demo{Self: exe, Env: a.environ, Out: a.out, Width: a.outWidth(), Colour: a.sheet().colour, Keep: o.keep}
	if o.json {
		show.Out, show.Width, show.Colour = unheard{a.std.Err}, a.errWidth(), a.style().Colour
	}
	if a.quiet {
		show.Out = io.Discard
	}
	ctx, at := attend(ctx, nil)
	told, err := show.Play(ctx)
	if s := at.stop(); s != nil {
		if !errors.Is(err, s) {
			err = errors.Join(s, err)
		}
		return exit.New(s.ExitCode(), "demo", err, "")
	}
	if err != nil {
		return err
	}
	switch {
	case o.json:
		a.object(told)
	case !a.quiet || !told.OK || o.keep:
		a.demoTable(told)
	}
	if missing := told.Missing(); len(missing) > 0 {
		return exit.New(exit.Failed, "demo", fmt.Errorf("promised and not seen: %s", strings.Join(missing, "; ")), "look for yourself with "+a.name()+" demo --keep")
	}
	return nil
}

// unheard is a stream of which it does not matter whether anybody listens.
type unheard struct{ w io.Writer }

func (t unheard) Write(p []byte) (int, error) {
	_, _ = t.w.Write(p) // the answer is on the other stream
	return len(p), nil
}

// demoTable prints what was promised and what was seen.
func (a *app) demoTable(t demo.Told) {
	rows := [][]string{{"", "PROMISED", "SEEN"}}
	for _, p := range t.Promises {
		mark := "✓"
		if !p.OK {
			mark = "✗"
		}
		rows = append(rows, []string{mark, p.Promised, p.Seen})
	}
	a.out.line("")
	a.facts(rows)
	took := fmt.Sprintf("%.1f s", float64(t.WallMS)/1000)
	switch {
	case t.Kept != "":
		took += "; kept: " + t.Kept
	default:
		took += "; the temporary folder is removed"
	}
	a.out.lines([]string{
		"", took, "",
		"Next:",
		"  belay doctor            check this machine, and list its agents",
		"  belay new NAME          write a recipe to begin with",
		"  belay rehearse RECIPE   play a recipe of yours; with --matrix, under many faults",
		"  belay do \"TASK\"         let agents carry out a task",
	})
}
