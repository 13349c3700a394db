package receipt

import (
	"fmt"
	"strings"
)

// provenWords are said where no result rests on a word alone: they claim no more than the
// checks that were run.
func (r *Receipt) provenWords(p *page) string {
	var without names
	done := false
	for i := range r.Steps {
		s := &r.Steps[i]
		if done = done || s.Verdict == "done"; s.Verdict == "done" && !s.Checked && !s.calls {
			without.add(p.plain(s.Step))
		}
	}
	switch {
	case r.Task != nil:
		return "Every result has evidence besides what an agent or a person said."
	case !done:
		return "No step is done."
	case len(without.list) == 0:
		return "Nothing: each step that is done passed a check."
	}
	const shown = 8
	text := strings.Join(without.list[:min(len(without.list), shown)], ", ")
	if more := len(without.list) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return "Every result has evidence besides what an agent or a person said. No check was defined for " + text + "; every other step that is done passed its check."
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
