package flow

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
)

// maxInputs is how often the agents of one step may ask a person; after that what
// they lack is a failure like any other.
const maxInputs = 3

// ruleInput is the rule of an attempt that goes on with a person's answer.
const ruleInput = "person.input"

// needsInput tells whether a step is not done because its agent asks a person.
func (s *State) needsInput(i int) bool {
	st := &s.steps[i]
	if st.phase != Broken || st.inputs >= maxInputs || st.main == nil || st.main.Agent == nil || st.failure == nil {
		return false
	}
	said := st.main.Agent.Result.Closing
	return said != nil && said.Word == belay.ClosedInput && st.failure.Class == belay.ClassIncomplete && s.typeOf(i).Agent()
}

// askInput puts the question of an agent before a person.
func (s *State) askInput(i int) command {
	def, st := &s.prog.Steps[i], &s.steps[i]
	return note{Event: event.ItemOpened{
		ID: fmt.Sprintf("%s.%d.input", def.ID, st.attempt), Path: def.ID, Ask: st.main.Agent.Result.Closing.Text,
		Choices: []string{belay.ChoiceReject}, About: event.ItemInput,
	}}
}

// informed folds a person's answer to an agent: its session goes on with it. A
// question is no failure, and the attempt that asked it counts as none.
func (s *State) informed(i int, e event.ItemAnswered) error {
	st := &s.steps[i]
	asked := st.question.Ask
	st.question, st.failure = nil, nil
	st.failed--
	st.extra++
	st.same, st.agent.mark = 0, ""
	st.nextAttempt.steer(belay.Plan{Act: belay.ActResume, Rule: ruleInput, Brief: fmt.Sprintf(
		"You asked a person: %s\n\nThe answer, as it was given:\n\n%s\n\nGo on with the task.", quoted(asked), quoted(e.Choice))})
	return s.again(i, time.Time{})
}

// quoted puts a text of others apart from what is asked.
func quoted(text string) string {
	return "> " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n> ")
}
