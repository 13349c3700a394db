package engine

import (
	"context"
	"fmt"

	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
)

// Asker puts the questions of a run before somebody who is there: at a terminal, or
// in a rehearsal. It is asked a few times a second and never waits.
type Asker interface {
	// Ask is told which questions are open, and gives the answers to them, and
	// whether it can answer more of them. If not, they wait in the inbox.
	Ask(open []flow.Asking) (answers []event.Request, there bool)
}

// Attend has the questions of the run put before somebody, too, while it is driven.
func (o *Open) Attend(a Asker) { o.asker = a }

// Attended tells whether somebody is there who is asked.
func (o *Open) Attended() bool { return o.asker != nil }

// hearAnswers takes in what was answered by somebody who is there. When nobody is,
// the run may be held.
func (w *drive) hearAnswers(ctx context.Context) error {
	if w.Asker == nil {
		return nil
	}
	open := w.Tree.Asking()
	if len(open) == 0 {
		return nil
	}
	answers, there := w.Asker.Ask(open)
	for _, r := range answers {
		w.heard++
		r.ID = fmt.Sprintf("here.%d.%d", w.Epoch, w.heard)
		r.Ask = event.RequestAnswer
		w.facts = append(w.facts, flow.Fact{Run: r.Run, Event: event.RequestReceived{Request: r}})
	}
	if w.Tree.Attend(there) || len(answers) > 0 || there {
		return nil
	}
	return w.take(ctx, nil) // nobody is there any more
}
