package tui

import (
	"fmt"

	"github.com/belay-run/belay"
)

// hookEnded is a line for a hook that did not end well: nobody judges it, and
// nobody would hear of it otherwise.
func (b *Board) hookEnded(l *lane) []Line {
	text := HookTrouble(l.ended)
	if text == "" {
		return nil
	}
	took := ""
	if !l.ended.Started.IsZero() {
		took = Took(l.ended.Ended.Sub(l.ended.Started))
	}
	return []Line{b.line("hook", l.place, took, text)}
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
