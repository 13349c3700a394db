package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/spelling"
	"github.com/belay-run/belay/story"
)

func counts() []string {
	return []string{string(event.CountAttempts), string(event.CountBreakers), string(event.CountBudget), string(event.CountInbox), string(event.CountRestarts), string(event.CountReview)}
}

func (a *app) clearCommand() *cobra.Command {
	var why string
	var asJSON bool
	cmd := command("clear RUN [attempts[:STEP]|breakers|budget|inbox|restarts|review]", "reset what is counted against a run, or dismiss its inbox item", 1, 2,
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(why) == "" {
				return usage(cmd, errors.New("clear needs --why: the reason becomes part of the record"))
			}
			for _, word := range append(args[1:], unnamed(args)...) {
				what, step, err := countOf(word)
				if err != nil {
					return err
				}
				if err := a.clear(ctx, args[0], event.Request{
					By: engine.Person(), Ask: event.RequestClear, What: what, Step: step, Why: why,
				}, asJSON); err != nil {
					return err
				}
			}
			return nil
		})
	cmd.Long = `Takes back what is counted against a run, on record:

  attempts        the failures of all steps; attempts:STEP of one step
  breakers        what is counted, for all runs on this machine, of the services
                  that the run's agents call
  budget          what the run's agents have used, and its recoveries from failures
  inbox           nothing: belay inbox and belay watch say no more of a run that
                  ended without reaching its goal, or was stopped
  restarts        how often belay watch has resumed the run
  review          what the rounds of a review came to: new ones begin from nothing

Without a word: attempts, restarts and review. A run that is driven hears of it at
once; one that is not goes on with belay resume. A step that is held for that count
alone is answered by it; all others still wait for their answer.`
	cmd.Flags().StringVar(&why, "why", "", "the reason, for the record (required)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what came of it as one JSON object")
	cmd.ValidArgsFunction = a.completeClear
	return cmd
}

// unnamed is what is cleared where nothing is named: what costs nothing, and
// concerns no other run.
func unnamed(args []string) []string {
	if len(args) > 1 {
		return nil
	}
	return []string{string(event.CountAttempts), string(event.CountRestarts), string(event.CountReview)}
}

// countOf reads what is to be cleared.
func countOf(word string) (event.Count, belay.Path, error) {
	name, step, aimed := strings.Cut(word, ":")
	wrong := func(msg, hint string) (event.Count, belay.Path, error) {
		return "", "", exit.New(exit.Usage, "", errors.New(msg), hint)
	}
	const all = "name attempts, attempts:STEP, breakers, budget, inbox, restarts or review"
	switch {
	case !slices.Contains(counts(), name):
		hint := all
		if near := spelling.Near(name, counts()); near != "" {
			hint = "did you mean " + near + "?"
		}
		return wrong(fmt.Sprintf("%q is nothing that can be cleared", word), hint)
	case aimed && event.Count(name) != event.CountAttempts:
		return wrong(fmt.Sprintf("%s belongs to the whole run, not to a step", name), "leave out :"+step)
	case aimed && step == "":
		return wrong("attempts: names no step", all)
	}
	return event.Count(name), belay.Path(step), nil
}

