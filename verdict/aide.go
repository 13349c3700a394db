package verdict

import (
	"strings"

	"github.com/belay-run/belay"
)

// RuleGaveUp is the rule that refuses an answer which says in plain words that
// the work is not done.
const RuleGaveUp = "aide.gave_up"

// Aide looks at what an agent that helps must bring beyond a good end: an
// answer that is not blank and does not say that the work cannot be finished.
// By the classic rule only the token says that.
func Aide(v belay.Verdict, o belay.Observation, role belay.Role, classic bool) belay.Verdict {
	if !v.OK || o.Agent == nil {
		return v
	}
	refuse := func(why string, level belay.Level, rule string) belay.Verdict {
		return belay.Verdict{For: v.For, Against: append(v.Against, why), Sure: sureRecord, Failure: &belay.Failure{
			Kind: belay.BashFailure, Class: belay.ClassWorkFailure, Level: level, Rule: rule, Cause: why,
		}}
	}
	if role != belay.RoleRecovery {
		return v
	}
	switch {
	case strings.TrimSpace(o.Agent.Result.Excerpt) == "":
		return refuse("the answer is empty", belay.LevelTyped, "aide."+string(role))
	case o.Agent.Result.GaveUp:
		return refuse("the agent says that it cannot be recovered", belay.LevelTyped, "aide."+string(role))
	case !classic && gaveUp(o.Agent.Result.Excerpt):
		return refuse("the agent says itself that the work is not done", belay.LevelText, RuleGaveUp)
	}
	return v
}

// Lenient takes an answer as it is: what speaks against an agent that ended
// well is kept, and does not count. Whether there is an answer is looked at
// by Aide.
func Lenient(v belay.Verdict) belay.Verdict {
	if v.Failure == nil || v.Failure.Kind != belay.HollowSuccess {
		return v
	}
	return belay.Verdict{OK: true, For: v.For, Against: v.Against, Sure: v.Sure}
}
