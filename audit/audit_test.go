package audit

import (
	"slices"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
)

// legal are journals as a driver writes them.
func legal() map[string][]event.Record {
	again := event.ChoiceAgain
	return map[string][]event.Record{
		"nothing":    nil,
		"only begun": journal(began()),
		"steps, a retry, a failure that is allowed": journal(began(),
			do(done("a", 1)...), do(broke("b", 1)...), do(plan("b", belay.ActRetry)), do(done("b", 2)...),
			do(broke("c", 1)...), do(plan("c", belay.ActGiveUp), event.StepNotTaken{Path: "d"}, over(belay.Achieved))),
		"in parallel": journal(began(),
			do(start("a", 1), start("b", 1), end(key("b", 1), 0), ok(key("b", 1)), end(key("a", 1), 0), ok(key("a", 1)), over(belay.Achieved))),
		"a check": journal(began(),
			do(start("a", 1), end(key("a", 1), 0), startCheck("a", 1), end(checkKey("a", 1), 1), bad(key("a", 1)), plan("a", belay.ActRetry)),
			do(start("a", 2), end(key("a", 2), 0), startCheck("a", 2), end(checkKey("a", 2), 0), ok(key("a", 2)), over(belay.Achieved))),
		"hooks: lost, unborn, failing": journal(began(),
			do(startHook("a@pre_step", 1), attach(2), found(hookKey("a@pre_step", 1), fault.Unborn)),
			do(startHook("a@pre_step", 1), attach(3), found(hookKey("a@pre_step", 1), fault.Lost)), do(done("a", 1)...),
			do(startHook("a@post_step", 1), end(hookKey("a@post_step", 1), 7), over(belay.Achieved))),
		"created first, driven later": func() []event.Record {
			recs := journal(began(), do(done("a", 1)...), do(over(belay.Achieved)))
			recs[0].Epoch = 0
			return recs
		}(),
		"one of four for each open process": journal(began(),
			do(start("a", 1), start("b", 1), start("c", 1), start("d", 1)),
			do(attach(2), found(key("a", 1), fault.Adopted), found(key("b", 1), fault.Harvested), end(key("b", 1), 0)),
			do(found(key("c", 1), fault.Unborn), found(key("d", 1), fault.Lost)),
			do(ok(key("b", 1)), start("c", 1), plan("d", belay.ActRetry), start("d", 2)),
			do(attach(4), found(key("a", 1), fault.Adopted), found(key("c", 1), fault.Unborn), found(key("d", 2), fault.Adopted)),
			do(start("c", 1), end(key("a", 1), 0), ok(key("a", 1)), end(key("c", 1), 0), ok(key("c", 1)), end(key("d", 2), 0), ok(key("d", 2))),
			do(over(belay.Achieved))),
		"an unborn check comes again": journal(began(),
			do(start("a", 1), end(key("a", 1), 0), startCheck("a", 1), attach(2), found(checkKey("a", 1), fault.Unborn)),
			do(startCheck("a", 1), end(checkKey("a", 1), 0), ok(key("a", 1)), over(belay.Achieved))),
		"a lost once step that its check finds done": journal(began(),
			do(startOnce("a", 1), attach(2), found(key("a", 1), fault.Lost), startCheck("a", 1), end(checkKey("a", 1), 0)),
			do(ok(key("a", 1)), over(belay.Achieved))),
		"a lost once step that its check finds undone": journal(began(),
			do(startOnce("a", 1), attach(2), found(key("a", 1), fault.Lost), startCheck("a", 1), end(checkKey("a", 1), 1)),
			do(plan("a", belay.ActRetry), startOnce("a", 2), attach(3), found(key("a", 2), fault.Unborn), startOnce("a", 2))),
		"a cut off once step that a person sends again": journal(began(),
			do(startOnce("a", 1), killed(key("a", 1), fault.KilledDeadline), unknown(key("a", 1)), opened("a.1", "a")),
			do(event.RunHeld{Items: []string{"a"}}, attach(2), asked("q1", event.RequestAnswer), answered("a.1", "a", again)),
			do(startOnce("a", 2), end(key("a", 2), 0), ok(key("a", 2)), over(belay.Achieved))),
		"a once step that fails by itself may be tried again": journal(began(),
			do(startOnce("a", 1), end(key("a", 1), 1), bad(key("a", 1)), plan("a", belay.ActRetry), startOnce("a", 2))),
		"a person's four answers": journal(began(),
			do(broke("a", 1)...), do(plan("a", belay.ActHold), opened("a.1", "a"), answered("a.1", "a", event.ChoiceDone)),
			do(broke("b", 1)...), do(plan("b", belay.ActHold), opened("b.1", "b"), answered("b.1", "b", again)), do(done("b", 2)...),
			do(broke("c", 1)...), do(plan("c", belay.ActHold), opened("c.1", "c"), answered("c.1", "c", event.ChoiceSkip)),
			do(broke("d", 1)...), do(plan("d", belay.ActHold), opened("d.1", "d"), answered("d.1", "d", event.ChoiceFail)),
			do(over(belay.Failed), attach(2), event.RunReopened{By: "ada"}), do(done("c", 2)...), do(done("d", 2)...), do(over(belay.Achieved))),
		"reopened, with an allowed failure from before": journal(began(),
			do(broke("a", 1)...), do(plan("a", belay.ActGiveUp), event.StepRefused{Path: "b"}, over(belay.Failed)),
			do(attach(2), event.RunReopened{By: "ada"}), do(done("b", 1)...), do(over(belay.Achieved))),
		"stopped and resumed": journal(began(),
			do(start("a", 1), asked("s1", event.RequestStop), stopping(key("a", 1), fault.KilledStop), killed(key("a", 1), fault.KilledStop)),
			do(givenBack(key("a", 1)), event.RunStopped{}, attach(2)), do(done("a", 2)...), do(over(belay.Achieved))),
		"cancelled while a person is asked": journal(began(),
			do(broke("a", 1)...), do(plan("a", belay.ActHold), opened("a.1", "a"), asked("c1", event.RequestCancel), over(belay.Aborted)),
			do(asked("c2", event.RequestCancel), event.RequestRefused{ID: "c2", Why: "ended"})),
		"cleared after its end, and reopened": journal(began(),
			do(broke("a", 1)...), do(plan("a", belay.ActGiveUp), over(belay.Failed)),
			do(asked("c1", event.RequestClear), event.RunCleared{What: event.CountAttempts, By: "ada", Why: "mended"}),
			do(attach(2), event.RunReopened{By: "ada"}), do(done("a", 2)...), do(over(belay.Achieved))),
		"lost as often as allowed": journal(began(), losses(4), do(plan("a", belay.ActGiveUp), over(belay.Failed)),
			do(attach(9), event.RunReopened{}, start("a", 5), attach(10), found(key("a", 5), fault.Lost))),
		"lost as often as allowed, and then its check": journal(began(), losses(4),
			do(startCheck("a", 1), attach(6), found(checkKey("a", 1), fault.Lost), plan("a", belay.ActGiveUp), over(belay.Failed))),
		"a child": journal(began(),
			do(startKid(1, kid)), in(kid, kidStarted(), kidStart("x", 1)), do(attach(2)),
			in(kid, found(kidKey("x", 1), fault.Harvested), end(kidKey("x", 1), 0), ok(kidKey("x", 1)), over(belay.Achieved)),
			do(kidEnd(1, belay.Achieved, 0), ok(key("sub", 1)), over(belay.Achieved))),
		"a child that goes on": journal(began(),
			do(startKid(1, kid)), in(kid, kidStarted(), event.StepRefused{Path: "x"}, over(belay.Failed)),
			do(kidEnd(1, belay.Failed, 1), bad(key("sub", 1)), plan("sub", belay.ActGiveUp), over(belay.Failed)),
			do(attach(2), event.RunReopened{By: "ada"}, startKid(2, kid)),
			in(kid, event.RunReopened{By: "its parent run"}, kidStart("x", 1), end(kidKey("x", 1), 0), ok(kidKey("x", 1)), over(belay.Achieved)),
			do(kidEnd(2, belay.Achieved, 0), ok(key("sub", 2)), over(belay.Achieved))),
	}
}

