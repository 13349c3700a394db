package recovery

import (
	"testing"
	"time"

	"github.com/belay-run/belay"
)

// A service that is down is waited for, longer each time, as long as the
// patience lasts, and not a second longer.
// promise: R10
func TestPatience(t *testing.T) {
	t.Parallel()
	alone := with(agentStep(), func(s *Situation) { s.Others = nil })
	down := failure(belay.ClassTransient, belay.LevelTyped, belay.ActRetry)
	for _, want := range []time.Duration{0, time.Minute, 2 * time.Hour} {
		y := play(with(alone, func(s *Situation) { s.Patience = want }), down, false, Choose)
		if want == 0 {
			want = DefaultPatience
		}
		last := time.Duration(0)
		at := now
		for i, p := range y.plans[:len(y.plans)-1] {
			if !p.Patient || p.Counts {
				t.Errorf("%+v", p)
			}
			wait := p.Due.Sub(at)
			if i > 0 && i < len(y.plans)-2 && (wait < last/2 || wait > MaxWait) {
				t.Errorf("wait %d of %s: %s after %s", i, want, wait, last)
			}
			at, last = p.Due, wait
		}
		n := len(y.plans) - 1
		t.Logf("%s: %d tries after the first", want, n)
		if at.Sub(now) != want {
			t.Errorf("the last try was after %s, want %s", at.Sub(now), want)
		}
		if want == DefaultPatience && (n < 8 || n > 20) {
			t.Errorf("%d tries in %s", n, want)
		}
	}
	if y := play(with(alone, func(s *Situation) { s.Patience = -1 }), down, false, Choose); y.acts() != "give_up" {
		t.Errorf("without patience: %s", y.acts())
	}
	if y := play(with(alone, func(s *Situation) { s.MaxReplans = -1 }), down, false, Choose); y.acts() != "give_up" {
		t.Errorf("without recoveries: %s", y.acts())
	}
	y := play(with(alone, func(s *Situation) { s.Patience = 1000 * time.Hour }), down, false, Choose)
	if n := len(y.plans) - 1; n != maxWaits {
		t.Errorf("%d tries, want %d", n, maxWaits)
	}
}

// The patience begins with the first failure of a row, whoever asks later, and
// anew after something else.
// promise: R10
func TestPatienceIsNotBegunAnew(t *testing.T) {
	t.Parallel()
	s := with(agentStep(), func(s *Situation) {
		s.Others, s.Failure, s.Down = nil, failure(belay.ClassRateLimit, belay.LevelTyped, belay.ActRetryAfter), now.Add(-DefaultPatience)
	})
	if p := Choose(s); p.Act != belay.ActGiveUp {
		t.Errorf("%+v", p)
	}
	s.Failure.Reset = now.Add(3 * time.Minute) // its own word is worth more
	if p := Choose(s); !p.Patient || p.Due.Before(s.Failure.Reset) || p.Due.After(s.Failure.Reset.Add(time.Second)) {
		t.Errorf("%+v", p)
	}
	s.Failure.Reset = now.Add(3 * time.Hour)
	if p := Choose(s); !p.Patient || !p.Due.Equal(s.Failure.Reset) {
		t.Errorf("%+v", p)
	}
}
