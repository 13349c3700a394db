package tui

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
)

// recovery is a line for a recovery as soon as it is chosen: what is done, by
// whom, when, and what went wrong. What failed is kept until the step starts
// again: an agent that helps may fail, and then another way is chosen for it.
func (b *Board) recovery(d *story.Decision) []Line {
	was, p := d.Broken, d.Plan
	line := func(text string) []Line {
		when := ""
		if wait := p.Due.Sub(d.At); wait > 0 {
			when = " in " + readable.Took(wait)
		}
		if p.Timeout > 0 {
			text += ", with " + readable.Took(p.Timeout) + " for it"
		}
		return []Line{line(b.actWord(d), d.Place, took(was.Attempt), b.why(d)+"; next"+when+": "+text)}
	}
	next := fmt.Sprintf("attempt %d", was.N+1)
	switch p.Act {
	case belay.ActRetry:
		if was.Failure == nil { // after a loss: the caps of failed attempts do not count
			return line("again")
		}
		return line(fmt.Sprintf("%s of %d", next, max(b.story.View(d.Place).Attempts, was.N+1)))
	case belay.ActResume:
		return line(next + ", same session")
	case belay.ActFresh:
		return line(next + ", a new session")
	case belay.ActFailover, belay.ActReassign:
		return line(takesOver(*p) + ", " + next)
	case belay.ActRepair:
		if b.story.View(d.Place).Type.Agent() { // who did it mends it
			return line(next + ", which is told what failed")
		}
		return line("an agent is asked to fix it")
	case belay.ActDecompose:
		return b.split(d)
	case belay.ActRecover:
		return line("an agent is asked to finish what the sub-recipe left")
	case belay.ActFallback:
		return line(b.fallback(d.Place) + " instead")
	case belay.ActGiveUp, belay.ActAbort:
		return b.gaveUp(d)
	case belay.ActSkip, belay.ActHold: // a line of its own follows
		return nil
	case belay.ActNone, belay.ActVerify, belay.ActRetryAfter, belay.ActEscalate, belay.ActStop: // no plan has it
	}
	return line(p.Act.Row().Words + ", " + next)
}

// actWord is the word for a recovery: what starts the same agent again is a retry, in
// whichever session.
func (b *Board) actWord(d *story.Decision) string {
	row := d.Plan.Act.Row()
	if row.Same || row.Helper == belay.RoleRepair && b.story.View(d.Place).Type.Agent() {
		return string(belay.ActRetry)
	}
	return string(row.Act)
}

// why is what went wrong, in words.
func (b *Board) why(d *story.Decision) string {
	text, was := d.Plan.Reason, d.Broken
	if was.Failure != nil {
		text = b.failure(d.Place, was.Failure)
	}
	if f := was.Failure; f != nil && f.Kind == belay.HollowSuccess { // that nothing was left says its cause
		return text
	}
	if was.Attempt != nil && was.Attempt.Role == belay.RoleMain && was.Attempt.Report() != nil {
		text += " (" + AgentWork(was.Attempt.Report()) + ")"
	}
	return text
}

// failure is why a step failed. What a line said of a step inside of it is not said again.
func (b *Board) failure(at story.Place, f *belay.Failure) string {
	inside, why := story.Inside(b.story.Tree, at, f)
	if len(inside) == 0 {
		return why.Words()
	}
	var words []string
	for _, p := range inside {
		words = append(words, b.names.Own(p))
	}
	text := "step " + strings.Join(words, "/") + " failed"
	if b.told[inside[len(inside)-1]] {
		return text
	}
	return text + ": " + why.Words()
}

// takesOver says who goes on with the work.
func takesOver(p belay.Plan) string {
	var who []string
	if p.Role != "" {
		who = append(who, "role "+p.Role)
	}
	if p.Agent != "" {
		who = append(who, story.AgentName(p.Agent))
	}
	return strings.Join(who, ", ") + " takes over"
}

// maxTitles is how much of the titles of parts is shown.
const maxTitles = 100

// split is a line for a task that is to be split, or was.
func (b *Board) split(d *story.Decision) []Line {
	p, took := d.Plan, took(d.Broken.Attempt)
	if len(p.Parts) == 0 {
		return []Line{line(string(p.Act), d.Place, took, b.why(d)+"; next: an agent is asked to split the task")}
	}
	titles := make([]string, len(p.Parts))
	for i, part := range p.Parts {
		if titles[i] = strings.TrimSpace(part.Title); titles[i] == "" {
			titles[i] = strings.Join(strings.Fields(part.Task), " ")
		}
	}
	text := fmt.Sprintf("%s; next: %s instead (%s)", b.why(d), readable.Many(len(p.Parts), "part"), readable.Cut(strings.Join(titles, "; "), maxTitles))
	return []Line{line(string(p.Act), d.Place, took, text)}
}

// fallback names what the recipe has instead of a step.
func (b *Board) fallback(at story.Place) string {
	def := b.story.Def(at)
	switch {
	case def == nil || def.Fallback == nil:
		return "what the recipe names"
	case def.Fallback.Step != "":
		return "step " + string(def.Fallback.Step)
	}
	return "recipe " + def.Fallback.Recipe
}

func (b *Board) gaveUp(d *story.Decision) []Line {
	text := b.why(d)
	switch {
	case d.Place.Path == story.FlagStep: // its failure is what it has to say
		_, said, _ := strings.Cut(text, "flagged: ")
		return []Line{line("flagged", d.Place, took(d.Broken.Attempt), cmp.Or(said, text))}
	case d.Plan.Act == belay.ActAbort:
		text = "nothing else starts: " + text
	case b.story.View(d.Place).Finally:
		text = "it changes nothing about the end: " + text
	case b.story.View(d.Place).Optional:
		text = "optional, the run goes on: " + text
	}
	if story.RolledBack(b.story.View(d.Place)) {
		text += ", and " + story.BackWord + " by " + b.fallback(d.Place)
	}
	b.told[d.Place] = true
	return []Line{line("failed", d.Place, took(d.Broken.Attempt), text)}
}
