package engine

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/proc"
)

// togetherWithin is how long after the death of a step the driver may be told to end
// itself for both to be one act.
const togetherWithin = 200 * time.Millisecond

// heed makes the wish that the drive ends a fact, once.
func (w *drive) heed(ctx context.Context) {
	if !w.heeded {
		w.heeded = true
		w.facts = append(w.facts, w.stopFact(context.Cause(ctx), w.Epoch))
	}
}

func (w *drive) stopFact(cause error, epoch int64) flow.Fact {
	by := "stop"
	if cause != nil {
		by = cause.Error()
	}
	return flow.Fact{Run: w.Root, Event: event.RequestReceived{Request: event.Request{
		ID: fmt.Sprintf("stop.%d", epoch), Run: w.Root, By: by, Ask: event.RequestStop,
	}}}
}

// together tells whether an attempt was ended along with its driver. Whoever ends a whole
// tree of processes (the step that started this run, a service manager) signals them one
// by one: the driver hears that a step died a moment before it is told to end itself, and
// a step that was ended so has not failed.
func (w *drive) together(ctx context.Context, e *proc.Exit) bool {
	if e.KilledBy != fault.KilledNot || !felled(e) {
		return false
	}
	left := togetherWithin - time.Since(e.Ended) // many that were ended at once are waited for once
	late := time.NewTimer(min(max(left, 0), togetherWithin))
	defer late.Stop()
	select {
	case <-ctx.Done():
		return true
	case <-late.C:
		return false
	}
}

// felled tells whether a signal ended an attempt that means no more than that: end. A
// shell gives the death of its child as a code.
func felled(e *proc.Exit) bool {
	switch s := syscall.Signal(max(e.Signal, e.Code-128)); s {
	case syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL:
		return true
	}
	return false
}
