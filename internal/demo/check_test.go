package demo

import (
	"errors"
	"slices"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/story"
)

// perfect is everything that the demo promises, as a journal tells it.
func perfect() (s sights, records []event.Record) {
	add := func(run belay.RunID, events ...event.Event) {
		for _, e := range events {
			records = append(records, event.Record{Seq: int64(len(records) + 1), Run: run, Event: e})
		}
	}
	key := func(step belay.Path, role belay.Role, n int) belay.Key { return belay.KeyOf(runID, step, role, n) }
	bad := func(step belay.Path, kind belay.FailureKind) event.Event {
		return event.AttemptJudged{Key: key(step, belay.RoleMain, 1), Verdict: effect.Verdict{Failure: &belay.Failure{Kind: kind}}}
	}
	fine := func(step belay.Path, role belay.Role, n int) event.Event {
		return event.AttemptJudged{Key: key(step, role, n), Verdict: effect.Verdict{OK: true}}
	}
	way := func(step belay.Path, act belay.Act, agent string) event.Event {
		return event.RecoveryChosen{Path: step, Plan: belay.Plan{Act: act, Agent: agent}}
	}
	check := func(step belay.Path, exit int) event.Event {
		return event.AttemptEnded{Key: key(step, belay.RoleVerify, 1), Observation: effect.Observation{Exit: exit}}
	}
	add(runID, event.RunAttached{Epoch: 1},
		bad("test", belay.BashFailure), way("test", belay.ActRepair, ""), fine("test", belay.RoleRepair, 1), fine("test", belay.RoleMain, 2),
		bad("readme", belay.HollowSuccess), way("readme", belay.ActResume, ""), check("readme", 0), fine("readme", belay.RoleMain, 2),
		event.AttemptEnded{Key: key("changes", belay.RoleMain, 1), Observation: effect.Observation{KilledBy: fault.KilledDeadline}},
		bad("changes", belay.AgentTimeout), way("changes", belay.ActResume, ""),
		event.AttemptStarted{Key: key("changes", belay.RoleMain, 2), Path: "changes", Role: belay.RoleMain, Attempt: 2, Resume: true}, fine("changes", belay.RoleMain, 2),
		event.RunAttached{Epoch: 2}, event.AttemptFound{Key: key("review", belay.RoleMain, 1), How: fault.Adopted}, fine("review", belay.RoleMain, 1),
		bad("translate", belay.Infrastructure), way("translate", belay.ActFailover, "bruno"),
		event.AttemptStarted{Key: key("translate", belay.RoleMain, 2), Path: "translate", Role: belay.RoleMain, Attempt: 2, Agent: "bruno"}, fine("translate", belay.RoleMain, 2),
		bad("version", belay.RecipeFailure), way("version", belay.ActRecover, ""), check("version", 0), fine("version", belay.RoleRecovery, 1),
	)
	add(runID.Child("archive", 1), event.StepRefused{Path: "folder", Failure: belay.Failure{Kind: belay.RecursionLimit}})
	add(runID, way("archive", belay.ActFallback, ""), fine("archive", belay.RoleMain, 2))
	add(runID.Child("notes", 1), event.RunEnded{RunResult: belay.RunResult{Status: belay.Failed, Failure: &belay.Failure{Kind: belay.RoutingGap}}})
	add(runID, way("notes", belay.ActFallback, ""), fine("notes", belay.RoleMain, 2),
		event.RunEnded{RunResult: belay.RunResult{Status: belay.Achieved}})
	s.killed, s.lived, s.starts, s.receipt = true, true, []int{17}, "# ACHIEVED"
	s.commits, s.test = reply{text: "total adds up\nbegin"}, reply{text: "ok"}
	return s, records
}

// told are the sights after other records.
func (s sights) told(records []event.Record) sights {
	s.news = story.Tell(nil, records).News
	return s
}

func missing(s sights) []string { return Told{Promises: judge(s)}.Missing() }

