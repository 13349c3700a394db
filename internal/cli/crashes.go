package cli

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
)

// crashes says how often a driver of the run died and another went on; "" when
// none did. A driver that leaves in order says so in its last record.
func (s *story) crashes() string {
	var attached, inOrder bool
	var resumed []time.Time
	for _, r := range s.recs {
		switch r.Event.(type) {
		case belay.RunAttached:
			if attached && !inOrder {
				resumed = append(resumed, r.At)
			}
			attached, inOrder = true, false
		case belay.RunStopped, belay.RunEnded, belay.RunHeld:
			inOrder = r.Run == s.id.Root()
		case belay.ItemAnswered, belay.RequestReceived, belay.RequestRefused, belay.RunReopened: // may come to a run without a driver
		default:
			inOrder = false
		}
	}
	if len(resumed) == 0 {
		return ""
	}
	return fmt.Sprintf("%d: the driver died; the last time another went on at %s", len(resumed), resumed[len(resumed)-1].Local().Format(time.DateTime))
}
