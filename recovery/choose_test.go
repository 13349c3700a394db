package recovery

import (
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
)

type row struct {
	name  string
	s     Situation
	f     belay.Failure
	other string // what is done about failures of this class that all differ
	same  string // and about the same one again and again, with nothing changed
}

func failure(class belay.Class, level belay.Level, move belay.Act) belay.Failure {
	return belay.Failure{Kind: belay.BashFailure, Class: class, Level: level, Move: move, Cause: "it said no"}
}

func walk(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		if got := play(r.s, r.f, true, Choose).acts(); got != r.other {
			t.Errorf("%s, all different:\n got %s\nwant %s", r.name, got, r.other)
		}
		if got := play(r.s, r.f, false, Choose).acts(); got != r.same {
			t.Errorf("%s, always the same:\n got %s\nwant %s", r.name, got, r.same)
		}
	}
}

// promise: R10, R16
func TestShellSteps(t *testing.T) {
	t.Parallel()
	noAgent := with(shell(), func(s *Situation) { s.Agents = false })
	once := with(shell(), func(s *Situation) { s.Once = true })
	walk(t, []row{
		{"transient by exit code", noAgent, failure(belay.ClassTransient, belay.LevelProcess, belay.ActRetry), "retry retry give_up", "retry give_up"},
		{"transient by text", noAgent, failure(belay.ClassTransient, belay.LevelText, belay.ActRetry), "give_up", "give_up"},
		{"transient and once", once, failure(belay.ClassTransient, belay.LevelProcess, belay.ActRetry), "give_up", "give_up"},
		{"network timeout", noAgent, failure(belay.ClassTimeout, belay.LevelProcess, belay.ActRetry), "retry retry give_up", "retry give_up"},
		{"our clock", shell(), failure(belay.ClassTimeout, belay.LevelAct, belay.ActRetry), "give_up", "give_up"},
		{"lock", noAgent, failure(belay.ClassConflict, belay.LevelProbe, belay.ActRetry), "retry retry retry retry retry give_up", "retry give_up"},
		{"lock by text", noAgent, failure(belay.ClassConflict, belay.LevelText, belay.ActRetry), "give_up", "give_up"},
		{"merge", shell(), failure(belay.ClassConflict, belay.LevelText, belay.ActRepair), "repair give_up", "repair give_up"},
		{"unknown", shell(), failure(belay.ClassUnknown, belay.LevelUnknown, belay.ActRetry), "give_up", "give_up"},
		{"no class at all", shell(), failure(belay.ClassNone, "", ""), "give_up", "give_up"},
		{"work failure, no agents", noAgent, failure(belay.ClassWorkFailure, belay.LevelText, belay.ActRepair), "give_up", "give_up"},
		{"work failure", shell(), failure(belay.ClassWorkFailure, belay.LevelText, belay.ActRepair), "repair give_up", "repair give_up"},
		{"work failure and once", once, failure(belay.ClassWorkFailure, belay.LevelText, belay.ActRepair), "give_up", "give_up"},
		{"rate limit", shell(), failure(belay.ClassRateLimit, belay.LevelProcess, belay.ActRetryAfter), "give_up", "give_up"},
		{"auth by exit code", noAgent, failure(belay.ClassAuth, belay.LevelProcess, belay.ActEscalate), "hold", "hold"},
		{"auth by text", noAgent, failure(belay.ClassAuth, belay.LevelText, belay.ActEscalate), "give_up", "give_up"},
		{"permission by text", shell(), failure(belay.ClassPermission, belay.LevelText, belay.ActReassign), "give_up", "give_up"},
		{"disk full", noAgent, failure(belay.ClassInfrastructure, belay.LevelProbe, belay.ActEscalate), "hold", "hold"},
		{"disk full by text", noAgent, failure(belay.ClassInfrastructure, belay.LevelText, belay.ActEscalate), "give_up", "give_up"},
		{"memory", shell(), failure(belay.ClassInfrastructure, belay.LevelProbe, belay.ActRetry), "give_up", "give_up"},
		{"no such command", shell(), failure(belay.ClassInfrastructure, belay.LevelProcess, belay.ActRepair), "repair give_up", "repair give_up"},
		{"set-up", shell(), failure(belay.ClassInvalidInput, belay.LevelProcess, belay.ActAbort), "abort", "abort"},
		{"set-up by text", shell(), failure(belay.ClassInvalidInput, belay.LevelText, belay.ActAbort), "give_up", "give_up"},
		{"bad file", shell(), failure(belay.ClassInvalidInput, belay.LevelText, belay.ActRepair), "repair give_up", "repair give_up"},
		{"cancelled by us", shell(), failure(belay.ClassCancelled, belay.LevelAct, belay.ActStop), "give_up", "give_up"},
		{"cancelled by others", shell(), failure(belay.ClassCancelled, belay.LevelProcess, belay.ActStop), "give_up", "give_up"},
		{"no tests ran", shell(), failure(belay.ClassHollow, belay.LevelProcess, belay.ActVerify), "give_up", "give_up"},
		{"optional", with(noAgent, func(s *Situation) { s.Optional = true }), failure(belay.ClassAuth, belay.LevelProcess, belay.ActEscalate), "give_up", "give_up"},
		{"a person is wanted", with(noAgent, func(s *Situation) { s.Declared.Escalate = true }), failure(belay.ClassUnknown, belay.LevelUnknown, belay.ActRetry), "hold", "hold"},
		{"another way is named", with(noAgent, func(s *Situation) { s.Fallback = true }), failure(belay.ClassUnknown, belay.LevelUnknown, belay.ActRetry), "fallback give_up", "fallback give_up"},
		{"another way before a person", with(noAgent, func(s *Situation) { s.Fallback, s.Declared.Escalate = true, true }), failure(belay.ClassAuth, belay.LevelProcess, ""), "fallback hold", "fallback hold"},
		{"its own retry", with(noAgent, func(s *Situation) { s.Declared.MaxAttempts = 4 }), failure(belay.ClassUnknown, belay.LevelUnknown, belay.ActRetry), "retry retry retry give_up", "retry retry retry give_up"},
		{"its own retry, and once", with(once, func(s *Situation) { s.Declared.MaxAttempts = 2 }), failure(belay.ClassAuth, belay.LevelText, ""), "retry give_up", "retry give_up"},
	})
}

