package recovery

import (
	"time"

	"github.com/belay-run/belay"
)

// way is one recovery, as a class asks for it.
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

// ways is the order in which recoveries are looked at.
func (c *chooser) ways() []way {
	if c.s.took(belay.ActFallback) {
		return nil // what the recipe names instead failed: nobody goes back behind it
	}
	switch c.s.Type {
	case belay.TypeAgent:
		return c.agentWays()
	case belay.TypeRecipe:
		if c.s.Merging && c.s.Failure.Class == belay.ClassMergeConflict {
			return c.shellWays() // its work is done: to merge it is no matter of its steps
		}
		return []way{{act: belay.ActRecover}} // its steps had their own recoveries
	case belay.TypeCall:
		return nil // the same inputs give the same result, and there is nothing to mend
	case belay.TypeApprove:
		return nil // a person said no
	case belay.TypeBash:
	}
	return c.shellWays()
}

// recoveries are what a class of failures is met with, in order: of a shell step,
// and of an agent. Every class has its row here.
type recoveries struct{ shell, agent func(*chooser) []way }

func (c *chooser) shellWays() []way { return c.row().shell(c) }

func (c *chooser) agentWays() []way { return c.row().agent(c) }

func (c *chooser) row() recoveries {
	row, ok := table()[c.s.Failure.Class]
	if !ok {
		row = table()[belay.ClassUnknown]
	}
	return row
}

// always are recoveries that depend on nothing but the class.
func always(ways ...way) func(*chooser) []way { return func(*chooser) []way { return ways } }

// table has a row for each class. For a shell step a retry is looked at after
// every failure that is not a person's, so that the record says why there is none.
func table() map[belay.Class]recoveries {
	none := always()
	again := always(way{act: belay.ActRetry, limit: triesService, base: baseService})
	failover := way{act: belay.ActFailover}
	decompose := way{act: belay.ActDecompose}
	told := always( // the session is told once, in a new one where it cannot go on
		way{act: belay.ActResume, limit: 1, every: true}, way{act: belay.ActFresh, limit: 1, every: true})
	unknown := func(c *chooser) []way {
		return []way{{act: belay.ActRetry, limit: 1, base: c.serviceBase(), every: true}, {act: belay.ActRepair, limit: 1}}
	}
	mendOnce := always(way{act: belay.ActRepair, limit: 1})
	return map[belay.Class]recoveries{
		belay.ClassNone:      {again, unknown},
		belay.ClassUnknown:   {again, unknown},
		belay.ClassBenign:    {again, unknown},
		belay.ClassCancelled: {none, none},
		belay.ClassTimeout:   {again, (*chooser).late},
		belay.ClassTransient: {again, func(c *chooser) []way {
			return c.service(way{act: belay.ActRetry, limit: triesService, base: c.serviceBase()})
		}},
		belay.ClassRateLimit: {again, func(c *chooser) []way {
			return c.service(way{act: belay.ActRetry, limit: triesRate, base: baseRate, least: baseRate / 2})
		}},
		belay.ClassQuota:      {none, always(failover, way{act: belay.ActRetry, limit: triesParked, park: true})},
		belay.ClassAuth:       {none, always(failover)},
		belay.ClassPermission: {none, always(way{act: belay.ActReassign, limit: 1})},
		belay.ClassTokenLimit: {again, always(way{act: belay.ActFresh, limit: 1}, decompose)},
		belay.ClassTurnLimit:  {again, (*chooser).tooBig},
		belay.ClassComplexity: {again, (*chooser).tooBig},
		belay.ClassBudget:     {none, none},
		belay.ClassRefusal:    {again, always(way{act: belay.ActFailover, limit: 1})},
		belay.ClassWorkFailure: {
			always(way{act: belay.ActRetry, limit: triesService, base: baseService}, way{act: belay.ActRepair, limit: roundsWork}),
			always(way{act: belay.ActRepair, limit: roundsWork}),
		},
		belay.ClassConflict:       {(*chooser).shellConflict, (*chooser).agentConflict},
		belay.ClassInfrastructure: {(*chooser).shellRepairs, (*chooser).agentLacks},
		belay.ClassInvalidInput:   {(*chooser).shellRepairs, func(c *chooser) []way { return inputWays(c.s.Failure) }},
		belay.ClassHollow: {again, always(
			way{act: belay.ActResume, limit: 1, every: true}, way{act: belay.ActRetry, limit: 1, base: baseService, every: true})},
		belay.ClassIncomplete:    {again, told},
		belay.ClassTampered:      {again, told},
		belay.ClassMergeConflict: {mendOnce, mendOnce},
	}
}

