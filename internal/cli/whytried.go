package cli

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/tui"
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
}

// The words for what is no decision.
const (
	didTakeOver = "takeover"    // a driver died, and another went on
	didStop     = "stop"        // a person stopped the run
	didGoOn     = "go_on"       // and had it go on
	didFind     = "found"       // an attempt was open when a driver came
	didMeddle   = "interrupted" // an agent was interrupted and gone on with
	didHelp     = "helped"      // an agent that helped was judged
)

// tried is what was done, in order; alike ones are one.
func tried(s *story) []moment {
	list := slices.Concat(decided(s.decisions()), s.happened())
	slices.SortStableFunc(list, func(a, b moment) int { return a.At.Compare(b.At) })
	return collapse(list)
}

// decided turns decisions into moments. What only repeats the one before it
// about the same step is left out: the question after the decision to ask, the
// skip after the answer, the end of a sub-recipe after that of its step.
func decided(all []decision) []moment {
	list := []moment{}
	last := map[place]string{}
	for i := range all {
		d := &all[i]
		before := last[d.at]
		what := firstOf(string(d.act), d.Kind)
		last[d.at] = what
		switch {
		case d.act == belay.ActGiveUp && d.failure != nil && d.failure.Kind == belay.RecipeFailure, // what failed below it tells
			what == belay.ItemOpened{}.Kind() && before == string(belay.ActHold),
			what == belay.StepSkipped{}.Kind() && (before == belay.ItemAnswered{}.Kind() || before == string(belay.ActSkip)):
			continue
		}
		list = append(list, moment{
			At: d.Timestamp, Times: 1, Step: d.TaskID, What: what, Text: d.words(), Why: d.Reason,
			Class: d.Class, Level: d.Level, Refused: d.Refused,
		})
	}
	return list
}

// happened is what belongs into the story and was no decision: deaths, stops,
// and agents that were interrupted.
func (s *story) happened() []moment {
	var list []moment
	keys, helpers := map[belay.Key]place{}, map[belay.Key]helper{}
	var watch driverWatch
	for _, r := range s.recs {
		how := watch.take(r, s.id.Root())
		m := moment{At: r.At.UTC(), Times: 1}
		switch e := r.Event.(type) {
		case belay.AttemptStarted:
			keys[e.Key] = place{r.Run, e.Path}
			if tui.Helps(e.Role) {
				helpers[e.Key] = helper{e.Role, e.Agent}
			}
		case belay.RunAttached:
			m.What = how
			switch how {
			case didTakeOver:
				m.Text = "belay's driver had died; another one went on"
			case didGoOn:
				m.Text = "gone on with"
			}
		case belay.RunStopped:
			m.What, m.Text = didStop, "stopped by "+e.By
		case belay.AttemptFound:
			m.Text = foundWords(e.How)
			m = m.at(keys[e.Key], didFind)
		case belay.AttemptJudged:
			if who, ok := helpers[e.Key]; ok {
				m.Text, m.Why = who.helped(e.Verdict), strings.Join(restsOn(e.Verdict), "; ")
				m = m.at(keys[e.Key], didHelp)
			}
		case belay.AttemptEnded:
			if a := e.Observation.Agent; a != nil && a.Resumes > 0 {
				m.Text, m.Why = "interrupted and gone on with "+times(a.Resumes), interruption(a.Notes)
				m = m.at(keys[e.Key], didMeddle)
			}
		}
		if m.What != "" && m.Text != "" && (below(r.Run, s.id) || m.Step == "") {
			list = append(list, m)
		}
	}
	return list
}

// helper is an agent that helped with a step.
type helper struct {
	role belay.Role
	name string
}

// helped is what came of it, in words.
func (h helper) helped(v belay.Verdict) string {
	word := verdictWord(v)
	if h.role == belay.RoleRecovery && v.OK {
		f := attemptFacts{Role: h.role, Verdict: &v}
		word = f.verdictText()
	}
	return string(h.role) + " by " + tui.AgentName(h.name) + " was judged " + word
}

// restsOn is the evidence of a verdict: what speaks against one that is no
// success, and for one that is.
func restsOn(v belay.Verdict) []string {
	if v.OK {
		return slices.Concat(v.For, v.Against)
	}
	return v.Against
}

func (m moment) at(p place, what string) moment {
	m.Step, m.What = tui.StepName(p.run, p.path), what
	return m
}

func foundWords(how belay.Found) string {
	switch how {
	case belay.Adopted:
		return "it still ran, and was adopted"
	case belay.Harvested:
		return "it had ended meanwhile; its exit was kept"
	case belay.Lost:
		return "it was lost: its keeper died with it"
	case belay.Unborn:
	}
	return "" // nothing of it had happened
}

// interruption is why an agent was interrupted the last time.
func interruption(notes []belay.AgentNote) string {
	text := ""
	for _, n := range notes {
		if n.What == belay.NoteInterrupt {
			text = n.Text
		}
	}
	return text
}

// driverWatch tells of each driver that comes whether the one before it left in
// order.
type driverWatch struct {
	attached, inOrder, stopped bool
}

func (w *driverWatch) take(r belay.Record, root belay.RunID) string {
	switch r.Event.(type) {
	case belay.RunAttached:
		how := ""
		switch {
		case w.attached && !w.inOrder:
			how = didTakeOver
		case w.stopped:
			how = didGoOn
		}
		w.attached, w.inOrder, w.stopped = true, false, false
		return how
	case belay.RunStopped:
		w.inOrder, w.stopped = true, true
	case belay.RunEnded, belay.RunHeld:
		w.inOrder = r.Run == root
	case belay.ItemAnswered, belay.StepSkipped, belay.RequestReceived, belay.RequestRefused, belay.RunReopened, belay.RunCleared: // may come to a run without a driver
	default:
		w.inOrder = false
	}
	return ""
}

// takeovers is how often a driver went on after another had died.
func (s *story) takeovers() int {
	var watch driverWatch
	n := 0
	for _, r := range s.recs {
		if watch.take(r, s.id.Root()) == didTakeOver {
			n++
		}
	}
	return n
}

// collapse makes one of those that follow each other about the same step and
// say the same but for their numbers.
func collapse(list []moment) []moment {
	out := []moment{}
	last := map[string]int{} // by step
	for _, m := range list {
		i, known := last[m.Step]
		if known && alike(out[i], m) {
			out[i].Until, out[i].Text, out[i].Why, out[i].Refused = m.At, m.Text, m.Why, m.Refused
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
