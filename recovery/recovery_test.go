package recovery

import (
	"testing"
	"time"

	"github.com/belay-run/belay"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestTheRecipesOwnRetry(t *testing.T) {
	f := belay.Failure{Kind: belay.BashFailure, Cause: "exit 1"}
	rows := []struct {
		name string
		p    Policy
		h    History
		act  belay.Act
		rule string
	}{
		{"no retry", Policy{MaxAttempts: 1}, History{Failed: 1}, belay.ActGiveUp, "attempts_spent"},
		{"one left", Policy{MaxAttempts: 2}, History{Failed: 1}, belay.ActRetry, "retry"},
		{"all spent", Policy{MaxAttempts: 2}, History{Failed: 2}, belay.ActGiveUp, "attempts_spent"},
		{"asks a person", Policy{MaxAttempts: 1, Escalate: true}, History{Failed: 1}, belay.ActHold, "on_failure"},
		{"retries before it asks", Policy{MaxAttempts: 2, Escalate: true}, History{Failed: 1}, belay.ActRetry, "retry"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			p := Choose(Situation{Type: belay.TypeBash, Failure: f, Declared: r.p, History: r.h, Now: now})
			if p.Act != r.act || p.Rule != r.rule || p.Reason == "" {
				t.Fatalf("%+v", p)
			}
		})
	}
}

func TestAfterLost(t *testing.T) {
	p := Policy{MaxLost: 3}
	for n := 1; n <= 3; n++ {
		if got := AfterLost(p, History{Lost: n}, now); got.Act != belay.ActRetry {
			t.Fatalf("lost %d: %+v", n, got)
		}
	}
	if got := AfterLost(p, History{Lost: 4}, now); got.Act != belay.ActGiveUp {
		t.Fatalf("lost 4: %+v", got)
	}
}

func TestBackoffDoublesIsCappedAndRepeatable(t *testing.T) {
	for _, r := range []struct {
		base, least time.Duration
		n           int
	}{
		{time.Second, time.Second, 1},
		{time.Second, 2 * time.Second, 2},
		{time.Second, 4 * time.Second, 3},
		{time.Second, MaxBackoff, 1000},
		{5 * time.Minute, 5 * time.Minute, 9},
		{0, 0, 3},
	} {
		d := Backoff(r.base, r.n, "r:a.1")
		if d < r.least || d > r.least+r.least/10 {
			t.Errorf("base %s, failure %d: %s", r.base, r.n, d)
		}
		if again := Backoff(r.base, r.n, "r:a.1"); again != d {
			t.Errorf("base %s, failure %d: %s and then %s", r.base, r.n, d, again)
		}
	}
	if Backoff(time.Hour, 1, "r:a.1") == Backoff(time.Hour, 1, "r:b.1") {
		t.Error("two steps would wake together")
	}
}
