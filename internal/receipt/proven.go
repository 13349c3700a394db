package receipt

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/story"
)

// provenWords are said where no result rests on a word alone: they claim no more than the
// checks that were run.
func (r *Receipt) provenWords(p *page) string {
	var without names
	done, checked, whole := false, false, false
	for i := range r.Steps {
		s := &r.Steps[i]
		switch {
		case s.Verdict != string(flow.Done) && s.Verdict != story.RecoveredWord:
			continue
		case s.Checked:
			checked = true
		case s.parts:
			whole = true
		default:
			without.add(p.plain(s.Step))
		}
		done = true
	}
	switch {
	case r.Task != nil:
		return "Every result has evidence besides what an agent or a person said."
	case !done:
		return "No step is done."
	case len(without.list) == 0 && whole:
		return "Nothing: each step that is done passed a check, or consists of steps that did."
	case len(without.list) == 0:
		return "Nothing: each step that is done passed a check."
	}
	const shown = 8
	text := strings.Join(without.list[:min(len(without.list), shown)], ", ")
	if more := len(without.list) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	text = "Every result has evidence besides what an agent or a person said. No check was run for " + text
	if checked {
		text += "; every other step that is done passed its check"
	}
	return text + "."
}

// names is a list of names in which each stands once. It may be as long as the run.
type names struct {
	list []string
	has  map[string]bool
}

func (n *names) add(name string) {
	if n.has[name] {
		return
	}
	if n.has == nil {
		n.has = map[string]bool{}
	}
	n.has[name] = true
	n.list = append(n.list, name)
}
