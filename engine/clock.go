package engine

import "time"

// Clock is the time of a run. It does not jump while its driver lives. In a
// rehearsal it runs faster than that of the machine, so that waiting for an
// hour takes seconds: what is written down is the run's own time.
type Clock struct {
	base  time.Time // the run's time when the clock was made
	began time.Time // and the machine's
	speed time.Duration
}

// NewClock makes a clock that runs so many times as fast as the machine's; 0
// means 1. last is the time of the run's last record: a fast clock, which is
// ahead of the machine's, goes on from there.
func NewClock(speed int, last time.Time) Clock {
	began := time.Now()
	c := Clock{base: began.Round(0), began: began, speed: time.Duration(max(1, speed))}
	if c.speed > 1 && last.After(c.base) {
		c.base = last.Round(0)
	}
	return c
}

// Now is the run's time.
func (c Clock) Now() time.Time { return c.base.Add(time.Since(c.began) * c.speed) }

// Until is how long the machine has to wait for a time of the run; never less
// than nothing.
func (c Clock) Until(t time.Time) time.Duration { return max(0, t.Sub(c.Now())/c.speed) }