// promise: R10
func TestAgentSteps(t *testing.T) {
	t.Parallel()
	alone := with(agentStep(), func(s *Situation) { s.Others = []string{"a"} })
	worked := with(alone, func(s *Situation) { s.Progress = true })
	session := with(worked, func(s *Situation) { s.Resumes = true })
	typed := func(class belay.Class, move belay.Act) belay.Failure { return failure(class, belay.LevelTyped, move) }
	walk(t, []row{
		{"transient", agentStep(), typed(belay.ClassTransient, belay.ActRetry),
			"waits failover:b waits failover:c waits give_up", "waits failover:b waits failover:c waits give_up"},
		{"transient, alone", alone, typed(belay.ClassTransient, belay.ActRetry), "waits give_up", "waits give_up"},
		{"the service is full", agentStep(), typed(belay.ClassTransient, belay.ActFailover),
			"failover:b failover:c waits give_up", "failover:b failover:c waits give_up"},
		{"network timeout, alone", alone, typed(belay.ClassTimeout, belay.ActRetry), "waits give_up", "waits give_up"},
		{"rate limit, alone", alone, typed(belay.ClassRateLimit, belay.ActRetryAfter), "waits give_up", "waits give_up"},
		{"transient by its words", alone, failure(belay.ClassTransient, belay.LevelText, belay.ActRetry), "retry retry give_up", "retry give_up"},
		{"quota", agentStep(), typed(belay.ClassQuota, belay.ActFailover), "failover:b failover:c hold", "failover:b failover:c hold"},
		{"auth", agentStep(), typed(belay.ClassAuth, belay.ActEscalate), "failover:b failover:c hold", "failover:b failover:c hold"},
		{"auth, alone", alone, typed(belay.ClassAuth, belay.ActEscalate), "hold", "hold"},
		{"permission, no role", alone, typed(belay.ClassPermission, belay.ActReassign), "hold", "hold"},
		{"permission", with(alone, func(s *Situation) { s.Covering = []Role{Coder, DevOps, Architect} }), typed(belay.ClassPermission, belay.ActReassign),
			"reassign:devops hold", "reassign:devops hold"},
		{"another system said no", with(alone, func(s *Situation) { s.Covering = []Role{DevOps} }), typed(belay.ClassPermission, belay.ActEscalate), "hold", "hold"},
		{"token limit", alone, typed(belay.ClassTokenLimit, belay.ActDecompose), "fresh decompose give_up", "fresh decompose give_up"},
		{"token limit of the part of a part", with(alone, func(s *Situation) { s.Depth = 2 }), typed(belay.ClassTokenLimit, ""), "fresh give_up", "fresh give_up"},
		{"turn limit", alone, typed(belay.ClassTurnLimit, belay.ActDecompose), "decompose give_up", "decompose give_up"},
		{"turn limit with work", session, typed(belay.ClassTurnLimit, belay.ActResume), "resume decompose give_up", "resume decompose give_up"},
		{"turn limit with work, no session", worked, typed(belay.ClassTurnLimit, belay.ActResume), "fresh decompose give_up", "fresh decompose give_up"},
		{"complexity", alone, typed(belay.ClassComplexity, belay.ActDecompose), "decompose give_up", "decompose give_up"},
		{"our clock, no work", agentStep(), failure(belay.ClassTimeout, belay.LevelAct, belay.ActDecompose), "decompose failover:b failover:c give_up", "decompose failover:b failover:c give_up"},
		{"our clock, with work", worked, failure(belay.ClassTimeout, belay.LevelAct, belay.ActRetry), "retry decompose give_up", "retry decompose give_up"},
		{"our clock, with a session", session, failure(belay.ClassTimeout, belay.LevelAct, belay.ActRetry), "resume decompose give_up", "resume decompose give_up"},
		{"budget", agentStep(), failure(belay.ClassBudget, belay.LevelAct, belay.ActEscalate), "hold", "hold"},
		{"refusal", agentStep(), typed(belay.ClassRefusal, belay.ActFailover), "failover:b give_up", "failover:b give_up"},
		{"work failure", alone, typed(belay.ClassWorkFailure, belay.ActRepair), "repair give_up", "repair give_up"},
		{"merge", alone, failure(belay.ClassConflict, belay.LevelText, belay.ActRepair), "repair give_up", "repair give_up"},
		{"lock", alone, failure(belay.ClassConflict, belay.LevelText, belay.ActRetry), "retry retry retry retry retry give_up", "retry give_up"},
		{"network", alone, typed(belay.ClassInfrastructure, belay.ActRetry), "waits give_up", "waits give_up"},
		{"memory", alone, failure(belay.ClassInfrastructure, belay.LevelProcess, belay.ActRetry), "retry give_up", "retry give_up"},
		{"disk full", alone, failure(belay.ClassInfrastructure, belay.LevelProbe, belay.ActEscalate), "hold", "hold"},
		{"no such tool", alone, failure(belay.ClassInfrastructure, belay.LevelText, belay.ActRepair), "repair give_up", "repair give_up"},
		{"set-up", alone, typed(belay.ClassInvalidInput, belay.ActAbort), "abort", "abort"},
		{"no such model", agentStep(), typed(belay.ClassInvalidInput, belay.ActFailover), "failover:b failover:c give_up", "failover:b failover:c give_up"},
		{"no such session", alone, typed(belay.ClassInvalidInput, belay.ActRetry), "fresh give_up", "fresh give_up"},
		{"bad value", alone, typed(belay.ClassInvalidInput, belay.ActRepair), "repair give_up", "repair give_up"},
		{"hollow", alone, typed(belay.ClassHollow, belay.ActVerify), "retry give_up", "retry give_up"},
		{"hollow, with a session", with(alone, func(s *Situation) { s.Resumes = true }), typed(belay.ClassHollow, belay.ActVerify), "resume give_up", "resume give_up"},
		{"unknown", agentStep(), failure(belay.ClassUnknown, belay.LevelUnknown, belay.ActRetry), "retry give_up", "retry give_up"},
		{"unknown with a check", with(alone, func(s *Situation) { s.Checked = true }), failure(belay.ClassUnknown, belay.LevelUnknown, belay.ActRetry), "retry repair give_up", "retry repair give_up"},
		{"noise", alone, failure(belay.ClassBenign, belay.LevelProcess, belay.ActNone), "retry give_up", "retry give_up"},
		{"ended from outside", alone, failure(belay.ClassCancelled, belay.LevelProcess, belay.ActStop), "give_up", "give_up"},
		{"no retries left", with(agentStep(), func(s *Situation) { s.Spent = true }), typed(belay.ClassTransient, belay.ActRetry), "failover:b failover:c waits give_up", "failover:b failover:c waits give_up"},
		{"once", with(agentStep(), func(s *Situation) { s.Once = true }), typed(belay.ClassTransient, belay.ActRetry), "give_up", "give_up"},
		{"its own retry is not for what no try cures", with(alone, func(s *Situation) { s.Declared.MaxAttempts = 5 }), typed(belay.ClassAuth, belay.ActEscalate), "hold", "hold"},
		{"its own retry", with(alone, func(s *Situation) { s.Declared.MaxAttempts = 3 }), typed(belay.ClassRefusal, belay.ActFailover), "retry retry give_up", "retry retry give_up"},
		{"optional", with(alone, func(s *Situation) { s.Optional = true }), typed(belay.ClassAuth, belay.ActEscalate), "give_up", "give_up"},
		{"optional, and a person can lift it", with(alone, func(s *Situation) { s.Optional, s.Cured = true, true }), typed(belay.ClassAuth, belay.ActEscalate), "hold", "hold"},
		{"optional, and another agent may", with(agentStep(), func(s *Situation) { s.Optional, s.Cured = true, true }), typed(belay.ClassAuth, belay.ActEscalate), "failover:b failover:c hold", "failover:b failover:c hold"},
		{"optional, and nobody can", with(alone, func(s *Situation) { s.Optional, s.Cured = true, true }), typed(belay.ClassHollow, belay.ActVerify), "retry give_up", "retry give_up"},
		{"optional, a full disk", with(alone, func(s *Situation) { s.Optional, s.Cured = true, true }), failure(belay.ClassInfrastructure, belay.LevelProbe, belay.ActEscalate), "hold", "hold"},
	})
}

