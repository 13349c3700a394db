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

// pause is the wait before the next try after n earlier ones: half of it fixed,
// half of it drawn, and never less than the other side asks for. A wait that
// was asked for is made a little longer, so that not all come back together.
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
	if asked := s.hint(); asked > 0 {
		d = max(d, asked+share(min(asked/10, baseLock), s.History.Key))
	}
	return d
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
