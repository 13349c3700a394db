package flow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
)

// maxQuestion bounds the text of a question to a person.
const maxQuestion = 8 << 10

// settledItems say how the items of a run were settled, by their names, and the last
// one of each step by the name of the step, and the last of all by no name: whoever answers
// once more is told.
type settledItems map[string]string

func (s settledItems) add(p belay.Path, id, how string) {
	s[id] = fmt.Sprintf("item %s is settled already: %s", id, how)
	s[string(p)], s[""] = s[id], s[id]
}

// about is how the item that an answer is for was settled; "" when it never was one.
func (s settledItems) about(r event.Request) string {
	if r.Item != "" {
		return s[r.Item]
	}
	return s[string(r.Step)]
}

// nextApproval opens the question that a step is.
func (s *State) nextApproval(i int, now time.Time) command {
	def, st := &s.prog.Steps[i], &s.steps[i]
	text, err := s.questionText(i)
	if err != nil {
		return s.refuseText(i, s.ownKind(i), err)
	}
	e := event.ItemOpened{
		ID: fmt.Sprintf("%s.%d", def.ID, st.attempt+1), Path: def.ID, Ask: text,
		Choices: def.Approve.Choices, About: event.ItemApproval, Who: def.Approve.Who,
	}
	if def.Approve.Timeout > 0 {
		e.Until, e.OnTimeout = now.Add(def.Approve.Timeout), def.Approve.OnTimeout
	}
	return note{Event: e}
}

// questionText is what the person is asked. A person reads it on a screen: a value
// that is too big for the records is too big for that, too.
func (s *State) questionText(i int) (string, error) {
	c, prompt := s.scope(i), s.prog.Steps[i].Prompt
	for _, name := range prompt.Names() {
		switch {
		case c.secret[name]:
			return "", fmt.Errorf("prompt: a question holds no secret, and {{%s}} is one", name)
		case !c.vars[name].Inline():
			return "", fmt.Errorf("prompt: the value of {{%s}} is too big for a question: let a step print the part that matters", name)
		}
	}
	text, err := prompt.Render(c.texts())
	if err != nil {
		return "", fmt.Errorf("prompt: %w", err)
	}
	if text = strings.TrimSpace(text); len(text) > maxQuestion {
		text = strings.ToValidUTF8(text[:maxQuestion], "") + "…"
	}
	if text == "" {
		return "", fmt.Errorf("prompt: nothing is left of the question once its names are filled in")
	}
	return text, nil
}

// asking folds that a step asks a person.
func (s *State) asking(i int, e event.ItemOpened, at time.Time) error {
	st := &s.steps[i]
	s.unqueue(i)
	st.attempt++
	st.since, st.taken, st.greeted, st.woken = at, true, true, false
	s.ran = true
	st.question = &e
	if !e.Until.IsZero() {
		s.expiries.push(timer{e.Until, i, ""})
	}
	return s.openItem(i, e.ID)
}

// nextExpired says of the first question that nobody answered in time what that
// means.
func (s *State) nextExpired(now time.Time) command {
	if s.result != nil || s.cancel != nil || len(s.expiries.list) == 0 {
		return nil
	}
	t := s.expiries.list[0]
	if t.at.After(now) {
		return nil
	}
	q := s.steps[t.step].question
	return note{Event: event.ItemExpired{ID: q.ID, Path: q.Path, Then: q.OnTimeout}}
}

// expired folds that a question timed out.
func (s *State) expired(e event.ItemExpired, at time.Time) error {
	i, ok := s.items[e.ID]
	if !ok || s.steps[i].question == nil {
		return fmt.Errorf("run %s: item %s is not open", s.id, e.ID)
	}
	q := *s.steps[i].question
	s.expiries.remove(i, "")
	if e.Then == belay.TimeoutHold {
		return nil
	}
	waited := q.Until.Sub(s.steps[i].since).Round(time.Millisecond)
	s.closeItem(i, fmt.Sprintf("it timed out after %s, which counts as %s", waited, e.Then))
	return s.chose(i, e.Then, fmt.Sprintf("nobody answered within %s", waited), belay.ClassTimeout, at)
}

