package receipt

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/story"
)

// provenWords are said where no result rests on a word alone: they claim no more than the
// checks that were run.
func (r *Receipt) provenWords(p *page) string {
	var without names
	saw := map[effect.Basis]string{effect.BasisChange: "files changed", effect.BasisExit: "exit 0"}
	done, checked, whole, asked := false, false, false, false
	for i := range r.Steps {
		s := &r.Steps[i]
		switch {
		case s.Verdict != string(flow.Done) && s.Verdict != story.RecoveredWord:
			continue
		case s.Checked:
			checked = true
		case s.parts:
			whole = true
		case s.Basis == effect.BasisPerson: // a question has no other result than its answer
			asked = true
		default:
			without.add(p.plain(s.Step) + inBrackets(saw[s.Basis]))
		}
		done = true
	}
	switch {
	case r.Task != nil:
		return "Nothing: every result has evidence besides what an agent or a person said."
	case !done:
		return "No step is done."
	case len(without.list) == 0 && asked:
		return "Nothing: each step that is done passed a check, consists of steps that did, or is the answer of a person."
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
	text = "No result rests on words alone. Steps without a check, with what Belay itself saw of them: " + text + "."
	switch {
	case checked && asked:
		text += " Every other step that is done passed its check, or is the answer of a person."
	case checked:
		text += " Every other step that is done passed its check."
	}
	return text
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