// promise: A1, A7, A8
func TestRecipeSteps(t *testing.T) {
	t.Parallel()
	f := failure(belay.ClassWorkFailure, belay.LevelText, belay.ActRepair)
	f.Kind = belay.RecipeFailure
	deep := f
	deep.Kind = belay.RecursionLimit
	walk(t, []row{
		{"asked once", recipeStep(), f, "recover give_up", "recover give_up"},
		{"switched off", with(recipeStep(), func(s *Situation) { s.Recoverable = false }), f, "give_up", "give_up"},
		{"no agents", with(recipeStep(), func(s *Situation) { s.Agents = false }), f, "give_up", "give_up"},
		{"too deep", recipeStep(), deep, "give_up", "give_up"},
		{"budget", recipeStep(), failure(belay.ClassBudget, belay.LevelAct, ""), "give_up", "give_up"},
		{"cancelled", recipeStep(), failure(belay.ClassCancelled, belay.LevelAct, ""), "give_up", "give_up"},
		{"then the other way", with(recipeStep(), func(s *Situation) { s.Fallback = true }), f, "recover fallback give_up", "recover fallback give_up"},
		{"its own retry first", with(recipeStep(), func(s *Situation) { s.Declared.MaxAttempts = 2 }), f, "retry recover give_up", "retry recover give_up"},
		{"not twice, but finished", with(recipeStep(), func(s *Situation) { s.Once = true }), f, "recover give_up", "recover give_up"},
	})
}

