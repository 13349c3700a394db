package recovery

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/belay-run/belay"
)

// streams is how many random failure streams the properties are held against.
const streams = 20000

var classes = []belay.Class{
	belay.ClassNone, belay.ClassCancelled, belay.ClassTimeout, belay.ClassTransient, belay.ClassRateLimit, belay.ClassQuota, belay.ClassAuth,
	belay.ClassPermission, belay.ClassTokenLimit, belay.ClassTurnLimit, belay.ClassComplexity, belay.ClassBudget, belay.ClassRefusal,
	belay.ClassWorkFailure, belay.ClassConflict, belay.ClassInfrastructure, belay.ClassInvalidInput, belay.ClassHollow, belay.ClassBenign, belay.ClassUnknown,
}

var moves = []belay.Act{
	"", belay.ActNone, belay.ActVerify, belay.ActRetry, belay.ActRetryAfter, belay.ActResume, belay.ActFailover, belay.ActReassign,
	belay.ActRepair, belay.ActDecompose, belay.ActEscalate, belay.ActAbort, belay.ActStop,
}

// dice draws situations and failures.
type dice struct{ *rand.Rand }

func (d dice) yes() bool { return d.IntN(2) == 0 }

func pick[T any](d dice, list []T) T { return list[d.IntN(len(list))] }

func some[T any](d dice, list []T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(T) bool { return d.yes() })
}

func (d dice) step() Situation {
	s := Situation{
		Type:     pick(d, []belay.StepType{belay.TypeBash, belay.TypeAgent, belay.TypeAgent, belay.TypeRecipe}),
		Optional: d.yes(), Once: d.IntN(4) == 0, Now: now, Timeout: time.Duration(d.Int64N(int64(time.Hour))),
		Declared: Policy{MaxAttempts: d.IntN(4), Backoff: time.Duration(d.IntN(3)) * time.Second, Escalate: d.IntN(4) == 0},
		Agents:   d.IntN(4) > 0, MaxReplans: pick(d, []int{0, 1, 3, 1000}), Fallback: d.yes(),
		Agent: "a", Role: Coder, Others: some(d, []string{"a", "b", "c", "d", "e"}), Covering: some(d, Roles()),
		Resumes: d.yes(), Checked: d.yes(), Retried: d.yes(), Depth: d.IntN(3), Recoverable: d.yes(),
	}
	if d.IntN(3) == 0 {
		s.Deadline = now.Add(time.Duration(d.Int64N(int64(2 * time.Hour))))
	}
	return s
}

// change is what differs from one failure of a step to the next.
func (d dice) change(s *Situation) belay.Failure {
	s.Changed, s.Progress, s.Spent = d.yes(), d.yes(), d.IntN(8) == 0
	s.Failing = some(d, []string{"t1", "t2", "t3", "t4"})
	f := belay.Failure{
		Kind: pick(d, belay.FailureKinds()), Class: pick(d, classes), Move: pick(d, moves), Cause: "no",
		Level: pick(d, []belay.Level{"", "L0", "L1", "L2", "L3", "L4", "L5", "L6"}), Print: fmt.Sprintf("p%d", d.IntN(4)),
	}
	if d.IntN(3) == 0 {
		f.After = time.Duration(d.Int64N(int64(20 * time.Minute)))
	}
	if d.IntN(3) == 0 {
		f.Reset = s.Now.Add(time.Duration(d.Int64N(int64(60*time.Hour)) - int64(20*time.Hour)))
	}
	return f
}

// each plays random streams, and shows every failure with the plan to a check.
func each(t *testing.T, seed uint64, choose func(Situation) belay.Plan, check func(Situation, belay.Plan), end func(*story)) {
	t.Helper()
	for n := range streams {
		d := dice{rand.New(rand.NewPCG(seed, uint64(n)))}
		y := &story{s: d.step()}
		for range 2000 {
			f := d.change(&y.s)
			before := y.s
			p := y.fail(f, choose)
			before.Failure, before.History = f, y.s.History
			check(before, p)
			if ended(p.Act) {
				break
			}
		}
		end(y)
		if t.Failed() {
			t.Fatalf("stream %d of seed %d: %s", n, seed, y.acts())
		}
	}
}

// promise: R7, R10
func TestEveryStreamEnds(t *testing.T) {
	t.Parallel()
	longest := 0
	waits := 0
	each(t, 1, Choose, func(s Situation, p belay.Plan) {
		if p.Patient && (p.Counts || p.Act != belay.ActRetry || !s.outage()) {
			t.Errorf("a wait for what? %+v", p)
		}
		if again := Choose(s); !reflect.DeepEqual(p, again) {
			t.Errorf("the same situation, another plan:\n%+v\n%+v", p, again)
		}
		if p.Policy != PolicyBelay || p.Rule == "" || p.Reason == "" || p.Class != s.Failure.Class || p.Level != s.Failure.Level || p.Print != s.Failure.Print {
			t.Errorf("%+v", p)
		}
		if p.Counts && s.Replans >= s.maxReplans() {
			t.Errorf("recovery %d of %d: %+v", s.Replans+1, s.maxReplans(), p)
		}
	}, func(y *story) {
		own := max(y.s.Declared.MaxAttempts-1, 0)
		patient, _ := y.s.waits()
		waits = max(waits, patient)
		longest = max(longest, len(y.plans)-own-patient)
		if !ended(y.plans[len(y.plans)-1].Act) || len(y.plans) > MaxDecisions+own || len(y.plans)-patient > MaxDecisions-maxWaits+own {
			t.Errorf("%d decisions, %d of them waits", len(y.plans), patient)
		}
	})
	t.Logf("the longest stream had %d decisions beside the recipe's own and %d waits; %d are allowed", longest, waits, MaxDecisions)
	if longest < MaxDecisions-maxWaits-2 {
		t.Errorf("the streams are too tame: %d decisions at most", longest)
	}
}

