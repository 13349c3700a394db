package cli

import (
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/story"
)

// Of the answers that a person gives in a run at the same time, each hears about
// its own step; who names none means the only one that waits.
//
// promise: X
func TestAnswerOfAnotherStep(t *testing.T) {
	t.Parallel()
	for step, want := range map[belay.Path]bool{"a": true, "": true, "b": false} {
		l := listener{heardOf: story.New(nil), req: event.Request{ID: "1", Run: "r", By: "me", Ask: event.RequestAnswer, Step: step}}
		l.listen([]event.Record{{Run: "r", Seq: 1, Event: event.ItemAnswered{Path: "a", By: "me", Choice: event.ChoiceDone, Check: true}}})
		if l.check != want {
			t.Errorf("%s: its check is asked: %v", step, l.check)
		}
	}
}
