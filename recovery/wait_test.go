package recovery

import (
	"testing"
	"time"

	"github.com/belay-run/belay"
)

// promise: R10
func TestWaits(t *testing.T) {
	t.Parallel()
	alone := with(agentStep(), func(s *Situation) { s.Others, s.History = nil, History{Key: "r:a.1", Failed: 1} })
	tries := func(n int) func(*Situation) {
		return func(s *Situation) {
			for range n {
				s.Past = append(s.Past, Past{Act: belay.ActRetry, Class: s.Failure.Class, Agent: "a", Role: Coder, Patient: s.outage()})
			}
		}
	}
	for _, r := range []struct {
		name        string
		class       belay.Class
		move        belay.Act
		set         func(*Situation)
		least, most time.Duration
	}{
		{"first", belay.ClassTransient, "", nil, time.Second, 2 * time.Second},
		{"second", belay.ClassTransient, "", tries(1), 2 * time.Second, 4 * time.Second},
		{"the CLI has knocked already", belay.ClassTransient, "", func(s *Situation) { s.Retried = true }, 15 * time.Second, 30 * time.Second},
		{"a hint is the least", belay.ClassTransient, "", func(s *Situation) { s.Failure.After = time.Minute }, time.Minute, 61 * time.Second},
		{"too many calls", belay.ClassRateLimit, "", nil, 15 * time.Second, 30 * time.Second},
		{"too many calls again", belay.ClassRateLimit, "", tries(2), time.Minute, 2 * time.Minute},
		{"too many calls, a short hint", belay.ClassRateLimit, "", func(s *Situation) { s.Failure.After = time.Second }, 15 * time.Second, 30 * time.Second},
		{"too many calls until then", belay.ClassRateLimit, "", func(s *Situation) { s.Failure.Reset = now.Add(2 * time.Minute) }, 2 * time.Minute, 121 * time.Second},
		{"too many calls for hours", belay.ClassRateLimit, "", func(s *Situation) { s.Failure.Reset = now.Add(3 * time.Hour) }, 3 * time.Hour, 3 * time.Hour},
		{"used up until then", belay.ClassQuota, "", func(s *Situation) { s.Failure.Reset = now.Add(5 * time.Hour) }, 5 * time.Hour, 5 * time.Hour},
		{"a lock", belay.ClassConflict, belay.ActRetry, nil, 500 * time.Millisecond, time.Second},
		{"a lock that stays", belay.ClassConflict, belay.ActRetry, tries(4), 5 * time.Second, 10 * time.Second},
		{"its own", belay.ClassUnknown, "", func(s *Situation) { s.Declared = Policy{MaxAttempts: 2, Backoff: time.Minute} }, time.Minute, 66 * time.Second},
		{"its own, and a hint", belay.ClassRateLimit, "", func(s *Situation) {
			s.Declared, s.Failure.After = Policy{MaxAttempts: 2, Backoff: time.Second}, time.Minute
		}, time.Minute, time.Minute},
	} {
		s := alone
		s.Failure = failure(r.class, belay.LevelTyped, r.move)
		if r.set != nil {
			r.set(&s)
		}
		p := Choose(s)
		if wait := p.Due.Sub(now); p.Act != belay.ActRetry || wait < r.least || wait > r.most {
			t.Errorf("%s: %s in %s, want %s to %s", r.name, p.Act, wait, r.least, r.most)
		}
		s.History.Key = "r:b.1"
		if other := Choose(s); r.least != r.most && other.Due.Equal(p.Due) {
			t.Errorf("%s: two steps would wake together", r.name)
		}
	}
}

// A wait that is too long is not begun: the next recovery is taken now.
func TestNoWaitBeyondTheDeadline(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name     string
		f        belay.Failure
		deadline time.Duration
		act      belay.Act
	}{
		{"retry", belay.Failure{Class: belay.ClassTransient}, time.Minute, belay.ActRetry},
		{"no time for a retry", belay.Failure{Class: belay.ClassTransient}, 500 * time.Millisecond, belay.ActFailover},
		{"a long hint", belay.Failure{Class: belay.ClassRateLimit, After: 6 * time.Minute}, 0, belay.ActFailover},
		{"the time is over", belay.Failure{Class: belay.ClassTransient}, -1, belay.ActGiveUp},
	} {
		s := with(agentStep(), func(s *Situation) { s.Failure = r.f })
		if r.deadline != 0 {
			s.Deadline = now.Add(r.deadline)
		}
		if p := Choose(s); p.Act != r.act {
			t.Errorf("%s: %+v", r.name, p)
		}
	}
	alone := with(agentStep(), func(s *Situation) { s.Others = nil })
	for name, reset := range map[string]time.Time{"none": {}, "past": now.Add(-time.Hour), "far": now.Add(25 * time.Hour), "after the deadline": now.Add(2 * time.Hour)} {
		alone.Failure, alone.Deadline = belay.Failure{Class: belay.ClassQuota, Reset: reset}, time.Time{}
		if name == "after the deadline" {
			alone.Deadline = now.Add(time.Hour)
		}
		if p := Choose(alone); p.Act != belay.ActHold || p.Rule != "quota" {
			t.Errorf("reset %s: %+v", name, p)
		}
	}
}