// promise: R10
func TestRepairGoesOnWhileLessFails(t *testing.T) {
	t.Parallel()
	for want, failing := range map[string][]string{
		"repair repair repair give_up": {"a b c d", "a b c", "a b", "a"},
		"repair repair give_up":        {"a b c", "a b", "x y"},
		"repair give_up":               {"a", "a b"},
	} {
		y := &story{s: shell()}
		for _, names := range failing {
			y.s.Failing = strings.Fields(names)
			y.fail(failure(belay.ClassWorkFailure, belay.LevelText, belay.ActRepair), Choose)
		}
		if got := y.acts(); got != want {
			t.Errorf("%q: %s, want %s", failing, got, want)
		}
	}
}

// What holds a run back ends in a person's hands, or in the step's own end.
// promise: R10, R16
func TestTheRunsWaysOutEnd(t *testing.T) {
	t.Parallel()
	f := failure(belay.ClassTransient, belay.LevelText, belay.ActRetry)
	spent := with(agentStep(), func(s *Situation) { s.Replans = belay.Limits{}.Replans() })
	for name, r := range map[string]struct {
		s    Situation
		act  belay.Act
		rule string
	}{
		"needed":             {spent, belay.ActHold, "replans_spent"},
		"optional":           {with(spent, func(s *Situation) { s.Optional = true }), belay.ActGiveUp, "replans_spent"},
		"another way":        {with(spent, func(s *Situation) { s.Fallback = true }), belay.ActFallback, "fallback"},
		"its own is not one": {with(spent, func(s *Situation) { s.Declared.MaxAttempts = 2 }), belay.ActRetry, "retry"},
		"one is left":        {with(spent, func(s *Situation) { s.MaxReplans = 13 }), belay.ActRetry, "transient"},
		"of a person anyway": {with(spent, func(s *Situation) { s.Others = nil }), belay.ActHold, "replans_spent"},
		"the step had its own": {with(agentStep(), func(s *Situation) {
			for range maxWays {
				s.Past = append(s.Past, Past{Act: belay.ActRepair, Class: belay.ClassWorkFailure, Print: "x"})
			}
		}), belay.ActGiveUp, "attempts_spent"},
	} {
		r.s.History.Failed = 1
		r.s.Failure = f
		if p := Choose(r.s); p.Act != r.act || p.Rule != r.rule {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestRolesThatWereDeniedAreLeftOut(t *testing.T) {
	t.Parallel()
	s := with(agentStep(), func(s *Situation) {
		s.Failure, s.Covering = failure(belay.ClassPermission, belay.LevelTyped, belay.ActReassign), []Role{DevOps, Architect}
		s.Past = []Past{{Act: belay.ActRetry, Class: belay.ClassPermission, Role: DevOps}}
	})
	if p := Choose(s); p.Act != belay.ActReassign || p.Role != string(Architect) || p.Brief == "" {
		t.Errorf("%+v", p)
	}
}

func TestEveryPlanSpeaks(t *testing.T) {
	t.Parallel()
	f := failure(belay.ClassAuth, belay.LevelTyped, belay.ActEscalate)
	f.Print, f.Cause = "0123", "401\n  no key"
	p := Choose(with(agentStep(), func(s *Situation) { s.Failure, s.Others, s.History.Failed = f, nil, 1 }))
	if p.Policy != "belay" || p.Class != belay.ClassAuth || p.Level != belay.LevelTyped || p.Print != "0123" || p.Rule != "auth" {
		t.Errorf("%+v", p)
	}
	if p.Reason != "not logged in, or wrong credentials, and only a person can change that: 401 no key" {
		t.Error(p.Reason)
	}
	if len(p.Refused) != 1 || p.Refused[0] != (belay.NotTaken{Act: belay.ActFailover, Why: "no other agent is there"}) {
		t.Errorf("%+v", p.Refused)
	}
	for why, s := range map[string]Situation{
		"the run uses no agents": with(shell(), func(s *Situation) { s.Agents = false }),
		"the same failure twice and nothing changed": with(agentStep(), func(s *Situation) {
			s.Past = []Past{{Act: belay.ActRetry, Print: "p", Agent: "a", Role: Coder}}
		}),
		"nobody can explain it, and it was tried once more already": with(agentStep(), func(s *Situation) {
			s.Failure = failure(belay.ClassUnknown, belay.LevelUnknown, belay.ActRepair)
			s.Failure.Print = "q"
			s.Past = []Past{{Act: belay.ActRetry, Class: belay.ClassUnknown, Print: "p", Agent: "a", Role: Coder}}
		}),
		"the agent cannot continue its session":       with(agentStep(), func(s *Situation) { s.Failure.Class = belay.ClassHollow }),
		"the wait would end after the run's deadline": with(agentStep(), func(s *Situation) { s.Deadline = now.Add(time.Second) }),
		"the run's time is over":                      with(agentStep(), func(s *Situation) { s.Deadline = now.Add(-1) }),
		"the other side asks to wait 10m0s":           with(agentStep(), func(s *Situation) { s.Failure.After = 10 * time.Minute }),
		"the service has no retries left":             with(agentStep(), func(s *Situation) { s.Spent = true }),
		"the run has used its 12 recoveries":          with(agentStep(), func(s *Situation) { s.Replans = 12 }),
		"the step must not run twice":                 with(agentStep(), func(s *Situation) { s.Once = true }),
		"all 2 allowed attempts are used up":          with(agentStep(), func(s *Situation) { s.Declared.MaxAttempts, s.History.Failed = 2, 2 }),
	} {
		if s.Failure.Class == "" {
			s.Failure.Class, s.Failure.Level, s.Failure.Print = belay.ClassTransient, belay.LevelText, "p"
		}
		if s.Type == belay.TypeBash {
			s.Failure.Class, s.Failure.Move = belay.ClassWorkFailure, belay.ActRepair
		}
		p, found := Choose(s), false
		for _, r := range p.Refused {
			found = found || r.Why == why
		}
		if !found {
			t.Errorf("%q is not among %+v", why, p.Refused)
		}
	}
}

func TestTheNextAttemptIsTold(t *testing.T) {
	t.Parallel()
	told := func(s Situation, f belay.Failure) belay.Plan {
		s.History.Failed, s.Failure = 1, f
		return Choose(s)
	}
	hollow := told(agentStep(), belay.Failure{Class: belay.ClassHollow, Kind: belay.HollowSuccess, Cause: "no file changed"})
	if hollow.Act != belay.ActRetry || !strings.Contains(hollow.Brief, "no file changed") || !strings.Contains(hollow.Brief, "evidence") {
		t.Errorf("%+v", hollow)
	}
	mend := told(with(shell(), func(s *Situation) { s.Failing = []string{"TestA", "TestB"} }), failure(belay.ClassWorkFailure, belay.LevelText, belay.ActRepair))
	if mend.Act != belay.ActRepair || !strings.Contains(mend.Brief, "it said no") || !strings.Contains(mend.Brief, "\n- TestA\n- TestB\n") {
		t.Errorf("%+v", mend)
	}
	over := told(with(agentStep(), func(s *Situation) { s.Progress = true }), failure(belay.ClassRefusal, belay.LevelTyped, belay.ActFailover))
	if over.Act != belay.ActFailover || over.Agent != "b" || !strings.Contains(over.Brief, "(a)") || !strings.Contains(over.Brief, "left work") {
		t.Errorf("%+v", over)
	}
	more := told(with(agentStep(), func(s *Situation) { s.Progress, s.Resumes = true, true }), failure(belay.ClassTimeout, belay.LevelAct, belay.ActRetry))
	if more.Act != belay.ActResume || more.Timeout != 20*time.Minute || !strings.Contains(more.Reason, "20m0s instead of 10m0s") || more.Brief == "" {
		t.Errorf("%+v", more)
	}
	if plain := told(shell(), failure(belay.ClassTransient, belay.LevelProcess, belay.ActRetry)); plain.Brief != "" || plain.Timeout != 0 {
		t.Errorf("%+v", plain)
	}
}
