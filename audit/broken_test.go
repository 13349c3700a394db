package audit

import (
	"slices"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
)

// broken is a journal whose last record, or the one that at names, breaks one rule.
type broken struct {
	rule, name string
	recs       []event.Record
	at         int64 // 0 = the last
}

func breaks() []broken {
	return slices.Concat(brokenStreams(), brokenAttempts(), brokenSteps(), brokenMerges(), brokenPeople())
}

func brokenStreams() []broken {
	kidUp := slices.Concat(do(startKid(1, kid)), in(kid, kidStarted()))
	started := event.RunStarted{Schema: event.Schema}
	newer := event.RunStarted{Schema: event.Schema + 1}
	stray := event.RunStarted{Schema: event.Schema, Parent: key("sub", 1)}
	return []broken{
		{RuleFirst, "no start", journal(do(attach(1))), 0},
		{RuleFirst, "a newer schema", journal(do(newer)), 0},
		{RuleFirst, "started twice", journal(began(), do(started)), 0},
		{RuleFirst, "a child without a start", journal(began(), do(startKid(1, kid)), in(kid, kidStart("x", 1))), 0},
		{RuleRoot, "begins with a child", journal(in(kid, started)), 0},
		{RuleRoot, "begins as a child", journal(do(stray)), 0},
		{RuleRoot, "another tree", journal(began(), in("zzzzz/sub.1", stray)), 0},
		{RuleRoot, "a child is stopped", journal(began(), kidUp, in(kid, event.RunStopped{})), 0},
		{RuleRoot, "a child is held", journal(began(), kidUp, in(kid, event.RunHeld{})), 0},
		{RuleParked, "parked while something is at work", journal(began(), do(start("a", 1), event.RunParked{})), 0},
		{RuleChild, "a child of nobody", journal(began(), in(kid, stray)), 0},
		{RuleChild, "a child of another attempt", journal(began(), do(startKid(1, kid)), in(kid, event.RunStarted{Schema: 1, Parent: key("a", 1)})), 0},
		{RuleChild, "a name that no child has", journal(began(), do(startKid(1, "k3f9q/sub.7")), in("k3f9q/sub.7", kidStarted())), 3},
		{RuleChild, "a child that never starts", journal(began(), do(startKid(1, kid), start("a", 1))), 0},
		{RuleChild, "a child ends, its attempt does not", journal(began(), kidUp, in(kid, over(belay.Failed))), 0},
		{RuleChildEnd, "an attempt ends before its child", journal(began(), kidUp, do(kidEnd(1, belay.Achieved, 0))), 0},
		{RuleChildEnd, "an attempt ends otherwise than its child", journal(began(), kidUp, in(kid, over(belay.Failed)), do(kidEnd(1, belay.Achieved, 0))), 0},
		{RuleChildEnd, "a process ends like a child", journal(began(), do(start("sub", 1), kidEnd(1, belay.Achieved, 0))), 0},
		{RuleRoot, "a child is paused", journal(began(), kidUp, in(kid, event.RunPaused{})), 0},
		{RuleReset, "run again in the middle", journal(began(), do(start("a", 1), event.StepReset{Path: "a", By: "me"})), 0},
		{RuleReset, "run again with one in the middle", journal(began(), do(done("a", 1)...), do(start("b", 1), event.StepReset{Path: "a", By: "me", Also: []belay.Path{"b"}})), 0},
		{RuleReset, "run again by nobody", journal(began(), do(done("a", 1)...), do(event.StepReset{Path: "a"})), 0},
		{RuleReset, "kept, and never done", journal(began(), do(done("a", 1)...), do(event.StepReset{Path: "a", By: "me", Kept: []belay.Path{"b"}})), 0},
		{RuleTerminal, "goes on after the end", journal(began(), do(over(belay.Failed), start("a", 1))), 0},
		{RuleTerminal, "ends twice", journal(began(), do(over(belay.Failed), over(belay.Failed))), 0},
		{RuleTerminal, "a child goes on after its end", journal(began(), kidUp, in(kid, over(belay.Failed)), do(kidEnd(1, belay.Failed, 1)), in(kid, kidStart("x", 1))), 0},
		{RuleReopen, "reopened while it runs", journal(began(), do(event.RunReopened{})), 0},
		{RuleReopen, "a child reopened by nobody", journal(began(), kidUp, in(kid, over(belay.Failed)), do(kidEnd(1, belay.Failed, 1)), in(kid, event.RunReopened{})), 0},
		{RuleReopen, "a child reopened in a closed tree", journal(began(), kidUp, in(kid, over(belay.Failed)),
			do(kidEnd(1, belay.Failed, 1), bad(key("sub", 1)), plan("sub", belay.ActGiveUp), over(belay.Failed)), in(kid, event.RunReopened{})), 0},
		{RuleEnd, "ends with an open attempt", journal(began(), do(start("a", 1), over(belay.Achieved))), 0},
		{RuleEnd, "ends with an open child", journal(began(), kidUp, do(over(belay.Failed))), 0},
		{RuleEnd, "ends while a person is asked", journal(began(), do(broke("a", 1)...), do(plan("a", belay.ActHold), opened("a.1", "a"), over(belay.Achieved))), 0},
		{RuleEnd, "a failure with code 0", journal(began(), do(event.RunEnded{RunResult: belay.RunResult{Status: belay.Failed}})), 0},
		{RuleEnd, "a success with code 1", journal(began(), do(event.RunEnded{RunResult: belay.RunResult{Status: belay.Achieved, Code: 1}})), 0},
		{RuleEnd, "ends in no end", journal(began(), do(event.RunEnded{RunResult: belay.RunResult{Status: belay.Held, Code: 11}})), 0},
		{RuleAchieved, "a step that was not judged", journal(began(), do(start("a", 1), end(key("a", 1), 0), over(belay.Achieved))), 0},
		{RuleAchieved, "a failure without a recovery", journal(began(), do(broke("a", 1)...), do(over(belay.Achieved))), 0},
		{RuleAchieved, "a retry that never came", journal(began(), do(broke("a", 1)...), do(plan("a", belay.ActRetry), over(belay.Achieved))), 0},
		{RuleAchieved, "a lost step left behind", journal(began(), do(start("a", 1), attach(2), found(key("a", 1), fault.Lost), over(belay.Achieved))), 0},
	}
}

