package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/story"
)

// waiting is a question that a person has to answer.
type waiting struct {
	Run      belay.RunID `json:"run"` // that the step belongs to
	Step     string      `json:"step"`
	Name     string      `json:"name"` // as the screen names the step
	Item     string      `json:"item"`
	Question string      `json:"question"`
	Choices  []string    `json:"choices"`
	Since    time.Time   `json:"since"`
	Command  string      `json:"command"` // TEXT, and one of the choices, are the person's
	Then     string      `json:"then"`
}

// waitings are the open questions of a run, in the order of its steps.
func waitings(s *runView, all []story.Placed, name string) []waiting {
	list := []waiting{}
	for _, q := range s.Questions(all) {
		list = append(list, waiting{
			Run: q.Run, Step: string(q.Path), Name: q.Name(), Item: q.ID, Question: q.Ask, Choices: q.Choices, Since: q.At.UTC(),
			Command: answerCommand(name, q.Run, q.Path, strings.Join(q.Choices, "|")),
			Then:    name + " resume " + string(s.id.Root()),
		})
	}
	return list
}

func answerCommand(name string, run belay.RunID, p belay.Path, choice string) string {
	return fmt.Sprintf("%s answer %s %s %s --why TEXT", name, run, p, choice)
}

// command is the answer with one choice.
func (w *waiting) command(name, choice string) string {
	return answerCommand(name, w.Run, belay.Path(w.Step), choice)
}

// choiceWords say what an answer does.
func choiceWords(choice string) string {
	switch choice {
	case belay.ChoiceDone:
		return "the work is there"
	case belay.ChoiceAgain:
		return "run it again"
	case belay.ChoiceFail:
		return "it failed"
	case belay.ChoiceSkip:
		return "leave it out; the run is PARTIAL at best"
	}
	return ""
}

// whyNext is what a person can safely do now.
type whyNext struct {
	Say      string   `json:"say"`
	Commands []string `json:"commands"` // the first is the one to type
}

// next names the next safe command.
func (w *whyFacts) next() whyNext {
	root := string(w.Run.Root())
	resume := w.belay + " resume " + root
	say := func(text string, cmds ...string) whyNext { return whyNext{text, append([]string{}, cmds...)} }
	switch w.Status {
	case belay.Achieved:
		return say(w.goodEnd())
	case belay.Aborted:
		return say("nothing: a cancelled run is final; a new one begins with the values that you give it", w.again()...)
	case belay.Running:
		if w.Crashed {
			return say("go on with it: what still runs is adopted, what is done is not done again", resume)
		}
		if len(w.Waits) > 0 {
			return say("answer when you can: somebody drives it, and it takes the answer at once", w.Waits[0].Command)
		}
		if len(w.Blocked) > 0 {
			return say("nothing: it goes on by itself at "+w.clock(w.Blocked[0].Until)+"; if you know that the service answers again, say so", w.breakers())
		}
		return say("nothing yet: somebody drives it; watch what it prints", w.belay+" logs "+root+" -f")
	case belay.Held:
		if len(w.Waits) == 0 {
			return say("every question is answered: go on", resume)
		}
		return say("answer, then go on; other steps went as far as they could", w.Waits[0].Command, resume)
	case belay.Stopped:
		return say("go on with it: what is done is not done again", resume)
	case belay.Partial:
		if len(w.Steps.LeftOut) == 0 {
			return say("look at the work; a verify on the step that was recovered or split would check it the next time", w.belay+" show "+root)
		}
		return say("when what was left out shall be done after all, open the run again", resume+" --why TEXT")
	case belay.Hollow:
		if f := w.Failure; f.stale() {
			return say("look at what the agent left; it did nothing "+fmt.Sprint(f.Same)+" times"+", so say what is different now before it runs again",
				append(w.looks(w.clears()), resume)...)
		}
		return say("look at what the agent left; then let the step run again, what is done is not done again", w.looks(resume)...)
	case belay.Failed:
		if f := w.Failure; f.stale() {
			return say(w.cure()+"; it failed "+fmt.Sprint(f.Same)+" times"+" in the same way, so say what is different now", w.clears(), resume)
		}
		return say(w.cure(), resume)
	}
	return say("")
}

// stale tells whether the same again would be refused.
func (f *whyFailure) stale() bool { return f != nil && f.Same > 1 }

// clears is the command that takes back what is counted against the step.
func (w *whyFacts) clears() string {
	return fmt.Sprintf("%s clear %s attempts:%s --why TEXT", w.belay, w.Failure.Run, w.Failure.Step)
}

// breakers is the command that takes back what is counted of the services.
func (w *whyFacts) breakers() string {
	return fmt.Sprintf("%s clear %s breakers --why TEXT", w.belay, w.Run.Root())
}

// again is the command that starts the same recipe anew.
func (w *whyFacts) again() []string {
	if w.File == "" {
		return nil
	}
	return []string{w.belay + " run " + quote(w.File)}
}

// looks are a look at the step, then the command that goes on.
func (w *whyFacts) looks(resume string) []string {
	var cmds []string
	if f := w.Failure; f != nil && f.Step != "" {
		cmds = append(cmds, fmt.Sprintf("%s show %s %s", w.belay, f.Run, f.Step))
	}
	return append(cmds, resume)
}

// newRun is the cure for what no second try of the same recipe mends.
const newRun = "mend what is wrong; if that is the recipe or a value of --set, start a new run: resume takes both as they were"

// cure says what a person does about a failure before the run goes on.
func (w *whyFacts) cure() string {
	const then = ", then go on; what is done is not done again"
	if w.Failure == nil {
		return "mend the cause" + then
	}
	row := w.Failure.Class.Row()
	switch {
	case w.Failure.Kind == belay.RoutingGap || w.Failure.Kind == belay.RecursionLimit || row.NewRun:
		return newRun
	case (row.Class == belay.ClassQuota || row.Class == belay.ClassRateLimit) && !w.Failure.Reset.IsZero():
		return "wait until " + w.local(w.Failure.Reset).Format(time.DateTime) + ", when the service opens again" + then
	case row.Cure != "":
		return row.Cure + then
	}
	return "mend the cause" + then + " (a changed recipe needs a new run)"
}