// promise: R10
func TestNobodyIsVisitedTwice(t *testing.T) {
	t.Parallel()
	type visit struct{ print, what, who string }
	each(t, 3, Choose, func(s Situation, p belay.Plan) {
		been := map[visit]bool{{s.Failure.Print, "agent", s.Agent}: true, {s.Failure.Print, "role", string(s.Role)}: true}
		for _, q := range s.Past {
			been[visit{q.Print, "agent", q.Agent}], been[visit{q.Print, "role", string(q.Role)}] = true, true
			switch q.Act {
			case belay.ActFailover:
				been[visit{q.Print, "agent", q.To}] = true
			case belay.ActReassign:
				been[visit{q.Print, "role", q.To}] = true
			case belay.ActResume:
				been[visit{q.Print, "session", q.Agent}] = true
			}
		}
		switch p.Act {
		case belay.ActFailover:
			if been[visit{s.Failure.Print, "agent", p.Agent}] || !slices.Contains(s.Others, p.Agent) {
				t.Errorf("%s again: %+v", p.Agent, s.Past)
			}
		case belay.ActReassign:
			if been[visit{s.Failure.Print, "role", p.Role}] || !slices.Contains(s.Covering, Role(p.Role)) {
				t.Errorf("%s again: %+v", p.Role, s.Past)
			}
		case belay.ActResume:
			if been[visit{s.Failure.Print, "session", s.Agent}] || !s.Resumes {
				t.Errorf("the session again: %+v", s.Past)
			}
		}
	}, func(*story) {})
}

// promise: R10, R16
func TestNothingIsTriedInVain(t *testing.T) {
	t.Parallel()
	each(t, 4, Choose, func(s Situation, p belay.Plan) {
		f := s.Failure
		chosen := p.Act == belay.ActRetry && p.Rule != "retry" // not the recipe's own
		if chosen && !p.Patient && !s.Changed && slices.ContainsFunc(s.Past, func(q Past) bool { return q.Print == f.Print && q.Agent == s.Agent && q.Role == s.Role }) {
			t.Errorf("the same for the third time: %+v", s)
		}
		if chosen && s.Type == belay.TypeBash && (s.Once || !restartable(f)) {
			t.Errorf("a shell step was started again: %+v", f)
		}
		switch f.Class {
		case belay.ClassCancelled, belay.ClassAuth, belay.ClassBudget:
			if chosen {
				t.Errorf("%s was tried again: %+v", f.Class, p)
			}
		case belay.ClassQuota:
			if chosen && p.Due.Before(f.Reset) && p.Due.Before(s.Now.Add(f.After)) {
				t.Errorf("quota was tried again before its time: %+v", p)
			}
		}
		spends := slices.Contains([]belay.Act{belay.ActRepair, belay.ActDecompose, belay.ActReassign, belay.ActFailover, belay.ActRecover}, p.Act)
		if spends && !s.Agents {
			t.Errorf("it spends in a run without agents: %+v", p)
		}
		if p.Act == belay.ActSkip || p.Act == belay.ActHold && s.Optional && !s.Declared.Escalate {
			t.Errorf("%+v", p)
		}
	}, func(*story) {})
}

// promise: R10
func TestWaitsStayInBounds(t *testing.T) {
	t.Parallel()
	each(t, 5, Choose, func(s Situation, p belay.Plan) {
		f := s.Failure
		starting := starts(p.Act) || p.Act == belay.ActFallback
		switch {
		case starting != !p.Due.IsZero():
			t.Errorf("due %s: %+v", p.Due, p)
		case !starting:
		case p.Due.Before(s.Now), !s.Deadline.IsZero() && p.Due.After(s.Deadline):
			t.Errorf("due %s, now %s, deadline %s", p.Due, s.Now, s.Deadline)
		case p.Act == belay.ActRetry && s.Type.Agent() && p.Due.Before(s.Now.Add(f.After)):
			t.Errorf("due %s, asked for %s from %s", p.Due, f.After, s.Now)
		case p.Due.After(s.Now.Add(maxPark)):
			t.Errorf("due %s, now %s", p.Due, s.Now)
		}
	}, func(*story) {})
}

// Whatever the text was: what nobody can explain costs one more try.
// promise: R10
func TestUnknownCostsOneMoreTry(t *testing.T) {
	t.Parallel()
	unknown := func(s Situation) belay.Plan {
		s.Failure.Class = pick(dice{rand.New(rand.NewPCG(6, uint64(len(s.Past))))}, []belay.Class{belay.ClassNone, belay.ClassUnknown, belay.ClassBenign})
		return Choose(s)
	}
	for n := range streams {
		d := dice{rand.New(rand.NewPCG(7, uint64(n)))}
		y := &story{s: d.step()}
		y.s.Declared.MaxAttempts, y.s.Recoverable = 1, false
		for range 100 {
			f := d.change(&y.s)
			f.Class = belay.ClassUnknown
			if ended(y.fail(f, unknown).Act) {
				break
			}
		}
		count := map[belay.Act]int{}
		for _, p := range y.plans {
			count[p.Act]++
		}
		other := len(y.plans) - 1 - count[belay.ActRetry] - count[belay.ActRepair] - count[belay.ActFallback]
		if count[belay.ActRetry] > 1 || count[belay.ActRepair] > 1 || count[belay.ActFallback] > 1 || other != 0 || y.s.Type == belay.TypeBash && count[belay.ActRetry] > 0 {
			t.Fatalf("stream %d: %s", n, y.acts())
		}
	}
}
