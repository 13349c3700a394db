package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
)

func choices() []string {
	return []string{event.ChoiceDone, event.ChoiceAgain, event.ChoiceFail, event.ChoiceSkip}
}

func (a *app) answerCommand() *cobra.Command {
	var why string
	var asJSON bool
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
			return a.answer(ctx, args[0], event.Request{
				By: engine.Person(), Ask: event.RequestAnswer, Step: belay.Path(step), Choice: choice, Why: why,
			}, asJSON)
		})
	cmd.Flags().StringVar(&why, "why", "", "the reason, for the record (required)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what came of it as one JSON object")
	cmd.ValidArgsFunction = a.completeAnswer
	return cmd
}

func (a *app) answer(ctx context.Context, arg string, req event.Request, asJSON bool) (err error) {
	ws, err := a.open()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", ws.close)
	if req.Run, err = runID(ws.state, arg); err != nil {
		return err
	}
	if err := a.person(ws.state, "answer", req.Run); err != nil {
		return err
	}
	if req, err = a.aim(ws, req); err != nil {
		return err
	}
	h, err := a.grant(ctx, ws, req, asJSON)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("run %s: decided %s", req.Run, req.Choice)
	if h.check {
		text += "; the step has a check of its own, and that decides"
	}
	if h.left {
		text += fmt.Sprintf("\nnext: %s resume %s", a.name(), req.Run.Root())
	}
	a.tellRequest(lineOfRequest(req), asJSON, text)
	return nil
}

// aim turns a step that is named from its root's view into a step of the child
// run that it belongs to.
func (a *app) aim(ws *workshop, req event.Request) (event.Request, error) {
	if !nested(req.Step) {
		return req, nil
	}
	s, err := tell(ws.state, string(req.Run))
	if err != nil {
		return req, err
	}
	defer func() { _ = s.close() }() // read only: nothing to lose
	p, err := s.step(req.Step)
	if err != nil {
		return req, err
	}
	req.Run, req.Step = p.Run, p.Path
	return req, nil
}
