package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/flow"
)

func choices() []string {
	return []string{belay.ChoiceDone, belay.ChoiceAgain, belay.ChoiceFail, belay.ChoiceSkip}
}

func (a *app) answerCommand() *cobra.Command {
	var why string
	cmd := command("answer RUN [STEP] done|again|fail|skip", "answer for a held step", 2, 3,
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			choice := args[len(args)-1]
			if !slices.Contains(choices(), choice) {
				return usage(cmd, fmt.Errorf("%q is no answer: done, again, fail or skip", choice))
			}
			if why == "" {
				return usage(cmd, errors.New("answer needs --why: the reason becomes part of the record"))
			}
			step := ""
			if len(args) == 3 {
				step = args[1]
			}
			return a.answer(ctx, args[0], belay.Request{
				By: engine.Person(), Ask: belay.WishAnswer, Step: belay.Path(step), Choice: choice, Why: why,
			})
		})
	cmd.Flags().StringVar(&why, "why", "", "the reason, for the record (required)")
	cmd.ValidArgsFunction = a.completeAnswer
	return cmd
}

func (a *app) answer(ctx context.Context, arg string, req belay.Request) (err error) {
	ws, err := a.open()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", ws.close)
	if req.Run, err = runID(ws.state, arg); err != nil {
		return err
	}
	root := req.Run.Root()
	driven := true
	h, err := a.ask(ctx, ws, req, func(o *engine.Open) error {
		driven = false
		return a.answerFree(o, req)
	})
	if err != nil {
		return err
	}
	switch h.reply {
	case refused:
		return notAnswered(req.Run, h.why)
	case queued:
		a.say("the driver of run %s does not answer (is it suspended?); the answer waits in its mailbox", root)
		a.out.line("run %s: the answer is queued", root)
		return nil
	case accepted, unheard:
	}
	a.out.line("run %s: answered %s", req.Run, req.Choice)
	if !driven {
		a.out.line("next: %s resume %s", a.name(), root)
	}
	return nil
}

// answerFree writes the answer of a run that nobody drives.
func (a *app) answerFree(o *engine.Open, req belay.Request) (err error) {
	defer closing(&err, "close run", o.Close)
	s := o.Tree.Run(req.Run)
	if err := inRun(s != nil, req.Run); err != nil {
		return err
	}
	req.ID = freshID(s, string(req.Ask))
	recs, err := o.Write(flow.Fact{Run: req.Run, Event: belay.RequestReceived{Request: req}})
	if err != nil {
		return err
	}
	for _, r := range recs {
		if e, ok := r.Event.(belay.RequestRefused); ok && e.ID == req.ID {
			return notAnswered(req.Run, e.Why)
		}
	}
	return nil
}

// freshID is a name that no request of the run has had.
func freshID(s *flow.State, wish string) string {
	for n := 1; ; n++ {
		if id := fmt.Sprintf("free.%s.%d", wish, n); !s.Seen(id) {
			return id
		}
	}
}

func notAnswered(id belay.RunID, why string) error {
	return belay.Exit(belay.ExitInvalid, "answer run "+string(id), errors.New(why), "see what it waits for with belay show "+string(id.Root()))
}
