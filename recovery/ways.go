package recovery

import (
	"time"

	"github.com/belay-run/belay"
)

// way is one way out, as a class asks for it.
type way struct {
	act   belay.Act
	limit int           // how often at most for failures of this class; repair: rounds
	base  time.Duration // of the first pause
	most  time.Duration // the longest pause; 0 = MaxBackoff
	least time.Duration // the shortest one, when the other side asks for less
	park  bool          // a retry that waits for the time that the other side named
	anew  bool          // a retry whose Timeout is doubled
	every bool          // the limit holds for all agents together

	patient bool // a retry that waits for a service that is down
}

// How often the same agent is asked again, by what went wrong.
const (
	triesService  = 2 // the network, an overloaded service
	triesRate     = 3
	triesLock     = 5
	triesParked   = 3
	roundsWork    = 3
	roundsTangled = 2 // a merge, a bad file or value
)

const (
	baseService = 2 * time.Second
	baseRetried = 30 * time.Second // the CLI has tried by itself already
	baseRate    = 30 * time.Second // half of it is the least: 15 s
	baseLock    = time.Second
	mostLock    = 10 * time.Second
)

// ways is the order in which ways out are looked at.
func (c *chooser) ways() []way {
	if c.s.took(belay.ActFallback) {
		return nil // what the recipe names in its stead failed: nobody goes back behind it
	}
	switch c.s.Type {
	case belay.TypeAgent:
		return c.agentWays()
	case belay.TypeRecipe:
		return []way{{act: belay.ActRecover}} // its steps had their own ways out
	case belay.TypeBash:
	}
	return c.shellWays()
}

// shellWays: a retry is looked at for every failure that is not a person's, so
// that the record says why there is none.
func (c *chooser) shellWays() []way {
	f := c.s.Failure
	again := way{act: belay.ActRetry, limit: triesService, base: baseService}
	repair := way{act: belay.ActRepair, limit: roundsTangled}
	switch f.Class {
	case belay.ClassTransient, belay.ClassTimeout:
		return []way{again}
	case belay.ClassConflict:
		switch {
		case f.Move == belay.MoveEscalate: // a lock whose owner is dead
			return nil
		case f.Move == belay.MoveRepair:
			return []way{again, repair}
		}
		return []way{{act: belay.ActRetry, limit: triesLock, base: baseLock, most: mostLock}}
	case belay.ClassWorkFailure:
		return []way{again, {act: belay.ActRepair, limit: roundsWork}}
	case belay.ClassInvalidInput, belay.ClassInfrastructure:
		if f.Move == belay.MoveRepair {
			return []way{again, repair}
		}
		return []way{again}
	case belay.ClassNone, belay.ClassUnknown, belay.ClassBenign, belay.ClassHollow, belay.ClassRateLimit,
		belay.ClassTokenLimit, belay.ClassTurnLimit, belay.ClassComplexity, belay.ClassRefusal, belay.ClassIncomplete, belay.ClassTampered:
		return []way{again}
	case belay.ClassMergeConflict:
		return []way{{act: belay.ActRepair, limit: 1}}
	case belay.ClassCancelled, belay.ClassQuota, belay.ClassAuth, belay.ClassPermission, belay.ClassBudget:
	}
	return nil
}

