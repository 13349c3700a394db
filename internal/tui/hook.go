package tui

import (
	"fmt"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/story"
)

// hookEnded is a line for a hook that did not end well: nobody judges it, and
// nobody would hear of it otherwise.
func hookEnded(a *story.Attempt) []Line {
	text := HookTrouble(a.Observation)
	if text == "" {
		return nil
	}
	return []Line{line("hook", a.Place, took(a), text)}
}

// HookTrouble says how a hook ended, "" when it ended well.
func HookTrouble(o *belay.Observation) string {
	switch {
	case o.KilledBy == belay.KilledStop, o.KilledBy == belay.KilledCancel, o.KilledBy == belay.KilledGrace:
		return "cut off: it comes again when the run goes on"
	case o.KilledBy == belay.KilledDeadline:
		return "failed: it timed out; the run goes on"
	case o.Fault != belay.FaultNone:
		return "failed: " + o.Detail + "; the run goes on"
	case o.Signal != 0:
		return fmt.Sprintf("failed: signal %d; the run goes on", o.Signal)
	case o.Exit == 0:
		return ""
	}
	text := fmt.Sprintf("failed: exit %d", o.Exit)
	if last := LastLine(o.Tail); last != "" {
		text += ": " + Cut(last, 100)
	}
	return text + "; the run goes on"
}
