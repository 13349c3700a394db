package verdict

import (
	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
)

// lowered is a verdict after the closing line of the agent was heard: one that
// says itself that it is not done is not done, and one that says so without any
// evidence has claimed nothing. The line never makes a verdict better.
func (c Case) lowered(v effect.Verdict) effect.Verdict {
	said := c.Main.Agent.Result.Closing
	if said == nil || c.Classic {
		return v
	}
	line := string(said.Word) + " -- " + said.Text
	hollow := v.Failure != nil && v.Failure.Kind == belay.HollowSuccess
	switch said.Word {
	case belay.ClosedAchieved:
		return v
	case belay.ClosedUnclear:
		v.Against = append(v.Against, "its closing lines contradict each other: "+said.Text)
		return v
	case belay.ClosedNothing:
		if !hollow {
			if v.Basis == effect.BasisChange {
				v.Against = append(v.Against, "closing line: "+line)
			}
			return v
		}
	case belay.ClosedPartial, belay.ClosedNot, belay.ClosedInput, belay.ClosedHollow:
		if !v.OK && !hollow { // what else failed says more
			v.Against = append(v.Against, "closing line: "+line)
			return v
		}
	}
	cause := "the agent says itself that it is not done: " + line
	if hollow {
		cause = v.Failure.Cause + ", and the agent says: " + line
	}
	if v.OK && !Shows(&v) && Changed(c.Main.Agent.Evidence) {
		v.Basis = effect.BasisChange // nothing of the kind was asked, and there is work all the same
	}
	v.OK, v.Sure = false, sureRecord
	v.Against = append(v.Against, "closing line: "+line)
	v.Failure = &belay.Failure{Kind: belay.BashFailure, Class: belay.ClassIncomplete, Op: "step " + string(c.Step), Cause: cause,
		Hint: "its answer says why"}
	if c.Expect != belay.ExpectNone && said.Word == belay.ClosedNothing {
		v.Failure.Hint += "; where nothing to do is fine, say expect: none"
	}
	return v
}

// Shows tells whether a verdict rests on something that Belay saw: of an attempt
// that is not complete, that something was done.
func Shows(v *effect.Verdict) bool {
	if v == nil {
		return false
	}
	switch v.Basis {
	case effect.BasisChange, effect.BasisTests, effect.BasisPR, effect.BasisVerify:
		return true
	case effect.BasisAnswer, effect.BasisExit, effect.BasisPerson, "":
	}
	return false
}