func brokenAttempts() []broken {
	two := event.AttemptStarted{Key: key("a", 3), Path: "a", Role: belay.RoleMain, Attempt: 1}
	stop, crash := fault.KilledStop, do(start("a", 1), attach(2))
	return []broken{
		{RuleKey, "a key of another number", journal(began(), do(two)), 0},
		{RuleOpen, "the same attempt twice", journal(began(), do(start("a", 1), start("a", 1))), 0},
		{RuleOpen, "two of one step", journal(began(), do(start("a", 1), start("a", 2))), 0},
		{RuleOpen, "a check beside the work", journal(began(), do(start("a", 1), startCheck("a", 1))), 0},
		{RuleOpen, "ended twice", journal(began(), do(done("a", 1)...), do(end(key("a", 1), 0))), 0},
		{RuleOpen, "ended, never started", journal(began(), do(end(key("a", 1), 0))), 0},
		{RuleOpen, "ended in another run", journal(began(), do(startKid(1, kid), start("a", 1)), in(kid, kidStarted(), end(key("a", 1), 0))), 0},
		{RuleOpen, "stopped after its end", journal(began(), do(start("a", 1), end(key("a", 1), 0), stopping(key("a", 1), stop))), 0},
		{RuleOpen, "ended after it was lost", journal(began(), crash, do(found(key("a", 1), fault.Lost), end(key("a", 1), 0))), 0},
		{RuleOpen, "ended after it was unborn", journal(began(), crash, do(found(key("a", 1), fault.Unborn), end(key("a", 1), 0))), 0},
		{RuleOpen, "found after its end", journal(began(), do(done("a", 1)...), do(attach(2), found(key("a", 1), fault.Lost))), 0},
		{RuleNumber, "begins at two", journal(began(), do(start("a", 2))), 0},
		{RuleNumber, "a number is left out", journal(began(), do(broke("a", 1)...), do(plan("a", belay.ActRetry), start("a", 3))), 0},
		{RuleNumber, "a number comes again", journal(began(), do(broke("a", 1)...), do(plan("a", belay.ActRetry), start("a", 1))), 0},
		{RuleNumber, "a lost number comes again", journal(began(), crash, do(found(key("a", 1), fault.Lost), plan("a", belay.ActRetry), start("a", 1))), 0},
		{RuleNumber, "an unborn one counts", journal(began(), crash, do(found(key("a", 1), fault.Unborn), start("a", 2))), 0},
		{RuleNumber, "checks count by themselves", journal(began(), do(start("a", 1), end(key("a", 1), 0), startCheck("a", 2))), 0},
		{RuleFound, "never found", journal(began(), crash), 0},
		{RuleFound, "not found by the second driver", journal(began(), crash, do(found(key("a", 1), fault.Adopted), attach(3))), 0},
		{RuleFound, "never found before the next attach", journal(began(), crash, do(attach(3), found(key("a", 1), fault.Lost))), 5},
		{RuleFound, "found twice", journal(began(), crash, do(found(key("a", 1), fault.Adopted), found(key("a", 1), fault.Adopted))), 0},
		{RuleFound, "found without an attach", journal(began(), do(start("a", 1), found(key("a", 1), fault.Adopted))), 0},
		{RuleFound, "ended before it was found", journal(began(), crash, do(end(key("a", 1), 0))), 0},
		{RuleFound, "stopped before it was found", journal(began(), crash, do(stopping(key("a", 1), stop))), 0},
		{RuleFound, "a child run is found", journal(began(), do(startKid(1, kid)), in(kid, kidStarted()), do(attach(2), found(key("sub", 1), fault.Adopted))), 0},
		{RuleFound, "in a fifth way", journal(began(), crash, do(found(key("a", 1), "guessed"))), 0},
		{RuleFound, "a child's process is not found", journal(began(), do(startKid(1, kid)), in(kid, kidStarted(), kidStart("x", 1)), do(attach(2))), 0},
		{RuleHarvested, "harvested, no end", journal(began(), crash, do(found(key("a", 1), fault.Harvested))), 0},
		{RuleHarvested, "harvested, then stopped", journal(began(), crash, do(found(key("a", 1), fault.Harvested), stopping(key("a", 1), stop))), 0},
		{RuleHarvested, "harvested, no end before the next attach", journal(began(), crash,
			do(found(key("a", 1), fault.Harvested), attach(3), found(key("a", 1), fault.Lost))), 6},
		{RuleJudged, "before its end", journal(began(), do(start("a", 1), ok(key("a", 1)))), 0},
		{RuleJudged, "never started", journal(began(), do(ok(key("a", 1)))), 0},
		{RuleJudged, "twice", journal(began(), do(broke("a", 1)...), do(bad(key("a", 1)))), 0},
		{RuleJudged, "a check", journal(began(), do(start("a", 1), end(key("a", 1), 0), startCheck("a", 1), end(checkKey("a", 1), 0), ok(checkKey("a", 1)))), 0},
		{RuleJudged, "while its check is open", journal(began(), do(start("a", 1), end(key("a", 1), 0), startCheck("a", 1), ok(key("a", 1)))), 0},
		{RuleJudged, "an unborn one", journal(began(), crash, do(found(key("a", 1), fault.Unborn), bad(key("a", 1)))), 0},
		{RuleJudged, "a lost one is done without a check", journal(began(), crash, do(found(key("a", 1), fault.Lost), ok(key("a", 1)))), 0},
		{RuleJudged, "a lost one is done against its check", journal(began(), crash,
			do(found(key("a", 1), fault.Lost), startCheck("a", 1), end(checkKey("a", 1), 1), ok(key("a", 1)))), 0},
		{RuleHook, "a hook of no step", journal(began(), do(startHook("a", 1))), 0},
		{RuleHook, "a hook beside the work", journal(began(), do(start("a", 1), startHook("a@pre_step", 1))), 0},
		{RuleJudged, "a hook is judged", journal(began(), do(startHook("a@pre_step", 1), end(hookKey("a@pre_step", 1), 0), ok(hookKey("a@pre_step", 1)))), 0},
		{RuleEnd, "a hook is open at the end", journal(began(), do(done("a", 1)...), do(startHook("a@post_step", 1), over(belay.Achieved))), 0},
		{RuleLost, "once more than allowed", journal(began(), losses(4), do(plan("a", belay.ActRetry), start("a", 5), attach(6), found(key("a", 5), fault.Lost))), 0},
	}
}

