package verdict

import (
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
)

// An agent that stopped at a limit of its own is not done, whatever its error
// flag and its exit say, and however much work is there.
//
// promise: H3
func TestAgentAtItsLimit(t *testing.T) {
	t.Parallel()
	for _, flag := range []bool{false, true} {
		r := effect.AgentReport{Name: "x", Result: belay.AgentResult{Final: true, Stop: belay.StopLimit, Error: flag, Excerpt: "half way"},
			Evidence: belay.Evidence{Files: 1, Changed: []belay.FileChange{{Path: "a"}}, Before: belay.TreeState{Tree: "1"}, After: belay.TreeState{Tree: "2"}}}
		if flag {
			r.Result.Class = belay.ClassTurnLimit
		}
		v := Of(Case{Step: "s", Type: belay.TypeAgent, Expect: belay.ExpectChange, Main: effect.Observation{Began: true, Agent: &r}})
		if v.OK || v.Failure == nil || v.Failure.Class != belay.ClassTurnLimit {
			t.Errorf("flag %v: %+v", flag, v)
		}
	}
}
