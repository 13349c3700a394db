package recovery

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay"
)

// maxCause and maxNamed bound what goes from a failure into words.
const (
	maxCause = 300 // runes
	maxNamed = 20  // names of what fails
)

// cause is what a person reads about the failure: one line, and not too long.
func (s *Situation) cause() string {
	line := strings.Join(strings.Fields(clip(s.Failure.Cause, 4*maxCause)), " ")
	if line == "" {
		return "nothing was said about it"
	}
	return clip(line, maxCause)
}

// clip is the first n runes of a text.
func clip(text string, n int) string {
	for i := range text {
		if n--; n < 0 {
			return text[:i] + "…"
		}
	}
	return text
}

// reason says in one sentence why a recovery is taken.
func (c *chooser) reason(p belay.Plan, w way) string {
	s := &c.s
	what := s.cause()
	if w.park {
		what += "; it waits until " + p.Due.UTC().Format("2006-01-02 15:04:05 MST")
	}
	if p.Act == belay.ActFailover {
		what += "; " + p.Agent + " takes over"
	}
	if p.Act == belay.ActReassign {
		what += "; role " + p.Role + " may do it"
	}
	if p.Timeout > 0 {
		what += fmt.Sprintf("; it has %s instead of %s", p.Timeout, s.Timeout)
	}
	if row := s.Failure.Class.Row(); row.Named && s.Failure.Level != belay.LevelText {
		return row.Words + ": " + what
	}
	return what
}

// brief is what the next attempt is told. What the last one printed is added by
// whoever carries out the plan.
func (c *chooser) brief(act belay.Act) string {
	s := &c.s
	switch act {
	case belay.ActRetry, belay.ActResume:
		switch {
		case !s.Type.Agent():
			return ""
		case s.Failure.Class == belay.ClassHollow:
			return "Your last attempt was not accepted as work: " + s.cause() + ".\n" +
				"Do the task now, really. Leave evidence that can be checked: changed files, commits, output of commands that you ran. " +
				"If it cannot be done, say so plainly and say why; do not report success."
		case s.Failure.Class == belay.ClassIncomplete:
			return "Your last attempt is not complete: " + s.cause() + ".\n" +
				"Do what is missing now. Keep what is right of what is there. If it cannot be done, say why in your closing line."
		case s.Failure.Class == belay.ClassTampered:
			return GuardBrief(s.cause())
		case act == belay.ActResume:
			return "You were cut off: " + s.cause() + ".\nGo on from where you were. Look first at what is there already; do not begin again."
		case s.Failure.Class == belay.ClassTimeout && s.ownClock():
			return s.handOver()
		}
	case belay.ActFresh:
		if s.Failure.Class == belay.ClassTampered {
			return GuardBrief(s.cause()) + "\n\n" + s.handOver()
		}
		if s.Failure.Class == belay.ClassTokenLimit {
			return s.handOver() + "\nKeep it small: read only what you need, and write into files instead of long answers."
		}
		return s.handOver()
	case belay.ActFailover, belay.ActReassign:
		return s.handOver()
	case belay.ActRepair:
		return s.evidence()
	case belay.ActDecompose, belay.ActRecover: // who asks the helper says what about
	case belay.ActFallback, belay.ActSkip, belay.ActGiveUp, belay.ActAbort, belay.ActHold,
		belay.ActNone, belay.ActVerify, belay.ActRetryAfter, belay.ActEscalate, belay.ActStop:
	}
	return ""
}

// GuardBrief is what an agent is told that changed guarded files; "" for none.
func GuardBrief(cause string) string {
	if cause == "" {
		return ""
	}
	return "Your work was not accepted: " + cause + ".\n" +
		"Put these files back exactly as they were before you began (git diff and git log show how), " +
		"then do the task without changing them. If it cannot be done without, put them back and say so plainly."
}

// handOver is for an agent that finds the work of another, or of its own
// earlier session.
func (s *Situation) handOver() string {
	who := "An earlier attempt"
	if s.Agent != "" {
		who += " (" + s.Agent + ")"
	}
	text := who + " was working on this task and did not finish: " + s.cause() + ".\n"
	if s.Progress {
		text += "It left work in the working tree. Look at what is there (git status, git log, the files), keep what is good, and go on from it."
	} else {
		text += "It left no work that could be seen. Look at the working tree before you begin."
	}
	return text + s.failing("What was failing last:")
}

// evidence is for an agent that is to fix something.
func (s *Situation) evidence() string {
	text := "This failed: " + s.cause() + "."
	text += s.failing("What fails:")
	return text + "\nFind the cause and fix it. Do not weaken, skip or delete the checks: they are run again, unchanged, after you."
}

func (s *Situation) failing(title string) string {
	if len(s.Failing) == 0 {
		return ""
	}
	text := "\n" + title
	for i, name := range s.Failing {
		if i == maxNamed {
			return text + fmt.Sprintf("\n- and %d more", len(s.Failing)-maxNamed)
		}
		text += "\n- " + clip(name, maxCause)
	}
	return text
}