// agentWays is the table of the policy.
func (c *chooser) agentWays() []way {
	f := c.s.Failure
	failover := way{act: belay.ActFailover}
	decompose := way{act: belay.ActDecompose}
	park := way{act: belay.ActRetry, limit: triesParked, park: true}
	switch f.Class {
	case belay.ClassTimeout:
		if c.s.ownClock() {
			return c.overtime()
		}
		return c.service(way{act: belay.ActRetry, limit: triesService, base: c.serviceBase()})
	case belay.ClassTransient:
		return c.service(way{act: belay.ActRetry, limit: triesService, base: c.serviceBase()})
	case belay.ClassRateLimit:
		return c.service(way{act: belay.ActRetry, limit: triesRate, base: baseRate, least: baseRate / 2})
	case belay.ClassQuota:
		return []way{failover, park}
	case belay.ClassAuth:
		return []way{failover}
	case belay.ClassPermission:
		return []way{{act: belay.ActReassign, limit: 1}}
	case belay.ClassTokenLimit:
		return []way{{act: belay.ActFresh, limit: 1}, decompose}
	case belay.ClassTurnLimit, belay.ClassComplexity:
		if c.s.Progress {
			return []way{{act: belay.ActResume, limit: 1}, {act: belay.ActFresh, limit: 1}, decompose}
		}
		return []way{decompose}
	case belay.ClassRefusal:
		return []way{{act: belay.ActFailover, limit: 1}}
	case belay.ClassWorkFailure:
		return []way{{act: belay.ActRepair, limit: roundsWork}}
	case belay.ClassConflict:
		if f.Move == belay.MoveRepair {
			return []way{{act: belay.ActRepair, limit: roundsTangled}}
		}
		return []way{{act: belay.ActRetry, limit: triesLock, base: baseLock, most: mostLock}}
	case belay.ClassInfrastructure:
		if c.s.outage() {
			return c.service(way{act: belay.ActRetry, limit: triesService, base: baseRetried})
		}
		return infraWays(f)
	case belay.ClassInvalidInput:
		return inputWays(f)
	case belay.ClassIncomplete, belay.ClassTampered: // the session is told once, in a new one where it cannot go on
		return []way{{act: belay.ActResume, limit: 1, every: true}, {act: belay.ActFresh, limit: 1, every: true}}
	case belay.ClassMergeConflict:
		return []way{{act: belay.ActRepair, limit: 1}}
	case belay.ClassHollow:
		return []way{{act: belay.ActResume, limit: 1, every: true}, {act: belay.ActRetry, limit: 1, base: baseService, every: true}}
	case belay.ClassNone, belay.ClassUnknown, belay.ClassBenign:
		return []way{{act: belay.ActRetry, limit: 1, base: c.serviceBase(), every: true}, {act: belay.ActRepair, limit: 1}}
	case belay.ClassCancelled, belay.ClassBudget:
	}
	return nil
}

// service is the ways out when the service behind an agent does not answer: the
// same again, then another agent, then the time that it named, then patience. One
// that is full is left at once. What only words say is not waited for long.
func (c *chooser) service(again way) []way {
	failover := way{act: belay.ActFailover}
	park := way{act: belay.ActRetry, limit: triesParked, park: true}
	var wait []way
	if c.s.outage() {
		again.patient, again.limit, again.most, park.patient = true, quickTries, MaxWait, true
		long := again
		long.limit = 0
		wait = []way{long}
	}
	if c.s.Failure.Move == belay.MoveFailover && c.s.Failure.Level != belay.LevelRepeat {
		return append([]way{failover, again, park}, wait...)
	}
	return append([]way{again, failover, park}, wait...)
}

// overtime is the ways out of our own timeout: with work to show the agent gets
// more time, once; without, the task is too big for it. One that fell silent has
// not too much to do: it hangs, also when it is asked for a plan.
func (c *chooser) overtime() []way {
	if c.s.Failure.Move == belay.MoveFailover {
		return []way{{act: belay.ActFailover}, {act: belay.ActFresh, limit: 1, every: true}}
	}
	after := []way{{act: belay.ActDecompose}, {act: belay.ActFailover}}
	if !c.s.Progress {
		return after
	}
	return append([]way{
		{act: belay.ActResume, limit: 1, anew: true, every: true},
		{act: belay.ActRetry, limit: 1, base: baseService, anew: true, every: true},
	}, after...)
}

// serviceBase keeps away longer from a service that the CLI has knocked at.
func (c *chooser) serviceBase() time.Duration {
	if c.s.Retried {
		return baseRetried
	}
	return baseService
}

func infraWays(f belay.Failure) []way {
	switch f.Move {
	case belay.MoveRetry:
		return []way{{act: belay.ActRetry, limit: 1, base: baseRetried}} // memory
	case belay.MoveRepair:
		return []way{{act: belay.ActRepair, limit: roundsTangled}}
	case belay.MoveNone, belay.MoveVerify, belay.MoveRetryAfter, belay.MoveResume, belay.MoveFailover, belay.MoveReassign,
		belay.MoveDecompose, belay.MoveEscalate, belay.MoveAbort, belay.MoveStop:
	}
	return nil
}

func inputWays(f belay.Failure) []way {
	switch f.Move {
	case belay.MoveFailover: // its model is not there
		return []way{{act: belay.ActFailover}}
	case belay.MoveRetry: // its session is not there
		return []way{{act: belay.ActFresh, limit: 1}}
	case belay.MoveRepair, "":
		return []way{{act: belay.ActRepair, limit: roundsTangled}}
	case belay.MoveNone, belay.MoveVerify, belay.MoveRetryAfter, belay.MoveResume, belay.MoveReassign,
		belay.MoveDecompose, belay.MoveEscalate, belay.MoveAbort, belay.MoveStop:
	}
	return nil
}
