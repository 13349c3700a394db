package verdict

import (
	"strings"

	"github.com/belay-run/belay"
)

// Helper looks at what an agent that helps must bring beyond a good end: an
// answer that is not blank and does not have the word that says that the work
// cannot be finished.
func Helper(v belay.Verdict, o belay.Observation, role belay.Role) belay.Verdict {
	if !v.OK || o.Agent == nil {
		return v
	}
	refuse := func(why string) belay.Verdict {
		return belay.Verdict{For: v.For, Against: append(v.Against, why), Sure: sureRecord, Failure: &belay.Failure{
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
func Lenient(v belay.Verdict) belay.Verdict {
	if v.Failure == nil || v.Failure.Kind != belay.HollowSuccess {
		return v
	}
	return belay.Verdict{OK: true, For: v.For, Against: v.Against, Sure: v.Sure}
}