func brokenSteps() []broken {
	lost := do(startOnce("a", 1), attach(2), found(key("a", 1), fault.Lost))
	cut := do(startOnce("a", 1), killed(key("a", 1), fault.KilledDeadline))
	nobody := event.AttemptEnded{Key: checkKey("a", 1), Observation: effect.Observation{Exit: -1, Fault: fault.Spawn}}
	due := event.RecoveryChosen{Path: "a", Plan: belay.Plan{Act: belay.ActRetry, Due: time.Date(2026, 1, 2, 3, 1, 0, 0, time.UTC)}}
	person := func(choice string) []line {
		return slices.Concat(began(), do(broke("a", 1)...), do(plan("a", belay.ActHold), opened("a.1", "a"), answered("a.1", "a", choice)))
	}
	reopened := do(over(belay.Failed), event.RunReopened{})
	return []broken{
		{RuleFinal, "done starts again", journal(began(), do(done("a", 1)...), do(start("a", 2))), 0},
		{RuleFinal, "done is checked again", journal(began(), do(done("a", 1)...), do(startCheck("a", 1))), 0},
		{RuleFinal, "done starts again after a reopening", journal(began(), do(done("a", 1)...), reopened, do(start("a", 2))), 0},
		{RuleFinal, "called done by a person", journal(person(event.ChoiceDone), do(start("a", 2))), 0},
		{RuleFinal, "called failed by a person", journal(person(event.ChoiceFail), do(start("a", 2))), 0},
		{RuleFinal, "left out by a person", journal(person(event.ChoiceSkip), do(start("a", 2))), 0},
		{RuleFinal, "not taken", journal(began(), do(event.StepNotTaken{Path: "a"}, start("a", 1))), 0},
		{RuleFinal, "not taken, after a reopening", journal(began(), do(event.StepNotTaken{Path: "a"}), reopened, do(start("a", 1))), 0},
		{RuleFinal, "skipped", journal(began(), do(event.StepSkipped{Path: "a"}, start("a", 1))), 0},
		{RuleFinal, "refused", journal(began(), do(event.StepRefused{Path: "a"}, start("a", 1))), 0},
		{RuleTaken, "a failed step is not taken", journal(began(), do(broke("a", 1)...), do(plan("a", belay.ActRetry), event.StepNotTaken{Path: "a"})), 0},
		{RuleTaken, "not taken after a reopening", journal(began(), do(broke("a", 1)...), do(plan("a", belay.ActGiveUp)), reopened, do(event.StepNotTaken{Path: "a"})), 0},
		{RuleTaken, "an unborn step is not taken", journal(began(), do(start("a", 1), attach(2), found(key("a", 1), fault.Unborn), event.StepNotTaken{Path: "a"})), 0},
		{RuleFinal, "given up", journal(began(), do(broke("a", 1)...), do(plan("a", belay.ActGiveUp), start("a", 2))), 0},
		{RuleOnce, "lost, and again", journal(began(), lost, do(plan("a", belay.ActRetry), startOnce("a", 2))), 0},
		{RuleOnce, "unknown, and again", journal(began(), do(startOnce("a", 1), end(key("a", 1), 1), unknown(key("a", 1)), startOnce("a", 2))), 0},
		{RuleOnce, "cut off, and again", journal(began(), cut, do(bad(key("a", 1)), plan("a", belay.ActRetry), startOnce("a", 2))), 0},
		{RuleOnce, "its check says it is there", journal(began(), lost, do(startCheck("a", 1), end(checkKey("a", 1), 0), plan("a", belay.ActRetry), startOnce("a", 2))), 0},
		{RuleOnce, "its check could not start", journal(began(), lost, do(startCheck("a", 1), nobody, plan("a", belay.ActRetry), startOnce("a", 2))), 0},
		{RuleOnce, "its check was cut off", journal(began(), lost, do(startCheck("a", 1), killed(checkKey("a", 1), fault.KilledDeadline), plan("a", belay.ActRetry), startOnce("a", 2))), 0},
		{RuleOnce, "a check from before", journal(began(), do(startOnce("a", 1), end(key("a", 1), 0), startCheck("a", 1), end(checkKey("a", 1), 1), bad(key("a", 1)),
			plan("a", belay.ActRetry), startOnce("a", 2), attach(2), found(key("a", 2), fault.Lost), plan("a", belay.ActRetry), startOnce("a", 3))), 0},
		{RuleRecovery, "out of nothing", journal(began(), do(plan("a", belay.ActRetry))), 0},
		{RuleRecovery, "out of a success", journal(began(), do(done("a", 1)...), do(plan("a", belay.ActGiveUp))), 0},
		{RuleRecovery, "before the verdict", journal(began(), do(start("a", 1), end(key("a", 1), 1), plan("a", belay.ActRetry))), 0},
		{RuleRecovery, "twice", journal(began(), do(broke("a", 1)...), do(plan("a", belay.ActRetry), plan("a", belay.ActRetry))), 0},
		{RuleRecovery, "by an unknown act", journal(began(), do(broke("a", 1)...), do(plan("a", "pray"))), 0},
		{RuleDue, "before its time", journal(began(), do(broke("a", 1)...), do(due, start("a", 2))), 0},
		{RuleDue, "before its time, after a crash", journal(began(), do(broke("a", 1)...), do(due, attach(2), start("a", 2))), 0},
	}
}

