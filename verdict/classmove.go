package verdict

import (
	"time"

	"github.com/belay-run/belay"
)

// longWait is the longest wait for an API that is worth more than another agent.
const longWait = 5 * time.Minute

// ofService tells whether an agent failed at the service that it calls, in a way
// that goes away with time. Its records say so; where it keeps none, its words are
// believed if it came to nothing: it changed nothing and used no tool.
func ofService(f Facts, found Finding) bool {
	if f.Agent == nil || !found.Class.Row().Returns {
		return false
	}
	if found.Level == belay.LevelTyped {
		return true
	}
	network := found.Class != belay.ClassTimeout && (found.Class != belay.ClassInfrastructure || found.Move == belay.ActRetry)
	return found.Level == belay.LevelText && network && f.Agent.Error && !f.Progress && f.Agent.ToolCount == 0
}

// secondMove is what is left when the same was tried and failed in the same way.
func secondMove(class belay.Class, agent bool) belay.Act {
	if second := class.Row().Second; agent && second != "" {
		return second
	}
	return belay.ActEscalate
}

// typedMove looks at what an agent's record says beside the class.
func typedMove(a belay.AgentResult, class belay.Class, progress bool) belay.Act {
	switch {
	case class == belay.ClassRateLimit && a.RetryAfter > longWait:
		return belay.ActFailover
	case class == belay.ClassTurnLimit && !progress:
		return belay.ActDecompose
	case class == belay.ClassInvalidInput && a.Status == 404: // the model
		return belay.ActFailover
	case class == belay.ClassInfrastructure: // what an agent's API tells of it is the network
		return belay.ActRetry
	}
	return class.Row().First
}
