package receipt

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/story"
	"github.com/belay-run/belay/verdict"
)

// Trouble is a step that did not go well at once, with what was done about it.
type Trouble struct {
	Step    string   `json:"step"` // "" = the run
	Verdict string   `json:"verdict,omitempty"`
	Moments []Moment `json:"moments"`
	More    int      `json:"more,omitempty"` // moments beside those
}

// Moment is one thing that happened to a step.
type Moment struct {
	At   time.Time `json:"at"`
	What string    `json:"what"`
	Text string    `json:"text"`

	recovery *Recovery // that was chosen
}

const failedWord = "failed"

// mostMoments are shown of one step.
const mostMoments = 20

// troubles are those in the order in which they began.
func (m *maker) troubles() []Trouble {
	list := []Trouble{}
	at := map[string]int{}
	for i := range m.News {
		n := &m.News[i]
		mo := moment(n)
		if mo.What == "" || !n.Run.Under(m.top) && n.Arrival != story.TookOver {
			continue
		}
		if n.Path == story.FlagStep {
			if mo.What != failedWord {
				continue // nobody recovers from a report
			}
			mo.What = "reported"
		}
		step := ""
		if n.Path != "" {
			path, _ := n.Path.Hook()
			step = story.StepName(n.Run, path)
		}
		j, known := at[step]
		if !known {
			j, at[step] = len(list), len(list)
			list = append(list, Trouble{Step: step})
		}
		if len(list[j].Moments) == mostMoments {
			list[j].More++
			continue
		}
		list[j].Moments = append(list[j].Moments, mo)
	}
	for i := range m.acc.Steps {
		p := &m.acc.Steps[i]
		if j, ok := at[p.At().Name()]; ok {
			list[j].Verdict = m.word(p)
			if p.Phase == flow.Done && !story.OnWord(p.StepView) {
				list[j].Verdict = "recovered"
			}
			if p.Phase == flow.Done && story.RolledBack(p.StepView) {
				list[j].Verdict = story.BackWord
			}
			if p.Path == story.FlagStep {
				list[j].Verdict = "flagged as " + string(belay.ClassInfrastructure)
			}
		}
	}
	return list
}

// moment is what news says about trouble; without a word: nothing.
func moment(n *story.News) Moment {
	what, text := "", ""
	var from *Recovery
	switch n.What {
	case story.AttemptJudged:
		if f := n.Attempt.Verdict.Failure; f != nil {
			what, text = failedWord, fmt.Sprintf("attempt %d%s: %s", n.Attempt.N, roleWords(n.Attempt.Role), f.Words())
		} else if n.Attempt.Verdict.Unknown {
			what, text = "unknown", fmt.Sprintf("attempt %d: nobody can tell whether its work was done", n.Attempt.N)
		}
	case story.StepRefused:
		what, text = "refused", n.Failure.Words()
	case story.AttemptFound:
		what, text = string(n.How), fmt.Sprintf("attempt %d%s, when another driver came", n.Attempt.N, roleWords(n.Attempt.Role))
	case story.RunAttached:
		switch {
		case n.Why != "":
			what, text = "host lost", n.Why
		case n.Arrival == story.TookOver:
			what, text = "driver died", "another one went on"
		}
	case story.RunStopped:
		what, text = "stopped", "by "+n.By
	case story.RunPaused:
		what, text = "paused", "by "+n.By
	case story.RecoveryChosen, story.ItemOpened, story.ItemAnswered, story.ItemExpired, story.StepSkipped, story.StepReset, story.RunCleared, story.RunReopened, story.RunResumed, story.AnswerGiven:
		what, text = decided(n.Decision)
		if r, ok := recoveryIn(n.Decision); ok {
			from = &r
		}
	case story.RunStarted, story.RunHeld, story.RunParked, story.RunEnded, story.AttemptStarted, story.AttemptNoted, story.AttemptStopping,
		story.AttemptEnded, story.StepNotTaken, story.RequestReceived, story.RequestRefused:
	}
	return Moment{n.At.UTC(), what, text, from}
}

func recoveryIn(d *story.Decision) (Recovery, bool) {
	if d == nil {
		return Recovery{}, false
	}
	return RecoveryFrom(d)
}

// words are the moment in a line: what failed, and then what was done about it.
func (m *Moment) words() string {
	text := belay.Plain(m.Text)
	switch which, why, ok := strings.Cut(text, ": "); {
	case m.recovery != nil:
		return m.recovery.Words(0)
	case m.What == failedWord && ok:
		return which + " failed: " + why
	}
	return m.What + prefixed(": ", text)
}

// toldBy tells whether the recovery from a failure tells of it, too.
func (m *Moment) toldBy(next Moment) bool {
	r := next.recovery
	return m.What == failedWord && r != nil && strings.HasPrefix(m.Text, fmt.Sprintf("attempt %d: ", r.N))
}

