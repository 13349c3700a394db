package cli

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/internal/receipt"
	"github.com/belay-run/belay/story"
)

// moment is something that was done about a failure or a death, or several
// alike of them.
type moment struct {
	At      time.Time        `json:"at"`
	Until   time.Time        `json:"until,omitzero"` // the last of them, when there are several
	Times   int              `json:"times"`
	Step    string           `json:"step,omitempty"`
	What    string           `json:"what"`
	Text    string           `json:"text"`
	Why     string           `json:"why,omitempty"`
	Class   belay.Class      `json:"class,omitempty"`
	Level   belay.Level      `json:"level,omitempty"`
	Refused []belay.NotTaken `json:"refused,omitempty"`

	met  *receipt.Recovery // the failure, where a recovery from one was chosen
	from int               // the number of the first attempt that failed so
}

// The words for what is no decision; those for a driver that comes are of story.
const (
	didStop    = "stop"          // a person stopped the run
	didFind    = "found"         // an attempt was open when a driver came
	didMeddle  = "interrupted"   // an agent was interrupted and gone on with
	didStandIn = "execution_gap" // of the steps for a round whose work was not done
	didHelp    = "helped"        // an agent that helped was judged
)

// tried is what was done, in order; alike ones are one.
func tried(s *runView) []moment {
	list := slices.Concat(decided(s.decisions()), s.happened(), stoodIn(s.GapSteps(s.id, blobs(s.view.ReadBlob))))
	slices.SortStableFunc(list, func(a, b moment) int { return a.At.Compare(b.At) })
	return collapse(list)
}

// decided turns decisions into moments. What only repeats the one before it
// about the same step is left out: the question after the decision to ask, the
// skip after the answer, the end of a sub-recipe after that of its step.
func decided(all []decision) []moment {
	list := []moment{}
	last := map[story.Place]string{}
	for i := range all {
		d := &all[i]
		before := last[d.of.Place]
		what := cmp.Or(string(d.of.Act()), d.Kind)
		last[d.of.Place] = what
		switch f := d.of.Failure; {
		case d.of.Act() == belay.ActGiveUp && f != nil && f.Kind == belay.RecipeFailure, // what failed below it tells
			d.of.What == story.ItemOpened && before == string(belay.ActHold),
			d.of.What == story.StepSkipped && (before == string(story.ItemAnswered) || before == string(belay.ActSkip)):
			continue
		}
		m := moment{
			At: d.Timestamp, Times: 1, Step: d.TaskID, What: what, Text: d.words(), Why: d.Reason,
			Class: d.Class, Level: d.Level, Refused: d.Refused,
		}
		if met, ok := receipt.RecoveryFrom(d.of); ok {
			m.met, m.from = &met, met.N
		}
		list = append(list, m)
	}
	return list
}

// happened is what belongs into the story and was no decision: deaths, stops,
// and agents that were interrupted.
func (s *runView) happened() []moment {
	var list []moment
	for i := range s.News {
		m := happening(&s.News[i])
		if m.Text != "" && (s.News[i].Run.Under(s.id) || m.Step == "") {
			list = append(list, m)
		}
	}
	return list
}

// happening is the moment that news is worth; without a text for none.
func happening(n *story.News) moment {
	m := moment{At: n.At.UTC(), Times: 1}
	of := func(what, text, why string) moment {
		m.Step, m.What, m.Text, m.Why = n.Name(), what, text, why
		return m
	}
	switch {
	case n.Arrival == story.TookOver:
		m.What, m.Text = string(n.Arrival), "Belay had died; another process went on"
	case n.Arrival == story.WentOn:
		m.What, m.Text = string(n.Arrival), "gone on with"
	case n.What == story.RunStopped:
		m.What, m.Text = didStop, "stopped by "+n.By
	case n.What == story.AttemptFound:
		return of(didFind, foundWords(n.How), "")
	case n.What == story.AttemptJudged && story.Helps(n.Attempt.Role):
		return of(didHelp, helped(n.Attempt), strings.Join(restsOn(*n.Attempt.Verdict), "; "))
	case n.What == story.AttemptEnded:
		if r := n.Attempt.Report(); r != nil && r.Resumes > 0 {
			return of(didMeddle, "interrupted and gone on with "+times(r.Resumes), interruption(r.Notes))
		}
	}
	return m
}

// helped is what came of an agent that helped, in words.
func helped(a *story.Attempt) string {
	word := verdictWord(*a.Verdict)
	if a.Role == belay.RoleRecovery && a.Verdict.OK {
		word = verdictText(a)
	}
	return string(a.Role) + " by " + story.AgentName(a.Agent) + " was judged " + word
}

// restsOn is the evidence of a verdict: what speaks against one that is no
// success, and for one that is.
func restsOn(v effect.Verdict) []string {
	if v.OK {
		return slices.Concat(v.For, v.Against)
	}
	return v.Against
}

func foundWords(how fault.Found) string {
	switch how {
	case fault.Adopted:
		return "it still ran, and was adopted"
	case fault.Harvested:
		return "it had ended meanwhile; its exit was kept"
	case fault.Lost:
		return "it was lost: its keeper died with it"
	case fault.Unborn:
	}
	return "" // nothing of it had happened
}

// interruption is why an agent was interrupted the last time.
func interruption(notes []effect.AgentNote) string {
	text := ""
	for _, n := range notes {
		if n.What == effect.NoteInterrupt {
			text = n.Text
		}
	}
	return text
}

// stoodIn is what was done because no step did the work of a round, or the one could not
// that should.
func stoodIn(list []story.GapStep) []moment {
	var all []moment
	for i := range list {
		g := &list[i]
		m := moment{At: g.At.UTC(), Times: 1, Step: g.Name(), What: didStandIn}
		switch {
		case g.Recipe != "":
			m.Text, m.Why = g.Headline+"; the recipe "+g.Recipe+" does it directly", g.Why
		case g.Issue != nil:
			m.Text = "reported: " + g.Issue.Became()
		case g.OK:
			m.Text = "did the work in its place"
		default:
			m.Text = "did not do it either"
		}
		if g.Failure != nil {
			m.Why = belay.Plain(g.Failure.Cause)
		}
		all = append(all, m)
	}
	return all
}

// collapse makes one of those that follow each other about the same step and
// say the same but for their numbers.
func collapse(list []moment) []moment {
	out := []moment{}
	last := map[string]int{} // by step
	for _, m := range list {
		i, known := last[m.Step]
		if known && alike(out[i], m) {
			out[i].Until, out[i].Text, out[i].Why, out[i].Refused, out[i].met = m.At, m.Text, m.Why, m.Refused, m.met
			out[i].Times++
			continue
		}
		last[m.Step] = len(out)
		out = append(out, m)
	}
	return out
}

func alike(a, b moment) bool {
	return a.What == b.What && a.Class == b.Class && numberless(a.Why) == numberless(b.Why) && len(a.Refused) == len(b.Refused)
}

// numberless is a text without its numbers.
func numberless(s string) string {
	return strings.Join(strings.FieldsFunc(s, unicode.IsDigit), "#")
}
