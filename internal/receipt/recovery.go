package receipt

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
)

// Recovery is a failure together with the recovery that it was met with, in words: every page
// that tells of a recovery says them in this order.
type Recovery struct {
	N, Of   int    // the number of the attempt that failed, and of how many; 0 = a number is not known
	Lost    bool   // nobody saw its end
	Cause   string // why it failed
	Chosen  string // what was chosen
	Because string // why that, where the cause does not say it
}

// RecoveryFrom is what a decision recovers from; false for one that chooses no recovery.
func RecoveryFrom(d *story.Decision) (Recovery, bool) {
	if d.Plan == nil || d.Plan.Act.Row().Ends || len(d.Plan.Parts) > 0 {
		return Recovery{}, false
	}
	m := Recovery{N: d.N, Chosen: RecoveryWords(d), Lost: d.Broken.N > 0 && d.Broken.Attempt == nil}
	f := d.Broken.Failure
	if f == nil && !m.Lost {
		f = d.Failure
	}
	why := d.Why
	var n, of int
	if got, _ := fmt.Sscanf(why, "attempt %d of %d failed", &n, &of); got == 2 { // of the retries that the recipe allows
		m.N, m.Of = n, of
		_, why, _ = strings.Cut(why, " failed")
		why = strings.TrimPrefix(why, ": ")
	}
	m.Cause = why
	if f == nil || m.Of > 0 && why != "" {
		m.Cause = belay.Plain(m.Cause)
		return m, m.N > 0
	}
	m.explain(d.Plan, f, why)
	return m, m.N > 0
}

// explain takes the reason of a plan apart: what failed, and why this recovery.
func (m *Recovery) explain(p *belay.Plan, f *belay.Failure, why string) {
	before, after, ok := strings.Cut(why, cut(f.Cause))
	switch {
	case !ok:
		m.Cause, m.Because = f.Words(), belay.Plain(why)
		return
	case before == "" || before == f.Class.Row().Words+": ":
		m.Cause = belay.Plain(strings.TrimSuffix(why, after))
	default:
		m.Cause, m.Because = f.Words(), belay.Plain(strings.TrimRight(before, ": ("))
	}
	after = strings.TrimSuffix(after, "; "+p.Agent+" takes over") // the recovery names it
	m.Because += belay.Plain(strings.TrimPrefix(strings.TrimSuffix(after, ")"), "; "))
}

// mostCause is how much of a cause the reason of a plan has.
const mostCause = 300

// cut is a cause as the reason of a plan has it.
func cut(cause string) string {
	line := []rune(strings.Join(strings.Fields(cause), " "))
	return string(line[:min(len(line), mostCause)])
}

// Failed says which attempt failed, and why. from is the first of several that failed
// alike.
func (m Recovery) Failed(from int) string {
	which := fmt.Sprintf("attempt %d", m.N)
	if from > 0 && from < m.N {
		which = fmt.Sprintf("attempts %d to %d", from, m.N)
		if from+1 == m.N {
			which = fmt.Sprintf("attempts %d and %d", from, m.N)
		}
	}
	if m.Of > 0 {
		which += fmt.Sprintf(" of %d", m.Of)
	}
	if m.Lost {
		return which + " lost" + prefixed(": ", m.Cause)
	}
	return which + " failed" + prefixed(": ", m.Cause)
}

// Words are the failure, and then the recovery from it.
func (m Recovery) Words(from int) string {
	each := ""
	if from > 0 && from < m.N {
		each = " each time, the last one"
	}
	return m.Failed(from) + "; recovery" + each + ": " + m.Chosen + inBrackets(m.Because)
}

// RecoveryWords are those of a chosen recovery, with the agent that is asked.
func RecoveryWords(d *story.Decision) string {
	p, row := d.Plan, d.Act().Row()
	from, taker := story.AgentName(d.Agent), cmp.Or(story.AgentName(p.Agent), p.Role)
	if p.Act == belay.ActReassign && p.Role != "" {
		from, taker = d.Role, p.Role
	}
	text := row.Words
	switch {
	case row.Act == belay.ActRetry && d.Wait() <= 0:
		return text + " at once"
	case row.Over:
		text = strings.TrimRight(text+" "+change(from, taker), " ")
	case row.Same && row.Act != belay.ActRetry, row.Helper == belay.RoleRepair, row.Helper == belay.RoleRecovery:
		text += prefixed(" (agent ", cmp.Or(taker, from))
		if cmp.Or(taker, from) != "" {
			text += ")"
		}
	case row.Act != belay.ActRetry:
		return text
	}
	return text + late(d.Wait())
}

func late(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return " after " + readable.Took(d)
}

func change(from, to string) string {
	switch {
	case to == "":
		return ""
	case from == "":
		return "→ " + to
	}
	return from + " → " + to
}