// losses is step a lost n times.
func losses(n int) []line {
	var out []line
	for i := 1; i <= n; i++ {
		out = append(out, do(start("a", i), attach(int64(i+1)), found(key("a", i), fault.Lost))...)
		if i < n {
			out = append(out, do(plan("a", belay.ActRetry))...)
		}
	}
	return out
}

func TestLegal(t *testing.T) {
	for name, recs := range legal() {
		t.Run(name, func(t *testing.T) {
			for _, v := range Check(recs) {
				t.Error(v)
			}
		})
	}
}

// A driver may die after any of its turns; most records end one.
func TestLegalPrefixes(t *testing.T) {
	middle := []string{RuleFound, RuleHarvested, RuleChild} // what only the rest of a turn settles
	for name, recs := range legal() {
		for n := range recs {
			for _, v := range Check(recs[:n]) {
				if v.Seq != int64(n) || !slices.Contains(middle, v.Rule) {
					t.Errorf("%s, first %d records: %s", name, n, v)
				}
			}
		}
	}
}

func TestHeader(t *testing.T) {
	base := func() []event.Record {
		return journal(began(), do(done("a", 1)...), do(attach(2), over(belay.Achieved)))
	}
	for name, c := range map[string]struct {
		rule  string
		seq   int64
		spoil func([]event.Record)
	}{
		"begins at two":             {RuleSeq, 2, func(r []event.Record) { shift(r, 0, 1) }},
		"a gap":                     {RuleSeq, 5, func(r []event.Record) { shift(r, 3, 1) }},
		"a number twice":            {RuleSeq, 3, func(r []event.Record) { shift(r, 3, -1) }},
		"time falls":                {RuleTime, 4, func(r []event.Record) { r[3].At = r[2].At.Add(-time.Nanosecond) }},
		"epoch falls":               {RuleEpoch, 7, func(r []event.Record) { r[6].Epoch = 1 }},
		"epoch before its attach":   {RuleEpoch, 5, func(r []event.Record) { r[4].Epoch = 2 }},
		"created in another epoch":  {RuleEpoch, 2, func(r []event.Record) { r[0].Epoch = 7 }},
		"attach says another epoch": {RuleAttach, 6, func(r []event.Record) { r[5].Epoch = 1 }},
		"attach does not raise": {RuleAttach, 6, func(r []event.Record) {
			r[5].Event, r[5].Epoch, r[6].Epoch = attach(1), 1, 1
		}},
		"no event": {RuleFirst, 6, func(r []event.Record) { r[5].Event, r[6].Epoch = nil, 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			recs := base()
			c.spoil(recs)
			caught(t, recs, c.rule, c.seq)
		})
	}
}

func shift(recs []event.Record, from int, by int64) {
	for i := from; i < len(recs); i++ {
		recs[i].Seq += by
	}
}

// caught wants exactly one violation: this rule, at this record.
func caught(t *testing.T, recs []event.Record, rule string, seq int64) {
	t.Helper()
	got := Check(recs)
	if len(got) != 1 || got[0].Rule != rule || got[0].Seq != seq {
		t.Errorf("want %s at %d, got %v", rule, seq, got)
	}
}
