package story

import (
	"testing"
	"time"

	"github.com/belay-run/belay"
)

// A run is never called running without a driver that lives.
// promise: X
func TestHowARunStands(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	soon, past := now.Add(time.Hour), now.Add(-time.Hour)
	for name, c := range map[string]struct {
		is    Listed
		want  RunState
		until time.Time
	}{
		"driven":                         {is: Listed{Status: belay.Running, Owned: true, Busy: true}, want: StateRunning},
		"driven, between two steps":      {is: Listed{Status: belay.Running, Owned: true}, want: StateRunning},
		"works, and something comes due": {is: Listed{Status: belay.Running, Owned: true, Busy: true, Until: soon}, want: StateRunning},
		"waits for a moment":             {is: Listed{Status: belay.Running, Owned: true, Until: soon}, want: StateWaiting, until: soon},
		"its moment is over":             {is: Listed{Status: belay.Running, Owned: true, Until: past}, want: StateRunning},
		"waits for another run":          {is: Listed{Status: belay.Running, Owned: true, Waits: "the tree"}, want: StateWaiting},
		"waits for a moment that passed": {is: Listed{Status: belay.Running, Owned: true, Waits: "a service", Until: past}, want: StateWaiting},
		"nobody drives it":               {is: Listed{Status: belay.Running}, want: StateLost},
		"nobody, and it was at work":     {is: Listed{Status: belay.Running, Busy: true}, want: StateLost},
		"nobody, and it waited":          {is: Listed{Status: belay.Running, Waits: "a service", Until: soon}, want: StateLost},
		"parked":                         {is: Listed{Status: belay.Running, Parked: soon}, want: StateParked, until: soon},
		"parked, and woken":              {is: Listed{Status: belay.Running, Parked: past, Owned: true}, want: StateRunning},
		"held":                           {is: Listed{Status: belay.Held, Until: soon}, want: StateHeld},
		"stopped":                        {is: Listed{Status: belay.Stopped, Owned: true}, want: StateStopped},
		"achieved":                       {is: Listed{Status: belay.Achieved, Owned: true, Busy: true}, want: StateEnded},
		"cancelled":                      {is: Listed{Status: belay.Aborted}, want: StateEnded},
		"stalemate":                      {is: Listed{Status: belay.Stalemate}, want: StateEnded},
	} {
		if got := c.is.State(now); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if got := c.is.Till(now); !got.Equal(c.until) {
			t.Errorf("%s: until %s, want %s", name, got, c.until)
		}
	}
}
