package flow

import (
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
)

// A run is parked until its next act, and a driver or a request ends that; only
// a turn that leaves nothing at work says that it may be.
//
// promise: W13
func TestParked(t *testing.T) {
	parked := func(t *testing.T) *world {
		t.Helper()
		w := begin(t, "name: n\nsteps:\n- {id: a, command: x, retry: {max_attempts: 3, backoff: 1h}}\n- {id: b, command: y, needs: []}\n")
		w.exit("r:a.1", 1)
		if w.out.Idle || w.out.Until.IsZero() {
			t.Fatalf("idle %v until %s while b is at work", w.out.Idle, w.out.Until)
		}
		w.exit("r:b.1", 0)
		f, ok := w.tree.Parking()
		if !w.out.Idle || !ok || f.Run != "r" {
			t.Fatalf("idle %v, parking %+v %v", w.out.Idle, f, ok)
		}
		due := w.out.Until
		w.turn(f)
		w.wantStatus(belay.Parked, 0)
		if p, ok := w.tree.Parked(); !ok || !p.Until.Equal(due) || p.For != "step a" {
			t.Fatalf("parked %+v %v, due %s", p, ok, due)
		}
		w.now = w.now.Add(time.Minute)
		return w
	}
	t.Run("a driver comes", func(t *testing.T) {
		w := parked(t)
		w.reload(nil)
		w.wantStatus(belay.Running, 0)
		w.wantStarts("") // it is not due yet
		w.now = w.out.Until
		w.turn()
		w.wantStarts("r:a.2")
	})
	t.Run("somebody asks", func(t *testing.T) {
		w := parked(t)
		w.turn(Fact{"r", event.RequestReceived{Request: event.Request{ID: "q", Run: "r", Ask: event.RequestClear, What: event.CountAttempts, By: "me"}}})
		if _, ok := w.tree.Parked(); ok {
			t.Error("still parked")
		}
	})
	t.Run("stopped", func(t *testing.T) {
		w := parked(t)
		w.turn(Fact{"r", event.RequestReceived{Request: event.Request{ID: "q", Run: "r", Ask: event.RequestStop, By: "me"}}})
		w.wantStatus(belay.Stopped, 0)
	})
	t.Run("for an answer", func(t *testing.T) {
		w := begin(t, "name: n\nsteps:\n- {id: ok, approve: {prompt: Go, timeout: 2h, on_timeout: reject}}\n- {id: a, command: x, needs: [], retry: {max_attempts: 3, backoff: 1h}}\n")
		w.exit("r:a.1", 1)
		parking := func(want string) {
			f, ok := w.tree.Parking()
			if p, is := f.Event.(event.RunParked); !ok || !is || p.For != want {
				t.Fatalf("parking %+v %v, want for %q", f, ok, want)
			}
		}
		parking("step a")
		w.now = w.out.Until
		w.turn()
		w.exit("r:a.2", 0)
		parking("an answer to step ok")
	})
}