// shellRepairs: the same again, and a repair where something can be mended.
func (c *chooser) shellRepairs() []way {
	ways := []way{{act: belay.ActRetry, limit: triesService, base: baseService}}
	if c.s.Failure.Move == belay.ActRepair {
		ways = append(ways, way{act: belay.ActRepair, limit: roundsTangled})
	}
	return ways
}

// shellConflict: a merge is mended, a lock is waited for, and one whose owner is
// dead is a person's.
func (c *chooser) shellConflict() []way {
	if c.s.Failure.Move == belay.ActEscalate {
		return nil
	}
	if c.s.Failure.Move == belay.ActRepair {
		return c.shellRepairs()
	}
	return c.agentConflict()
}

func (c *chooser) agentConflict() []way {
	if c.s.Failure.Move == belay.ActRepair {
		return []way{{act: belay.ActRepair, limit: roundsTangled}}
	}
	return []way{{act: belay.ActRetry, limit: triesLock, base: baseLock, most: mostLock}}
}

func (c *chooser) agentLacks() []way {
	if c.s.outage() {
		return c.service(way{act: belay.ActRetry, limit: triesService, base: baseRetried})
	}
	return infraWays(c.s.Failure)
}

func (c *chooser) tooBig() []way {
	if c.s.Progress {
		return []way{{act: belay.ActResume, limit: 1}, {act: belay.ActFresh, limit: 1}, {act: belay.ActDecompose}}
	}
	return []way{{act: belay.ActDecompose}}
}

func (c *chooser) late() []way {
	if c.s.ownClock() {
		return c.overtime()
	}
	return c.service(way{act: belay.ActRetry, limit: triesService, base: c.serviceBase()})
}

// service is the recoveries when the service behind an agent does not answer: the
// same again, then another agent, then the time that it named, then patience. One
// that is full is left at once. What only the words of an agent say that did something is not waited for long.
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
	if c.s.Failure.Move == belay.ActFailover && c.s.Failure.Level != belay.LevelRepeat {
		return append([]way{failover, again, park}, wait...)
	}
	return append([]way{again, failover, park}, wait...)
}

// overtime is the recoveries from our own timeout: with work to show the agent gets
// more time, once; without, the task is too big for it. One that fell silent has
// not too much to do: it hangs, also when it is asked for a plan.
func (c *chooser) overtime() []way {
	if c.s.Failure.Move == belay.ActFailover {
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
	base := baseRetried // memory
	if roomAgain(f) {
		base = baseService
	}
	return map[belay.Act][]way{
		belay.ActRetry:  {{act: belay.ActRetry, limit: 1, base: base}},
		belay.ActRepair: {{act: belay.ActRepair, limit: roundsTangled}},
	}[f.Move]
}

func inputWays(f belay.Failure) []way {
	mend := []way{{act: belay.ActRepair, limit: roundsTangled}}
	return map[belay.Act][]way{
		belay.ActFailover: {{act: belay.ActFailover}},        // its model is not there
		belay.ActRetry:    {{act: belay.ActFresh, limit: 1}}, // its session is not there
		belay.ActRepair:   mend,
		"":                mend,
	}[f.Move]
}
