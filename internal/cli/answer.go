package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/readable"
)

// choices are the answers to a held step; an approval has its own.
func choices() []string {
	return []string{event.ChoiceDone, event.ChoiceAgain, event.ChoiceFail, event.ChoiceSkip}
}

func (a *app) answerCommand() *cobra.Command {
	var why string
	var asJSON bool
	cmd := command("answer RUN:ITEM|RUN [STEP] CHOICE", "answer an item of the inbox: a held step (done, again, fail, skip) or an approval", 2, 3,
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			choice := args[len(args)-1]
			if slices.Contains(choices(), choice) && why == "" {
				return exit.New(exit.Usage, "", errors.New("answer needs --why: the reason becomes part of the record"),
					"type "+a.name()+" answer "+strings.Join(args, " ")+" --why TEXT")
			}
			req := event.Request{By: engine.Person(), Ask: event.RequestAnswer, Choice: choice, Why: why}
			run, item, named := belay.CutRun(args[0])
			switch {
			case named && len(args) == 3:
				return usage(cmd, fmt.Errorf("%s names the item, and %q is too much", args[0], args[1]))
			case named:
				req.Item = item
			case len(args) == 3:
				req.Step = belay.Path(args[1])
			}
			return a.answer(ctx, "answer", string(run), req, asJSON)
		})
	cmd.Flags().StringVar(&why, "why", "", "the reason, for the record (required for a held step)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what came of it as one JSON object")
	cmd.ValidArgsFunction = a.completeAnswer
	return cmd
}

func (a *app) approveCommand() *cobra.Command {
	return a.decideCommand("approve", "approve what a run asks", belay.ChoiceApprove, "the reason, for the record")
}

func (a *app) rejectCommand() *cobra.Command {
	return a.decideCommand("reject", "reject what a run asks: the step fails", belay.ChoiceReject, "the reason, for the record (required)")
}

// decideCommand answers an approval with one choice.
func (a *app) decideCommand(name, short, choice, whyHelp string) *cobra.Command {
	var why string
	var asJSON bool
	cmd := command(name+" RUN[:ITEM]", short, 1, 1,
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if _, item, named := belay.CutRun(args[0]); !named || item == "" {
				found, err := a.itemOf(name, strings.TrimSuffix(args[0], ":"))
				if err != nil {
					return err
				}
				args[0] = found
			}
			run, item, _ := belay.CutRun(args[0])
			if choice == belay.ChoiceReject && why == "" {
				return exit.New(exit.Usage, "", errors.New("reject needs --why: the reason becomes part of the record"),
					"type "+a.name()+" reject "+args[0]+" --why TEXT")
			}
			return a.answer(ctx, name, string(run), event.Request{By: engine.Person(), Ask: event.RequestAnswer, Item: item, Choice: choice, Why: why}, asJSON)
		})
	cmd.Flags().StringVar(&why, "why", "", whyHelp)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what came of it as one JSON object")
	cmd.ValidArgsFunction = a.completeItem
	return cmd
}

func (a *app) answer(ctx context.Context, act, arg string, req event.Request, asJSON bool) (err error) {
	ws, err := a.open()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", ws.close)
	if req.Run, err = a.find(ws, arg); err != nil {
		return err
	}
	if err := a.person(ws.state, act, req.Run); err != nil {
		return err
	}
	if req, err = a.aim(ws, req); err != nil {
		return err
	}
	h, err := a.grant(ctx, ws, req, asJSON)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("run %s%s: %s", req.Run, prefixed(", step ", answeredStep(req)), answeredWords(req.Choice))
	if h.check {
		text += "; the step has a check of its own, and that decides"
	}
	if h.parked {
		if _, words, err := a.startDriver(ws, req.Run.Root()); err != nil {
			a.complain(fmt.Errorf("wake run %s: %w", req.Run.Root(), err))
		} else {
			_ = words.Close() // nobody reads them here
			h.left = false
			text += "; it was parked, and goes on"
		}
	}
	if h.left {
		text += a.after(ws.state, req.Run.Root(), "\nnext: ", "\nnext: ")
	}
	a.tellRequest(lineOfRequest(req), asJSON, text)
	return nil
}

// answeredStep is the step that an answer is for, as far as the request names it: an item is
// called by its step, a number, and at times what is asked.
func answeredStep(req event.Request) string {
	if req.Step != "" {
		return string(req.Step)
	}
	for at := req.Item; at != ""; {
		i := strings.LastIndexByte(at, '.')
		if i < 0 {
			return readable.Clean(req.Item) // named by its step
		}
		if _, err := strconv.Atoi(at[i+1:]); err == nil {
			return readable.Clean(at[:i])
		}
		at = at[:i]
	}
	return ""
}

// answeredWords are what a person decided.
func answeredWords(choice string) string {
	switch choice {
	case belay.ChoiceApprove:
		return "approved"
	case belay.ChoiceReject:
		return "rejected"
	}
	if choice = readable.Clean(choice); strings.Contains(choice, " ") { // a text
		choice = `"` + choice + `"`
	}
	return "answered " + choice
}

// aim turns a step that is named from its root's view into a step of the child
// run that it belongs to.
func (a *app) aim(ws *workshop, req event.Request) (event.Request, error) {
	if nested(belay.Path(req.Item)) { // of an item, its step can be named so
		req.Step, req.Item = belay.Path(req.Item), ""
	}
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
