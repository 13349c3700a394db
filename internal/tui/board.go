// Package tui shows a run in a terminal: from its records it makes plain lines,
// a live view of what runs now, and a summary of how it stands. What is shown
// is a pure function of records and state; only Screen writes. It decides
// nothing, reads no journal, and lets no escape sequence of a step's output
// through.
package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
)

// Board makes the lines and the live view of a story that is being told.
type Board struct {
	story *story.Story
	names *Names
	plan  *plan                // for the live view; nil = nobody looked
	told  map[story.Place]bool // steps of which a line says why they failed

	groups  []*group
	kept    int // lines, of all groups
	longest int // name that a line had
}

// NewBoard shows a story.
func NewBoard(s *story.Story) *Board {
	return &Board{story: s, names: NewNames(s.Tree), told: map[story.Place]bool{}}
}

// Lines are those that news is worth.
func (b *Board) Lines(n *story.News) []Line {
	list := b.lines(n)
	for i := range list {
		if l := &list[i]; l.at.Run != "" {
			l.Step, l.Text = b.names.Of(l.at), b.names.From(l.at.Run)(l.at.Name(), l.Text)
		}
	}
	return list
}

func (b *Board) lines(n *story.News) []Line {
	switch n.What {
	case story.AttemptStarted:
		return b.began(n.Attempt)
	case story.AttemptNoted:
		return noted(n)
	case story.AttemptFound:
		return found(n)
	case story.AttemptEnded:
		return unjudged(n.Attempt)
	case story.AttemptJudged:
		return b.judged(n.Attempt)
	case story.AnswerGiven:
		return answer(n)
	case story.RecoveryChosen:
		return b.recovery(n.Decision)
	case story.StepRefused:
		b.told[n.Place] = true
		return []Line{line("failed", n.Place, "", b.failure(n.Place, n.Failure))}
	case story.StepNotTaken:
		if b.story.View(n.Place).Fallback {
			return nil // it is told when its turn comes
		}
		return []Line{line("not taken", n.Place, "", n.Why)}
	case story.StepSkipped:
		return []Line{line("skipped", n.Place, "", n.Why)}
	case story.StepReset:
		return []Line{line("reset", n.Place, "", "to run again, by "+n.Decision.By+": "+n.Why)}
	case story.ItemOpened:
		return b.asked(n)
	case story.ItemExpired:
		return []Line{line("timeout", n.Place, "", story.ExpiredWords(n.Decision))}
	case story.ItemAnswered:
		d := n.Decision
		text := d.Choice + " by " + d.By
		if d.Why != "" {
			text += ": " + d.Why
		}
		if d.Check {
			text += "; its check decides"
		}
		return []Line{line(story.DecidedWord, n.Place, "", text)}
	case story.RequestReceived:
		return request(*n.Request)
	case story.RequestRefused:
		return []Line{{Word: "refused", Step: "request", Text: n.Why}}
	case story.RunStarted, story.RunAttached, story.RunReopened, story.RunHeld, story.RunPaused, story.RunResumed, story.RunStopped, story.RunParked, story.RunEnded, story.RunCleared, story.AttemptStopping:
	}
	return nil
}

// asked is a line for a question. Of a step that failed it says why it did: the question
// itself follows with what to type.
func (b *Board) asked(n *story.News) []Line {
	b.told[n.Place] = true
	why := n.Why
	if v := b.story.View(n.Place); n.Decision.About == event.ItemHeld && v.Failure != nil && strings.Contains(why, v.Failure.Cause) {
		why = b.failure(n.Place, v.Failure)
	}
	return []Line{line(story.HeldWord(n.Decision.About), n.Place, "", why)}
}

// request is a line for what a person asked; what a run asks of its child is
// not news.
func request(r event.Request) []Line {
	if r.Run.Depth() > 0 || r.Ask == event.RequestAnswer {
		return nil
	}
	text := "asked by " + r.By
	if r.Why != "" {
		text += ": " + r.Why
	}
	return []Line{{Word: string(r.Ask), Text: text}}
}

// found is a line for what became of an attempt that was open. Of one that never began
// there is none: it begins now, and nothing of it was lost.
func found(n *story.News) []Line {
	if !n.Attempt.Known() {
		return nil
	}
	text := ""
	switch n.How {
	case fault.Adopted:
		text = "still running, not started again"
	case fault.Harvested:
		text = "ended meanwhile, its exit was kept"
	case fault.Unborn:
		return nil
	case fault.Lost:
		text = "its keeper died with it, the outcome is not known"
	}
	return []Line{line(string(n.How), beside(n.Attempt), "", text)}
}