func brokenMerges() []broken {
	home := event.AnswerGiven{Key: "k3f9q:a?worktree", Answer: effect.AnswerWorktree{OK: true, Dir: "/t", Merge: true}}
	merge := event.AttemptStarted{Key: belay.KeyOf("k3f9q", "a", belay.RoleMerge, 1), Path: "a", Role: belay.RoleMerge, Attempt: 1}
	return []broken{
		{RuleMerge, "before the work is there", journal(began(), do(home, merge)), 0},
		{RuleMerge, "work of the run's own tree", journal(began(), do(merge)), 0},
		{RuleMerge, "the work is done again", journal(began(), do(home), do(done("a", 1)...), do(start("a", 2))), 0},
		{RuleAchieved, "work that was not merged", journal(began(), do(home), do(done("a", 1)...), do(over(belay.Achieved))), 0},
	}
}

func brokenPeople() []broken {
	held := slices.Concat(began(), do(broke("a", 1)...), do(plan("a", belay.ActHold), opened("a.1", "a")))
	again := answered("a.1", "a", event.ChoiceAgain)
	return []broken{
		{RuleItem, "opened twice", journal(held, do(opened("a.1", "a"))), 0},
		{RuleItem, "answered twice", journal(held, do(again, again)), 0},
		{RuleItem, "never opened", journal(began(), do(again)), 0},
		{RuleItem, "of another step", journal(held, do(answered("a.1", "b", event.ChoiceAgain))), 0},
		{RuleItem, "an unknown answer", journal(held, do(answered("a.1", "a", "maybe"))), 0},
		{RuleRequest, "received twice", journal(began(), do(asked("q", event.RequestStop), asked("q", event.RequestStop))), 0},
		{RuleRequest, "refused, never received", journal(began(), do(event.RequestRefused{ID: "q"})), 0},
		{RuleRequest, "refused twice", journal(began(), do(asked("q", event.RequestAnswer), event.RequestRefused{ID: "q"}, event.RequestRefused{ID: "q"})), 0},
	}
}

// Every break is caught by its own rule and by no other.
func TestBroken(t *testing.T) {
	for _, b := range breaks() {
		t.Run(b.rule+"/"+b.name, func(t *testing.T) {
			at := b.at
			if at == 0 {
				at = int64(len(b.recs))
			}
			caught(t, b.recs, b.rule, at)
		})
	}
}

func TestEveryRuleIsTested(t *testing.T) {
	tested := map[string]bool{RuleSeq: true, RuleTime: true, RuleEpoch: true, RuleAttach: true} // in TestHeader
	for _, b := range breaks() {
		tested[b.rule] = true
	}
	for _, rule := range Rules() {
		if !tested[rule] {
			t.Errorf("no journal breaks the rule %s", rule)
		}
		delete(tested, rule)
	}
	for rule := range tested {
		t.Errorf("the rule %s is not in the list", rule)
	}
}
