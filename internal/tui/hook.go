package tui

import (
	"fmt"

	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/internal/readable"
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
func HookTrouble(o *effect.Observation) string {
	switch {
	case o.KilledBy == fault.KilledStop, o.KilledBy == fault.KilledCancel, o.KilledBy == fault.KilledGrace, o.KilledBy == fault.KilledLease:
		return "cut off: it comes again when the run goes on"
	case o.KilledBy == fault.KilledDeadline:
		return "failed: it timed out; the run goes on"
	case o.Fault != fault.None:
		return "failed: " + o.Detail + "; the run goes on"
	case o.Signal != 0:
		return fmt.Sprintf("failed: signal %d; the run goes on", o.Signal)
	case o.Exit == 0:
		return ""
	}
	text := fmt.Sprintf("failed: exit %d", o.Exit)
	if last := readable.LastLine(o.Tail); last != "" {
		text += ": " + readable.Cut(last, 100)
	}
	return text + "; the run goes on"
}
