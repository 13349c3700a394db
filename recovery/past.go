package recovery

import (
	"time"

	"github.com/belay-run/belay"
)

// longWait is the longest wait that counts as a retry. A longer one is worth
// another agent first.
const longWait = 5 * time.Minute

// maxPark is the longest wait for a time that the other side named.
const maxPark = 24 * time.Hour

// took tells whether a recovery was taken before.
func (s *Situation) took(act belay.Act) bool {
	for i := range s.Past {
		if s.Past[i].Act == act {
			return true
		}
	}
	return false
}

// usedWays is how many recoveries the step has had. Lost attempts have no class
// and are bounded elsewhere.
func (s *Situation) usedWays() int {
	n := 0
	for i := range s.Past {
		if p := &s.Past[i]; p.Class != belay.ClassNone && starts(p.Act) && !p.Patient {
			n++
		}
	}
	return n - max(s.Declared.MaxAttempts-1, 0)
}

// tries is how often the same was asked again for failures of this class: by
// the present agent in its role, or by all.
func (s *Situation) tries(every bool) int {
	n := 0
	for i := range s.Past {
		p := &s.Past[i]
		if p.Act.Row().Same && plain(p.Class) == plain(s.Failure.Class) && (every || p.Agent == s.Agent && p.Role == s.Role) {
			n++
		}
	}
	return n
}

// plain makes one class of all that nobody can explain.
func plain(c belay.Class) belay.Class {
	if c == belay.ClassNone || c == belay.ClassBenign {
		return belay.ClassUnknown
	}
	return c
}

// times is how often a recovery was taken for failures of this class.
func (s *Situation) times(act belay.Act) int {
	n := 0
	for i := range s.Past {
		if p := &s.Past[i]; p.Act == act && plain(p.Class) == plain(s.Failure.Class) {
			n++
		}
	}
	return n
}

// stalemate tells that the same hands failed in the same way before, and
// nothing has changed since: the same once more is the same for the third time.
func (s *Situation) stalemate() bool {
	if s.Changed {
		return false
	}
	if s.Failure.Level == belay.LevelRepeat {
		return true
	}
	for i := range s.Past {
		if p := &s.Past[i]; s.Failure.Print != "" && p.Print == s.Failure.Print && p.Agent == s.Agent && p.Role == s.Role {
			return true
		}
	}
	return false
}

// resumed tells whether the session went on once for this very failure.
func (s *Situation) resumed() bool {
	for i := range s.Past {
		if p := &s.Past[i]; p.Act == belay.ActResume && p.Agent == s.Agent && p.Print == s.Failure.Print {
			return true
		}
	}
	return false
}

// seen tells whether a failure in the past is of the kind of the present one.
func (s *Situation) seen(p *Past) bool {
	return p.Print == s.Failure.Print || plain(p.Class) == plain(s.Failure.Class)
}

// triedAgent tells whether an agent had its turn at this failure.
func (s *Situation) triedAgent(name string) bool {
	for i := range s.Past {
		p := &s.Past[i]
		if s.seen(p) && (p.Agent == name || p.Act == belay.ActFailover && p.To == name) {
			return true
		}
	}
	return name == s.Agent
}

// triedRole tells whether a role had its turn at this failure.
func (s *Situation) triedRole(role Role) bool {
	for i := range s.Past {
		p := &s.Past[i]
		if s.seen(p) && (p.Role == role || p.Act == belay.ActReassign && p.To == string(role)) {
			return true
		}
	}
	return role == s.Role
}

// ownClock tells that we ended the attempt because its time was over.
func (s *Situation) ownClock() bool {
	return s.Failure.Level == belay.LevelAct || s.Failure.Kind == belay.AgentTimeout && s.Failure.Level != belay.LevelTyped
}

func (s *Situation) maxReplans() int {
	return belay.Limits{MaxReplans: s.MaxReplans}.Replans()
}

func (s *Situation) replansSpent() bool { return s.Replans >= s.maxReplans() }

// starts tells whether a recovery makes the step, or a helper, run; what the
// recipe names instead is other work.
func starts(act belay.Act) bool {
	row := act.Row()
	return row.Again && act != belay.ActFallback || row.Helper != ""
}