func (a *app) clear(ctx context.Context, arg string, req event.Request, asJSON bool) (err error) {
	ws, err := a.open()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", ws.close)
	if _, err := a.find(ws, arg); err != nil {
		return err
	}
	m, err := a.meant(ws, arg, req)
	if err != nil {
		return err
	}
	req, services := m.req, m.services
	about := req.Run
	if req.What == event.CountBreakers {
		about = "" // they are those of all runs on this machine
	}
	if err := a.person(ws.state, "clear", about); err != nil {
		return err
	}
	if req.What == event.CountInbox && (m.status == belay.Achieved || m.status == belay.Aborted) {
		l := lineOfRequest(req)
		l.Status = m.status
		a.tellRequest(l, asJSON, fmt.Sprintf("run %s is %s: it is not in the inbox, and nothing was cleared", req.Run, m.status))
		return nil
	}
	h, err := a.grant(ctx, ws, req, asJSON)
	if err != nil {
		return err
	}
	for _, child := range m.below {
		below := req
		below.Run = child
		if _, err := a.grant(ctx, ws, below, asJSON); err != nil {
			return err
		}
	}
	l := lineOfRequest(req)
	l.Services = services
	text := fmt.Sprintf("run %s: cleared %s", req.Run, clearedText(req, services))
	if len(m.below) > 0 {
		text += fmt.Sprintf(", in %s below it, too", runsText(len(m.below)))
	}
	switch {
	case h.left && m.final && req.What != event.CountInbox:
		text += "; the run was cancelled, which is final: start a new one"
	case h.left && req.What != event.CountInbox:
		text += a.after(ws.state, req.Run.Root(), "; go on with ", "; next: ")
	}
	a.tellRequest(l, asJSON, text)
	return nil
}

// clearing is what a person means to clear.
type clearing struct {
	req      event.Request
	below    []belay.RunID // runs below it that have the same counted
	services []string      // that the run's agents call and of which something is counted
	final    bool          // the run cannot go on any more
	status   belay.Status  // of the whole run
}

// meant finds the run and the step that are meant, and what else belongs to it.
func (a *app) meant(ws *workshop, arg string, req event.Request) (m clearing, err error) {
	s, err := tell(ws.state, arg)
	if err != nil {
		return m, err
	}
	defer func() { _ = s.close() }() // read only: nothing to lose
	m.status = s.Tree.Status()
	m.final = m.status == belay.Aborted
	m.req, m.services, err = aimed(ws, s, req)
	if err == nil && req.What == event.CountAttempts && req.Step == "" {
		m.below = s.Tree.Counted(m.req.Run)
	}
	return m, err
}

func aimed(ws *workshop, s *runView, req event.Request) (event.Request, []string, error) {
	req.Run = s.id
	switch req.What {
	case event.CountAttempts:
		if req.Step == "" {
			return req, nil, nil
		}
		p, err := s.step(req.Step)
		if err != nil {
			return req, nil, err
		}
		req.Run, req.Step = p.Run, p.Path
		return req, nil, nil
	case event.CountBreakers:
		req.Run = s.id.Root()
		known, err := ws.state.Ledger().Services()
		var names []string
		for _, k := range known {
			if slices.Contains(ws.local.ServicesOf(s.Tree), k.Name) {
				names = append(names, k.Name)
			}
		}
		return req, names, err
	case event.CountInbox:
		if why := story.KeepsInInbox(s.Tree.Status()); why != "" {
			return req, nil, exit.New(exit.Invalid, "clear run "+string(s.id.Root()), errors.New(why), "answer what it asks, resume it or cancel it")
		}
		req.Run = s.id.Root()
	case event.CountBudget, event.CountRestarts, event.CountReview:
		req.Run = s.id.Root()
	}
	return req, nil, nil
}

// clearedText says what was taken back.
func clearedText(req event.Request, services []string) string {
	switch {
	case req.Step != "":
		return fmt.Sprintf("the attempts of step %s", req.Step)
	case req.What == event.CountAttempts:
		return "the attempts of all steps"
	case req.What == event.CountBudget:
		return "the budget: what its agents used, and its recoveries from failures"
	case req.What == event.CountRestarts:
		return "the restarts: belay watch may resume it again"
	case req.What == event.CountInbox:
		return "it from the inbox, until it is resumed"
	case req.What == event.CountReview:
		return "the review: new rounds begin from nothing"
	case len(services) == 0:
		return "the breakers: nothing was counted of the services that its agents call"
	}
	return "the breakers and retries of " + strings.Join(services, ", ")
}

// completeClear proposes a run, then what can be cleared.
func (a *app) completeClear(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return a.completeRun(cmd, args, begun)
	}
	words := counts()
	steps, _ := a.completeStep(cmd, args, begun)
	for _, s := range steps {
		words = append(words, string(event.CountAttempts)+":"+s)
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

func runsText(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}
