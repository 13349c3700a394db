package engine

import (
	"testing"
	"time"
)

// A fast clock goes on from the last record, and a wait on it is as much
// shorter; that of the machine does neither.
func TestClock(t *testing.T) {
	t.Parallel()
	ahead := time.Now().Add(time.Hour)
	fast := NewClock(1000, ahead)
	if fast.Now().Before(ahead) {
		t.Errorf("%s is before the last record, %s", fast.Now(), ahead)
	}
	began := time.Now()
	wait := fast.Until(fast.Now().Add(time.Hour))
	if least := 3599*time.Millisecond - time.Since(began); wait > 3600*time.Millisecond || wait < least {
		t.Errorf("an hour takes %s", wait)
	}
	if wait := fast.Until(ahead.Add(-time.Minute)); wait != 0 {
		t.Errorf("what is past is waited for: %s", wait)
	}
	plain := NewClock(0, ahead)
	if now := plain.Now(); now.After(ahead) || time.Since(now).Abs() > time.Minute {
		t.Errorf("the clock of the machine shows %s", now)
	}
	if wait := plain.Until(plain.Now().Add(time.Hour)); wait < 59*time.Minute {
		t.Errorf("an hour takes %s", wait)
	}
}
