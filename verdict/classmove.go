package verdict

import (
	"time"

	"github.com/belay-run/belay"
)

// longWait is the longest wait for an API that is worth more than another agent.
const longWait = 5 * time.Minute

// FirstMove is what a class asks for when nothing more is known.
func FirstMove(class belay.Class) belay.Move {
	switch class {
	case belay.ClassCancelled:
		return belay.MoveStop
	case belay.ClassTimeout, belay.ClassTransient, belay.ClassUnknown, belay.ClassConflict:
		return belay.MoveRetry
	case belay.ClassRateLimit:
		return belay.MoveRetryAfter
	case belay.ClassQuota, belay.ClassRefusal:
		return belay.MoveFailover
	case belay.ClassAuth, belay.ClassBudget, belay.ClassInfrastructure:
		return belay.MoveEscalate
	case belay.ClassPermission:
		return belay.MoveReassign
	case belay.ClassTokenLimit, belay.ClassComplexity:
		return belay.MoveDecompose
	case belay.ClassTurnLimit, belay.ClassIncomplete, belay.ClassTampered:
		return belay.MoveResume
	case belay.ClassWorkFailure, belay.ClassInvalidInput, belay.ClassMergeConflict:
		return belay.MoveRepair
	case belay.ClassHollow:
		return belay.MoveVerify
	case belay.ClassBenign, belay.ClassNone:
	}
	return belay.MoveNone
}

// endsItself tells whether what an agent's records tell of its service goes away
// with time.
func endsItself(class belay.Class) bool {
	return class == belay.ClassTransient || class == belay.ClassRateLimit || class == belay.ClassTimeout || class == belay.ClassInfrastructure
}

// secondMove is what is left when the same was tried and failed in the same way.
func secondMove(class belay.Class, agent bool) belay.Move {
	switch class {
	case belay.ClassTimeout, belay.ClassTransient:
		if agent {
			return belay.MoveFailover
		}
	case belay.ClassUnknown, belay.ClassInvalidInput:
		if agent {
			return belay.MoveRepair
		}
	case belay.ClassNone, belay.ClassCancelled, belay.ClassRateLimit, belay.ClassQuota, belay.ClassAuth, belay.ClassPermission,
		belay.ClassTokenLimit, belay.ClassTurnLimit, belay.ClassComplexity, belay.ClassBudget, belay.ClassRefusal,
		belay.ClassWorkFailure, belay.ClassConflict, belay.ClassInfrastructure, belay.ClassHollow, belay.ClassBenign,
		belay.ClassIncomplete, belay.ClassTampered, belay.ClassMergeConflict:
	}
	return belay.MoveEscalate
}

// typedMove looks at what an agent's record says beside the class.
func typedMove(a belay.AgentResult, class belay.Class, progress bool) belay.Move {
	switch {
	case class == belay.ClassRateLimit && a.RetryAfter > longWait:
		return belay.MoveFailover
	case class == belay.ClassTurnLimit && !progress:
		return belay.MoveDecompose
	case class == belay.ClassInvalidInput && a.Status == 404: // the model
		return belay.MoveFailover
	case class == belay.ClassInfrastructure: // what an agent's API tells of it is the network
		return belay.MoveRetry
	}
	return FirstMove(class)
}
