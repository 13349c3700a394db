package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay"
)

// recovery is a line for a way out as soon as it is chosen: what is done, by
// whom, when, and what went wrong. What failed is kept until the step starts
// again: an agent that helps may fail, and then another way is chosen for it.
func (b *Board) recovery(at place, p belay.Plan, now time.Time) []Line {
	was := b.broken[at]
	delete(b.waiting, at)
	line := func(text string) []Line {
		if wait := p.Due.Sub(now); wait > 0 {
			text += " in " + Took(wait)
		}
		if p.Timeout > 0 {
			text += ", with " + Took(p.Timeout) + " for it"
		}
		return []Line{b.line(string(p.Act), at, was.took, text+": "+was.why(p))}
	}
	next := fmt.Sprintf("attempt %d", was.n+1)
	switch p.Act {
	case belay.ActRetry:
		of := b.wait(at, was.n+1, p.Due)
		if was.failure == nil { // after a loss: the caps of failed attempts do not count
			return line("again")
		}
		return line(fmt.Sprintf("%s of %d", next, of))
	case belay.ActResume:
		b.wait(at, was.n+1, p.Due)
		return line("its session goes on, " + next)
	case belay.ActFresh:
		b.wait(at, was.n+1, p.Due)
		return line("a new session goes on with the work, " + next)
	case belay.ActFailover, belay.ActReassign:
		b.wait(at, was.n+1, p.Due)
		return line(takesOver(p) + ", " + next)
	case belay.ActRepair:
		if b.step(at).Type == belay.TypeAgent { // who did it mends it
			b.wait(at, was.n+1, p.Due)
			return line("it is told what fails, " + next)
		}
		return line("an agent is asked to mend it")
	case belay.ActDecompose:
		return b.split(at, was, p)
	case belay.ActRecover:
		return line("an agent is asked to finish what the sub-recipe left")
	case belay.ActFallback:
		b.wait(at, was.n+1, p.Due)
		return line(b.fallback(at) + " in its stead")
	case belay.ActGiveUp, belay.ActAbort:
		return b.gaveUp(at, was, p)
	case belay.ActSkip, belay.ActHold: // that it is left out, or an item, follows: that is the news
	}
	return nil
}

// wait puts a step among those that start again, and says how many attempts it
// may have.
func (b *Board) wait(at place, n int, due time.Time) int {
	of := max(b.step(at).Attempts, n)
	b.waiting[at] = retry{n, of, due}
	return of
}

// why is what went wrong, in words.
func (was broken) why(p belay.Plan) string {
	why := p.Reason
	if was.failure != nil {
		why = Reason(was.failure)
	}
	if was.work != "" {
		why += " (" + was.work + ")"
	}
	return why
}

// takesOver says who goes on with the work.
func takesOver(p belay.Plan) string {
	var who []string
	if p.Role != "" {
		who = append(who, "role "+p.Role)
	}
	if p.Agent != "" {
		who = append(who, AgentName(p.Agent))
	}
	return strings.Join(who, ", ") + " takes over"
}

// maxTitles is how much of the titles of parts is shown.
const maxTitles = 100

// split is a line for a task that is to be split, or was.
func (b *Board) split(at place, was broken, p belay.Plan) []Line {
	if len(p.Parts) == 0 {
		return []Line{b.line(string(p.Act), at, was.took, "an agent is asked to split the task: "+was.why(p))}
	}
	b.wait(at, was.n+1, p.Due)
	titles := make([]string, len(p.Parts))
	for i, part := range p.Parts {
		if titles[i] = strings.TrimSpace(part.Title); titles[i] == "" {
			titles[i] = strings.Join(strings.Fields(part.Task), " ")
		}
	}
	text := fmt.Sprintf("%s in its stead (%s): %s", plural(len(p.Parts), "part"), Cut(strings.Join(titles, "; "), maxTitles), was.why(p))
	return []Line{b.line(string(p.Act), at, was.took, text)}
}

// fallback names what the recipe has in the stead of a step.
func (b *Board) fallback(at place) string {
	if s := b.tree.Run(at.run); s != nil {
		for i := range s.Recipe().Steps {
			def := &s.Recipe().Steps[i]
			switch {
			case def.ID != at.path || def.Fallback == nil:
			case def.Fallback.Step != "":
				return "step " + string(def.Fallback.Step)
			default:
				return "recipe " + def.Fallback.Recipe
			}
		}
	}
	return "what the recipe names"
}

func (b *Board) gaveUp(at place, was broken, p belay.Plan) []Line {
	b.failed[at.run]++
	why := was.why(p)
	switch {
	case p.Act == belay.ActAbort:
		why = "nothing else starts: " + why
	case b.step(at).Optional:
		why = "optional, the run goes on: " + why
	}
	return []Line{b.line("failed", at, was.took, why)}
}
