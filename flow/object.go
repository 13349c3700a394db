package flow

import (
	"github.com/belay-run/belay"
)

// endObject ends a run whose outputs are wanted as one object, too. The brain
// makes it of values that are in the records; others are put together by the
// hands first.
func (s *State) endObject(r belay.RunResult, room int) belay.Command {
	big := false
	for _, v := range r.Outputs {
		big = big || !v.Inline()
	}
	switch {
	case !big || r.Status != belay.Achieved && r.Status != belay.Partial:
	case s.listed == nil && room < 0:
		return nil // it comes to rest; asked when it goes on
	case s.listed == nil:
		return belay.Ask{Key: s.listKey(), Question: belay.Question{Object: r.Outputs}}
	case s.listed.Value == nil:
		return belay.End{Result: tooMuch("the outputs of "+s.prog.Name, s.listed.Error)}
	default:
		r.Object = s.listed.Value
	}
	return belay.End{Result: r}
}

// tooMuch is the end of a run whose results cannot be one value.
func tooMuch(what, why string) belay.RunResult {
	f := &belay.Failure{
		Kind: belay.BashFailure, Op: what, Cause: why,
		Hint: "write big results to files and print their paths instead",
	}
	return belay.RunResult{Status: belay.Failed, Code: belay.ExitFailed, Reason: f.Error(), Failure: f}
}
