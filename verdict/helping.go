package verdict

import (
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
)

// Helper looks at what an agent that helps must bring beyond a good end: an
// answer that is not blank and does not have the word that says that the work
// cannot be finished.
func Helper(v effect.Verdict, o effect.Observation, role belay.Role) effect.Verdict {
	if !v.OK || o.Agent == nil {
		return v
	}
	refuse := func(why string) effect.Verdict {
		return effect.Verdict{For: v.For, Against: append(v.Against, why), Sure: sureRecord, Failure: &belay.Failure{
			Kind: belay.BashFailure, Class: belay.ClassWorkFailure, Level: belay.LevelTyped, Rule: "aide." + string(role), Cause: why,
		}}
	}
	if role != belay.RoleRecovery {
		return v
	}
	switch {
	case strings.TrimSpace(o.Agent.Result.Excerpt) == "":
		return refuse("the answer is empty")
	case o.Agent.Result.GaveUp:
		return refuse("the agent says that it cannot be recovered")
	}
	return v
}

// Lenient takes an answer as it is: what speaks against an agent that ended
// well is kept, and does not count. Whether there is an answer is looked at
// by Helper.
func Lenient(v effect.Verdict) effect.Verdict {
	if v.Failure == nil || v.Failure.Kind != belay.HollowSuccess {
		return v
	}
	return effect.Verdict{OK: true, For: v.For, Against: v.Against, Sure: v.Sure}
}
