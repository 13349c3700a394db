package verdict

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay"
)

// changed tells whether there is a change that counts as the agent's.
func (c Claim) changed() bool {
	shared := len(c.Beside) > 0
	return Changed(c.Evidence) && (c.Acted || Own(c.Evidence, shared) || c.Severed && !shared)
}

// Own tells whether what changed can be the agent's, by its own records. In a
// tree that it had for itself it must have used something that may change files;
// in one that it shared, its records must name a file that changed, or it must
// have made a commit. An agent that does not tell its tools is believed, and
// only where it was alone.
func Own(e belay.Evidence, shared bool) bool {
	if shared {
		return len(e.Own.Named) > 0 || e.Own.Commits && len(e.Commits) > 0
	}
	return !e.Own.Told || e.Own.Writes
}

// others is the verdict about a tree that somebody else changed.
func (c Claim) others() belay.Verdict {
	cause := "the working tree changed, and the agent used no tool that could have changed it: somebody else did"
	hint := "look at what changed before it runs again; a step that nobody can disturb has isolate: worktree"
	if len(c.Beside) > 0 {
		cause = c.beside() + ", and no record of the agent names a file that changed"
		hint = "give the step a tree of its own with isolate: worktree"
		if c.Evidence.Apart {
			cause = c.beside() + ", and no record of the agent names a commit of these"
			hint = "let the agent commit in its own tree, or in a worktree that its commands name"
		}
		if !c.Evidence.Own.Told {
			cause = c.beside() + ", and the agent does not tell what it did"
		}
	}
	v := c.empty(cause, sureRecord)
	if v.Failure.Class == belay.ClassHollow {
		v.Failure.Hint = hint
	}
	return v
}

// beside says who else was at work.
func (c Claim) beside() string {
	const most = 3
	who := joined(c.Beside[:min(len(c.Beside), most)])
	if n := len(c.Beside) - most; n > 0 {
		who += fmt.Sprintf(" and %d more", n)
	}
	if c.Evidence.Apart {
		return who + " worked in the same repository"
	}
	return who + " worked in the same tree"
}

// doubted lowers a verdict where a change may be somebody else's, and says why.
func (c Claim) doubted(v belay.Verdict) belay.Verdict {
	if !Changed(c.Evidence) {
		return v
	}
	var list []string
	if len(c.Beside) > 0 {
		list = append(list, c.beside())
	}
	if c.Severed {
		list = append(list, "the work is measured since an attempt that was cut off")
	}
	for _, doubt := range list {
		v.Sure = min(v.Sure, sureMixed)
		if v.Failure == nil || !strings.HasPrefix(v.Failure.Cause, doubt) {
			v.Against = append(v.Against, doubt)
		}
	}
	return v
}

// onlyHere tells whether all that the agent did would be seen in the working
// tree, and there is nothing of it.
func (c Claim) onlyHere() bool {
	e := c.Evidence
	seen := e.Before.Tree != "" && e.After.Tree != "" && e.Before.Error == "" && e.After.Error == "" && e.Error == ""
	return seen && e.Own.Told && !e.Own.Afar && len(e.Outside) == 0 && e.PR == "" && !c.changed()
}

// nothing says what is missing where a change is claimed.
func (c Claim) nothing() string {
	switch {
	case !Changed(c.Evidence):
		return "nothing changed in the working tree"
	case len(c.Beside) > 0:
		return "what changed may be somebody else's: " + c.beside()
	}
	return "it used no tool that could have"
}
