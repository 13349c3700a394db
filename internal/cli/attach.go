package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/story"
)

func (a *app) attachCommand() *cobra.Command {
	cmd := command("attach RUN", "watch a run that another process drives, until it ends or waits for somebody", 1, 1,
		func(ctx context.Context, _ *cobra.Command, args []string) error {
			return a.read(args[0], func(s *runView) error { return a.attach(ctx, s) })
		})
	cmd.Long = `attach shows what belay run shows, of a run that another process drives, and ends
with the exit code of the run. It begins with the last steps that were finished
before. It only reads: Ctrl-C ends attach and leaves the run alone.`
	cmd.ValidArgsFunction = a.completeRun
	return cmd
}

// attach shows a run until it rests. The run is read, and nothing of it is touched.
func (a *app) attach(ctx context.Context, s *runView) error {
	root := s.id.Root()
	live := story.Live(s.Tree)
	live.Add(s.recs...)
	screen := tui.NewScreen(a.std.Err, tui.NewBoard(live), a.style(), tailOf(s.view.Folder))
	screen.Look()
	var tick func(time.Time)
	if a.style().Live {
		tick = screen.Tick
	}
	a.say("run %s of recipe %s; Ctrl-C leaves it alone", root, s.Tree.Started().Name)
	if live.Rest == nil {
		screen.Before(s.Story)
	}
	ctx, at := attend(ctx, tick)
	lost, err := a.watchRun(ctx, s, live, screen)
	sig := at.stop()
	screen.Close()
	switch {
	case sig != nil:
		a.say("run %s goes on without this command; to see it again: %s attach %s", root, a.name(), root)
		return quietly(sig.ExitCode())
	case err != nil:
		return err
	case lost:
		return exit.New(exit.Held, "attach", fmt.Errorf("nobody drives run %s any more", root), fmt.Sprintf("continue it with %s resume %s", a.name(), root))
	}
	acc := s.Account(root, s.facts(time.Now()))
	var g *given // a task tells what came of it in its own words
	if acc.Task == nil {
		g = gave(s.Tree, root, s.view.ReadBlob, "")
	}
	a.lastLines(a.oursIn(tui.Summary(acc, s.Tree, *live.Rest, a.name(), a.saidOf(screen))), g, root, live.Rest.Status)
	if live.Rest.Code != exit.OK {
		return quietly(live.Rest.Code)
	}
	return nil
}

// watchRun shows new records until the run rests; true when its driver is gone before.
func (a *app) watchRun(ctx context.Context, s *runView, live *story.Story, screen *tui.Screen) (lost bool, err error) {
	from, err := a.bringer(s)
	if err != nil {
		return false, err
	}
	defer closing(&err, "close state", from.close)
	for live.Rest == nil {
		alive := from != nil || s.view.Beat().Driver().Alive()
		step, cancel := context.WithTimeoutCause(ctx, followEvery, errNoReply)
		err := s.view.Follow(step, live.Seq, followEvery/2, func(recs []event.Record) error {
			if err := s.Tree.Follow(recs); err != nil {
				return err
			}
			s.Add(recs...)
			screen.Seen(recs)
			return errHeard
		})
		cancel()
		if from != nil {
			from.look(ctx, live.Seq)
		}
		switch {
		case ctx.Err() != nil:
			return false, nil // who attends knows why
		case !errors.Is(err, errNoReply) && !errors.Is(err, errHeard):
			return false, err
		case !alive && s.Tree.Status() == belay.Running && errors.Is(err, errNoReply):
			return true, nil
		}
	}
	return false, nil
}
