package recovery

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
)

// A service that is down comes back by itself. Waiting for it is bounded by
// time, with growing waits; it is none of the recoveries that are counted.
const (
	quickTries = 2  // before another agent is asked to take over
	maxWaits   = 40 // of one step, whatever its patience is
)

// MaxWait is the longest wait between two tries at a service that names no time.
const MaxWait = 5 * time.Minute

// Outage tells that an agent failed because the service behind it is down or
// wants fewer calls: its own records say so, or it came to nothing and its words
// do, which the kind of the failure tells.
func Outage(f belay.Failure) bool {
	if !f.Class.Row().Returns || f.Rule == belay.RuleSetup {
		return false
	}
	if f.Class == belay.ClassInfrastructure && f.Move != belay.ActRetry { // not the network between them
		return false
	}
	clock := f.Class == belay.ClassTimeout
	switch f.Level {
	case belay.LevelTyped: // of a timeout: the network's clock
		return true
	case belay.LevelAct: // of a timeout: our clock
		return !clock && f.Class != belay.ClassInfrastructure
	case belay.LevelText:
		return !clock && f.Kind == belay.Infrastructure
	case belay.LevelProcess, belay.LevelProbe, belay.LevelRepeat, belay.LevelUnknown:
	}
	return false
}

// DefaultPatience is how long a step waits for a service where nobody set
// another time.
const DefaultPatience = 30 * time.Minute

// outage tells that the step waits for a service.
func (s *Situation) outage() bool { return s.Type.Agent() && Outage(s.Failure) }

// patient is a wait for a service that is down: twice before another agent is
// asked, and afterwards as long as the patience lasts. The last try is at its
// end. A time that the other side names is kept, also beyond that.
func (c *chooser) patient(w way) (due time.Time, why string) {
	s := &c.s
	since := s.Down
	if since.IsZero() {
		since = s.Now
	}
	end := since.Add(s.patience())
	asked := s.hint()
	total, row := s.waits()
	switch n := s.tries(w.every); {
	case total >= maxWaits:
		return due, fmt.Sprintf("it was waited for %d times already", total)
	case w.park:
		return c.parked()
	case w.limit > 0 && n >= w.limit:
		return due, c.triedWords(n)
	case asked > longWait:
		return due, longWords(asked)
	case asked == 0 && !s.Now.Before(end):
		return due, fmt.Sprintf("it was waited for since %s, and %s is the longest", since.UTC().Format(time.TimeOnly+" MST"), rounded(s.patience()))
	}
	pause := s.pause(w, row)
	if left := end.Sub(s.Now); asked == 0 && pause > left {
		pause = left
	}
	if s.late(pause) {
		return due, pastDeadline
	}
	return s.Now.Add(pause), ""
}

func (s *Situation) patience() time.Duration {
	switch {
	case s.Patience < 0:
		return 0
	case s.Patience == 0:
		return DefaultPatience
	}
	return s.Patience
}

// waits is how often the step has waited for a service: in all, and since
// anything else happened.
func (s *Situation) waits() (total, row int) {
	for i := range s.Past {
		if p := &s.Past[i]; p.Patient || p.Act == belay.ActRetry && plain(p.Class) == plain(s.Failure.Class) {
			total, row = total+1, row+1
			continue
		}
		row = 0
	}
	return total, row
}