// Every record that the promises are read from is needed: without it, exactly
// the promise that it belongs to is missing.
func TestEveryRecordIsNeeded(t *testing.T) {
	t.Parallel()
	s, records := perfect()
	if m := missing(s.told(records)); len(m) > 0 {
		t.Fatalf("all was seen, and missing is %v", m)
	}
	lost := map[string]int{}
	for i := range records {
		m := missing(s.told(slices.Delete(slices.Clone(records), i, i+1)))
		if len(m) != 1 {
			t.Errorf("without %#v missing is %v", records[i].Event, m)
			continue
		}
		lost[m[0]]++
	}
	for name, n := range map[string]int{
		"bash_failure": 4, "hollow_success": 4, "agent_timeout": 5, "kill -9": 2, "adopted": 2,
		"infrastructure": 4, "recipe_failure": 4, "recursion_limit": 3, "routing_gap": 3, "the end": 1,
	} {
		if lost[name] != n {
			t.Errorf("%s hangs on %d records, want %d", name, lost[name], n)
		}
	}
}

// A fact that is not as promised is missing by its name.
func TestEveryFactIsNeeded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		spoil func(*sights)
		seen  string
	}{
		{"kill -9", func(s *sights) { s.killed = false }, "not seen: ended by SIGKILL"},
		{"kill -9", func(s *sights) { s.lived = false }, "not seen: the agent kept running"},
		{"adopted", func(s *sights) { s.starts = []int{17, 18} }, "not seen: started once, but 2 times"},
		{"adopted", func(s *sights) { s.starts = nil }, "not seen: started once, but 0 times"},
		{"the end", func(s *sights) { s.code = exit.Held }, "not seen: exit 0, but exit 11"},
		{"the end", func(s *sights) { s.why = exit.Infra }, "not seen: explained by belay why, but exit 8"},
		{"the work", func(s *sights) { s.test.err = errors.New("exit 1") }, "not seen: its test passes"},
		{"the work", func(s *sights) { s.test = reply{} }, "not seen: its test passes"},
		{"the work", func(s *sights) { s.commits.text = "begin" }, "not seen: one new commit, but begin"},
		{"the work", func(s *sights) { s.commits.text = "twice\ntwice\nbegin" }, "not seen: one new commit, but twice twice begin"},
		{"the work", func(s *sights) { s.dirty.text = "?? x" }, "not seen: nothing uncommitted, but ?? x"},
		{"the receipt", func(s *sights) { s.receipt = "# FAILED" }, "not seen: the receipt says ACHIEVED"},
		{"the receipt", func(s *sights) { s.recheck = exit.Failed }, "not seen: its checks pass again, but exit 1"},
		{"nothing left", func(s *sights) { s.left = 1 }, "not seen: none was found, but 1"},
	} {
		s, records := perfect()
		s = s.told(records)
		c.spoil(&s)
		if m := missing(s); len(m) != 1 || m[0] != c.name {
			t.Errorf("missing is %v, want %s", m, c.name)
		}
		if !slices.ContainsFunc(judge(s), func(p Promise) bool { return p.Seen == c.seen }) {
			t.Errorf("%q is not said in %v", c.seen, judge(s))
		}
	}
}

// What happened in another order, or to another step, was not seen.
func TestOrderAndPlaceMatter(t *testing.T) {
	t.Parallel()
	s, records := perfect()
	slices.Reverse(records)
	if m := missing(s.told(records)); len(m) != 9 { // all but the end, the work, the receipt and what is left
		t.Errorf("in reverse, missing is %v", m)
	}
	s, records = perfect()
	for i := range records {
		records[i].Run = "other"
	}
	if m := missing(s.told(records)); !slices.Contains(m, "the end") || !slices.Contains(m, "bash_failure") {
		t.Errorf("of another run, missing is %v", m)
	}
	if m := missing(sights{}); len(m) != 12 { // nothing at all: no process is left either
		t.Errorf("of nothing, missing is %v", m)
	}
}
