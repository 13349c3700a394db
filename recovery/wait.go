package recovery

import (
	"hash/fnv"
	"time"

	"github.com/belay-run/belay"
)

// hint is how long the other side asks to wait.
func (s *Situation) hint() time.Duration {
	wait := max(s.Failure.After, 0)
	if s.Failure.Reset.After(s.Now) {
		wait = max(wait, s.Failure.Reset.Sub(s.Now))
	}
	return wait
}

// late tells that a wait ends when the run's time is over.
func (s *Situation) late(wait time.Duration) bool {
	return !s.Deadline.IsZero() && s.Now.Add(wait).After(s.Deadline)
}

// keptHints is how often in a row the other side's word is taken for how long to
// wait. One that asks for the same again and again does not know.
const keptHints = 3

// pause is the wait before the next try after n earlier ones: half of it fixed,
// half of it drawn. A wait that was asked for is kept to the second: a part of
// one is added, so that not all come back together.
func (s *Situation) pause(w way, n int) time.Duration {
	most := w.most
	if most == 0 {
		most = MaxBackoff
	}
	d := min(w.base, most)
	for range n {
		if d = min(2*d, most); d == most {
			break
		}
	}
	d = d/2 + share(d/2, s.History.Key)
	asked := s.hint()
	if asked == 0 {
		return d
	}
	if !s.Failure.Reset.After(s.Now) { // it names no time, only how long
		asked = max(asked, w.least)
	}
	kept := asked + share(min(asked/10, baseLock), s.History.Key)
	if n < keptHints {
		return kept
	}
	return max(d, kept)
}

// share is a part of a duration that is drawn from a key, so that it is the
// same after a crash and another one for another attempt.
func share(d time.Duration, key belay.Key) time.Duration {
	h := fnv.New32a()
	h.Write([]byte(key))
	return d * time.Duration(h.Sum32()%1001) / 1000
}

// rounded is a duration for people.
func rounded(d time.Duration) time.Duration {
	if d < time.Minute {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}