// unjudged is a line for what nobody judges: an agent that helped and was ended
// together with its run, and a hook.
func unjudged(a *story.Attempt) []Line {
	switch {
	case !a.Known():
	case story.Helps(a.Role):
		return helperEnded(a)
	case a.Role == belay.RoleHook:
		return hookEnded(a)
	}
	return nil
}

func (b *Board) judged(a *story.Attempt) []Line {
	switch {
	case story.Helps(a.Role):
		return helperJudged(a)
	case a.Role == belay.RoleMerge:
		return b.mergeJudged(a)
	case a.Role == belay.RoleVerify && !a.Verdict.OK: // what follows says why
		return nil
	case a.Role == belay.RoleVerify && a.Verdict.Basis == effect.BasisPR:
		return []Line{line("done", a.Place, took(a), "the forge was asked again")}
	case a.Role == belay.RoleVerify: // judged only where a person called it done
		return []Line{line("done", a.Place, took(a), "its check passes, as a person said")}
	}
	again, work := "", ""
	if a.N > 1 {
		again = fmt.Sprintf("attempt %d", a.N)
	}
	if r := a.Report(); r != nil {
		work = AgentWork(r)
	}
	v := a.Verdict
	switch {
	case v.Empty:
		return []Line{line("not taken", a.Place, "", flow.NothingRan)}
	case v.OK && b.story.Merges(a.Place):
		return []Line{line("worked", a.Place, took(a), joined("its work is merged next", again, work))}
	case v.OK:
		part := ""
		if v.Partial {
			part = partly(a)
		}
		if a.Observation != nil && a.Observation.Degraded {
			return []Line{line("degraded", a.Place, took(a), joined("its output is no JSON and is kept as text", part, again, work))}
		}
		word := doneWord(v.Basis)
		if v.RolledBack {
			return []Line{line(story.BackWord, a.Place, took(a), joined("by "+b.fallback(a.Place), again))}
		}
		l := line(word, a.Place, took(a), joined(b.checked(a.Place, v.Basis), part, again, work))
		l.Detail = b.story.Minor(a.Place)
		return []Line{l}
	case v.GivenBack:
		return []Line{line("stopped", a.Place, took(a), givenBack(a))}
	}
	return nil
}

// doneWord is the word for a step that is done.
func doneWord(basis effect.Basis) string {
	if basis == effect.BasisAnswer {
		return story.AnsweredWord
	}
	return "done"
}

// checked says of a step that is done that its work was checked, and how long that took.
func (b *Board) checked(at story.Place, basis effect.Basis) string {
	if b.story.Tree == nil {
		return ""
	}
	v := b.story.View(at)
	if !story.ByCheck(basis) && (v.Verify == nil || v.Verify.Exit != 0) {
		return ""
	}
	return CheckedWords(v)
}

// CheckedWord is said of steps whose work Belay checked, and of no others.
const CheckedWord = "checked"

// CheckedWords are that word, with how long the check took where that is known.
func CheckedWords(v flow.StepView) string {
	if v.Verify == nil || v.Verify.Started.IsZero() {
		return CheckedWord
	}
	return CheckedWord + " (" + readable.Took(v.Verify.Ended.Sub(v.Verify.Started)) + ")"
}

// partly says what is missing about a step that does not count in full.
func partly(a *story.Attempt) string {
	if slices.Contains(a.Verdict.For, flow.Joined) {
		return unjoined
	}
	if a.Observation != nil && a.Observation.Child != nil && a.Observation.Child.Reason != "" {
		return a.Observation.Child.Reason
	}
	return "a part of it was left out"
}

// joined is what there is to say of several things, in one phrase.
func joined(words ...string) string {
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	return strings.Join(words, ", ")
}

// givenBack says what follows for an attempt that we ended: after a stop it is
// started again, after a cancel nothing is.
func givenBack(a *story.Attempt) string {
	if a.Observation != nil && a.Observation.KilledBy == fault.KilledCancel {
		return story.EndedBy(a.Verdict)
	}
	return "given back: it is started again at resume"
}

func line(word string, at story.Place, took, text string) Line {
	return Line{Word: word, Step: at.Name(), Took: took, Text: text, at: at}
}

// beside is where an attempt is shown.
func beside(a *story.Attempt) story.Place { return story.Place{Run: a.Run, Path: a.InRun()} }

// took is how long an attempt ran, "" when nobody knows.
func took(a *story.Attempt) string {
	if d, ok := a.Took(); ok {
		return readable.Took(d)
	}
	return ""
}
