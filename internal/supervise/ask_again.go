package supervise

import (
	"context"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/internal/output"
)

// stranger tells whether a session that was to go on is not known to the agent
// any more, and what a new one is to be told instead; once in an attempt. The
// sign of it is an end at once: an error about what was asked for, and nothing
// said or done.
func (a *attendant) stranger(e ending, resume string, before bool) (prompt string, ok bool) {
	if resume == "" || before || a.order.Fresh == "" || e.ended != effect.EndedItself {
		return "", false
	}
	r := e.result
	silent := r.ToolCount == 0 && r.TextSize == 0 && r.Text == "" && r.Usage.Tokens() == 0
	if !silent || a.answered(r) || !r.Error && r.Exit == 0 || r.Signal != 0 {
		return "", false
	}
	if r.Class != belay.ClassInvalidInput && r.Class != belay.ClassUnknown && r.Class != belay.ClassNone {
		return "", false // a new session would meet the same
	}
	text, err := readBounded(a.order.Fresh, maxPrompt)
	if err != nil {
		a.notes.add(effect.NoteQuiet, "the prompt of a new session: "+err.Error(), nil)
		return "", false
	}
	a.notes.add(effect.NoteResume, "session "+resume+" is not known any more: a new one takes over", nil)
	a.prompt, a.session = string(text), ""
	if a.traits.Presets {
		a.know(a.order.Session)
	}
	return a.prompt, true
}

// wantJSON asks once more when the answer must hold JSON and has none, or none in the form
// that is asked for: in the same session where that can be, else the whole task. Only an
// answer in that form takes the place of the first.
func (a *attendant) wantJSON(ctx context.Context, r *effect.AgentReport) {
	if a.order.JSON == effect.JSONAuto || ctx.Err() != nil || !a.well(*r) || r.Result.Text == "" {
		return
	}
	lack := a.lacksJSON(r.Result.Text)
	if lack == "" {
		return
	}
	prompt, resume := agent.WithJSON(a.prompt, a.order.Keys), ""
	if a.traits.Resumes && a.session != "" {
		prompt, resume = agent.OnlyJSON(lack, a.order.Keys), firstOf(r.Result.Session, a.session)
	} else if a.traits.Presets {
		return // its session has the id already, and cannot go on
	}
	if !a.another(*r) {
		return
	}
	r.Reasked++
	a.notes.add(effect.NoteResume, "its answer "+lack+": it is asked once more", nil)
	a.watch.left = 0 // this turn is not worth an interrupt
	e := a.play(ctx, prompt, resume)
	second := effect.AgentReport{Result: e.result, Ended: e.ended}
	if e.err == nil && a.well(second) && a.lacksJSON(e.result.Text) == "" {
		r.Result = follow(r.Result, e.result)
		return
	}
	first := r.Result
	r.Result.Usage = first.Usage.Add(e.result.Usage)
	r.Result.ToolCount += e.result.ToolCount
	r.Result.Tools = ends(append(first.Tools[:len(first.Tools):len(first.Tools)], e.result.Tools...), maxTools)
	if e.ended == effect.EndedDeadline || e.ended == effect.EndedSignal {
		r.Ended = e.ended
	}
}

// lacksJSON says why an answer is not the JSON that is asked for; empty where it is.
func (a *attendant) lacksJSON(text string) string {
	if _, ok := output.Extract(text); !ok {
		return "has no JSON in it"
	}
	if len(a.order.Keys) == 0 {
		return ""
	}
	raw, fit := output.Formed(text, a.order.Keys...)
	switch {
	case fit == output.Lacks, fit == output.Fits && output.Blank(raw, a.order.Filled...):
		return "has no JSON with " + strings.Join(a.order.Keys, ", ") + " in it"
	case fit == output.Differs:
		return "has several JSON values in it that differ"
	}
	return ""
}
