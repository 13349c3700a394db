package journal

import (
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
)

// A run that a person paused is paused in a rebuilt index, also when it asks something,
// until a person lets it go on.
func TestPausedInARebuiltIndex(t *testing.T) {
	t.Parallel()
	pause := event.RequestReceived{Request: event.Request{ID: "p", Run: "r", By: "ann", Ask: event.RequestPause}}
	for name, c := range map[string]struct {
		events []event.Event
		want   belay.Status
		reason string
	}{
		"asks":              {[]event.Event{event.RunHeld{}}, belay.Held, ""},
		"paused, and asks":  {[]event.Event{event.RunParked{For: "step a"}, pause, event.RunHeld{}}, belay.Paused, "paused by ann"},
		"resumed, and asks": {[]event.Event{pause, event.RunHeld{}, event.RunAttached{}, event.RunResumed{}, event.RunHeld{}}, belay.Held, ""},
		"stopped, and asks": {[]event.Event{pause, event.RunStopped{}, event.RunAttached{}, event.RunHeld{}}, belay.Held, ""},
	} {
		recs := []event.Record{{Run: "r", Event: event.RunStarted{Name: "n"}}}
		for _, e := range c.events {
			recs = append(recs, event.Record{Run: "r", Event: e})
		}
		if sum, _ := summarize("r", recs); sum.Status != c.want || sum.Reason != c.reason {
			t.Errorf("%s: %s %q, want %s %q", name, sum.Status, sum.Reason, c.want, c.reason)
		}
	}
}