// decided is a decision in words.
func decided(d *story.Decision) (what, text string) {
	switch {
	case d == nil:
		return "", ""
	case d.Plan != nil:
		return d.Plan.Act.Row().Words, d.Plan.Reason
	case d.What == story.ItemOpened:
		return "asked", d.Why
	case d.What == story.ItemAnswered:
		text := d.Choice + " by " + d.By
		if d.Why != "" {
			text += ": " + d.Why
		}
		return "answered", text
	case d.What == story.ItemExpired:
		return "timed out", story.ExpiredWords(d)
	case d.What == story.StepSkipped:
		return "left out", "by " + d.By + ": " + d.Why
	case d.What == story.RunCleared:
		return "cleared", d.Choice + " by " + d.By + ": " + d.Why
	case d.What == story.StepReset:
		return "run again", "by " + d.By + ": " + d.Why
	case d.What == story.RunResumed && d.Agent != "":
		return "resumed", "by " + d.By + " with " + d.Agent
	case d.What == story.RunResumed:
		return "resumed", "by " + d.By
	case d.What == story.RunReopened && d.Why == "":
		return "opened again", "by " + d.By
	case d.What == story.RunReopened:
		return "opened again", "by " + d.By + ": " + d.Why
	}
	return "waited", d.Why
}

func roleWords(r belay.Role) string {
	if r == belay.RoleMain {
		return ""
	}
	return " of " + string(r)
}

// Unproven is a part that nobody has seen to be right.
type Unproven struct {
	What string `json:"what"` // the step or the criterion
	Kind string `json:"kind"` // answered, decided, unverified, left out, optional, rolled back, unmet, unproven
	Text string `json:"text"`
}

// unproven are those parts, the criteria first.
func (m *maker) unproven(criteria []Criterion, changes []story.Change) []Unproven {
	list := []Unproven{}
	for _, c := range criteria {
		if c.Verdict != Met {
			list = append(list, Unproven{"criterion " + c.ID, c.Verdict, c.Text})
		}
	}
	for i := range m.acc.Steps {
		p := &m.acc.Steps[i]
		if m.isDropped(p.Run) {
			continue
		}
		kind, text := m.unprovenStep(p)
		rests := p.Verdict != nil && (p.Verdict.Basis == effect.BasisChange || p.Verdict.Basis == effect.BasisExit)
		if kind == "unverified" && rests && !p.Verdict.Partial && m.checkedLater(p.At(), criteria, changes) {
			continue
		}
		if kind != "" {
			list = append(list, Unproven{p.At().Name(), kind, text})
		}
	}
	return list
}

func (m *maker) unprovenStep(p *story.Placed) (kind, text string) {
	agent := p.Main != nil && p.Main.Agent != nil || p.Type.Agent()
	switch v := p.Verdict; {
	case p.Phase == flow.Done && story.RolledBack(p.StepView):
		return story.BackWord, "its fallback put the files back as they were, so what it was to do is not done"
	case story.OnWord(p.StepView):
		return story.DecidedWord, m.onWhoseWord(p)
	case p.Phase == flow.Skipped:
		return "left out", "it should have run, and was left out"
	case p.Path == story.FlagStep:
		return "", ""
	case p.Phase == flow.Failed && p.Optional:
		return "optional", "it failed, and the run went on without it"
	case story.AnswerOnly(p.StepView) && !verdict.Passed(p.Verify):
		return story.AnsweredWord, "its agent gave an answer, and nobody checked what it says"
	case p.Phase != flow.Done || v == nil:
		return "", ""
	case story.Unverified(p.StepView):
		return "unverified", "an agent finished what a failed sub-recipe left, and nothing checked it"
	case v.Partial:
		return "unverified", "a part of it was left out"
	case v.Basis == effect.BasisExit && p.Main != nil && p.Main.Agent != nil && !verdict.Passed(p.Verify):
		return "unverified", "its agent says that it is done; nothing was expected of it, and no check looked at it"
	case v.Basis == effect.BasisChange && agent && !verdict.Passed(p.Verify):
		return "unverified", "files changed, and no check looked at them"
	}
	return "", ""
}

// checkedLater tells whether a check that Belay ran after a step, and that passed,
// had the files that the step changed: the check of a later step in the same tree,
// or that of a criterion.
func (m *maker) checkedLater(at story.Place, criteria []Criterion, changes []story.Change) bool {
	var last *story.Change
	for i := range changes {
		if changes[i].Place == at {
			last = &changes[i]
		}
	}
	if last == nil || last.Ended.IsZero() {
		return false
	}
	for _, c := range m.Checks(m.acc.Steps) {
		merged := m.merged(last.Dir) && c.Tree == m.mergedHome(last.Dir)
		if (c.Tree == last.Dir || merged) && c.Begun.After(last.Ended) {
			return true
		}
	}
	began := m.View(story.Place{Run: m.round(m.best()), Path: "check-criteria"}).Since
	return began.After(last.Ended) && slices.ContainsFunc(criteria, func(c Criterion) bool { return c.Exit != nil && *c.Exit == 0 })
}

// Steps that are at rest for a reason that has a name.
func (m *maker) unfinished() []string {
	c := m.acc.Count
	return slices.Concat(c.Open, c.Waiting, c.Unborn)
}
