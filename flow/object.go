package flow

import (
	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/exit"
)

// endObject ends a run whose outputs are wanted as one object, too. The brain
// makes it of values that are in the records; others are put together by the
// hands first.
func (s *State) endObject(r belay.RunResult, room int) command {
	big := false
	for _, v := range r.Outputs {
		big = big || !v.Inline()
	}
	switch {
	case !big || r.Status != belay.Achieved && r.Status != belay.Partial:
	case s.listed == nil && room < 0:
		return nil // it comes to rest; asked when it goes on
	case s.listed == nil:
		return effect.Ask{Key: s.listKey(), Question: effect.AskList{Object: r.Outputs}}
	case s.listed.Value == nil:
		return runEnd{Result: tooMuch("the outputs of "+s.prog.Name, s.listed.Error)}
	default:
		r.Object = s.listed.Value
	}
	return runEnd{Result: r}
}

// tooMuch is the end of a run whose results cannot be one value.
func tooMuch(what, why string) belay.RunResult {
	f := &belay.Failure{
		Kind: belay.BashFailure, Op: what, Cause: why,
		Hint: "write big results to files and print their paths instead",
	}
	return belay.RunResult{Status: belay.Failed, Code: exit.Failed, Reason: f.Error(), Failure: f}
}