// approved folds a person's answer to an approval.
func (s *State) approved(i int, e event.ItemAnswered, at time.Time) error {
	s.expiries.remove(i, "")
	by := e.By
	if e.Why != "" {
		by += ": " + e.Why
	}
	s.closeItem(i, fmt.Sprintf("%s answered it with %s at %s", e.By, e.Choice, at.UTC().Format(time.RFC3339)))
	if e.About == event.ItemInput && e.Choice != belay.ChoiceReject {
		return s.informed(i, e)
	}
	return s.chose(i, e.Choice, by, belay.ClassCancelled, at)
}

// chose settles an approval by a choice; why says where that came from.
func (s *State) chose(i int, choice, why string, class belay.Class, at time.Time) error {
	def, st := &s.prog.Steps[i], &s.steps[i]
	st.question = nil
	if choice == belay.ChoiceReject {
		cause := "rejected by " + why
		if class == belay.ClassTimeout {
			cause = why + ": rejected by its timeout"
		}
		st.declared = true
		st.failure = &belay.Failure{
			Kind: s.ownKind(i), Class: class, Op: "step " + string(def.ID), Cause: cause,
			Level: belay.LevelAct, Rule: belay.RulePerson, Move: belay.ActStop,
		}
		if err := s.move(i, Failed); err != nil {
			return err
		}
		s.fail(i)
		return nil
	}
	v := belay.Text(choice)
	st.main = &effect.Observation{Began: true, Started: st.since, Ended: at, Output: &v}
	st.verdict = &effect.Verdict{OK: true, Basis: effect.BasisPerson, For: []string{choice + " by " + why}}
	if class == belay.ClassTimeout {
		st.verdict.For = []string{why + ": " + choice + " by its timeout"}
	}
	s.setOutputs(i)
	return s.finish(i, Done)
}

// openItem keeps a step as one that a person is asked about.
func (s *State) openItem(i int, id string) error {
	s.items[id] = i
	s.steps[i].item = id
	return s.move(i, Held)
}

// closeItem forgets the open item of a step, and keeps how it was settled.
func (s *State) closeItem(i int, how string) {
	st := &s.steps[i]
	s.closed.add(s.prog.Steps[i].ID, st.item, how)
	delete(s.items, st.item)
	st.item = ""
}

// answerApproval says what becomes of an answer to an approval: a record, or why
// it does not count.
func (s *State) answerApproval(i int, r event.Request) (event.Event, string) {
	q := s.steps[i].question
	switch {
	case q.About == event.ItemInput && strings.TrimSpace(r.Choice) == "":
		return nil, fmt.Sprintf("item %s is answered with a text, and there is none", q.ID)
	case q.About == event.ItemInput && len(r.Choice) > maxQuestion:
		return nil, fmt.Sprintf("the answer has %d bytes; at most %d are taken: put it into a file, and name that", len(r.Choice), maxQuestion)
	case q.About == event.ItemInput:
	case !slices.Contains(q.Choices, r.Choice):
		return nil, fmt.Sprintf("unknown answer %q: item %s is answered with %s", r.Choice, q.ID, oneOf(q.Choices))
	case len(q.Who) > 0 && !slices.Contains(q.Who, r.By):
		return nil, fmt.Sprintf("item %s is for %s to answer, not for %s", q.ID, oneOf(q.Who), r.By)
	}
	return event.ItemAnswered{ID: q.ID, Path: q.Path, By: r.By, Choice: r.Choice, Why: r.Why, About: q.About}, ""
}

// oneOf is a list of words of which one is meant.
func oneOf(words []string) string {
	if n := len(words) - 1; n > 0 {
		return strings.Join(words[:n], ", ") + " or " + words[n]
	}
	return strings.Join(words, "")
}

// Asking is an open question of a run.
type Asking struct {
	Run belay.RunID
	event.ItemOpened
}

// Asks tells whether something waits for a person.
func (t *Tree) Asks() bool { return len(t.holding.list) > 0 }

// Asking are the questions that are open, run by run.
func (t *Tree) Asking() []Asking {
	var list []Asking
	for _, b := range t.holding.list {
		s := t.born[b]
		for i := range s.steps {
			if q := s.steps[i].question; q != nil {
				list = append(list, Asking{s.id, *q})
			}
		}
	}
	return list
}

// Attend says whether somebody is there who can be asked: then a run is not held
// while a question is open. It tells whether that is nothing new.
func (t *Tree) Attend(there bool) (same bool) {
	same = t.attended == there
	t.attended = there
	return same
}
