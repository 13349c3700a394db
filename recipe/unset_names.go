package recipe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay/effect"
)

// unsure warns of a name that step i reads when the one step that sets it may
// not run, or may fail and let the run go on.
func (sc *scope) unsure(i int, u use) {
	setter := sc.only(i, u.name)
	if setter == nil || sc.r.Compat {
		return
	}
	s := &sc.r.Steps[i]
	why := setter.mayLeave(s)
	if why == "" && !sc.surely(setter, u.name) {
		why = "and only by its fallback"
	}
	if why == "" {
		return
	}
	hint := fmt.Sprintf("write {{%s | default('')}}, or give it a default under context:", u.name)
	if u.outside {
		hint = "give it a default under context:"
	}
	sc.g.add(Problem{
		File: s.where(sc.r), Line: u.pos.Line, Col: u.pos.Col, Warning: true, Hint: hint,
		Msg: fmt.Sprintf("%q may be missing: only step %q sets it, %s", u.name, setter.ID, why),
	})
}

// only is the one step before step i that sets a name, nil when there is none or
// several: those may be meant for one case each.
func (sc *scope) only(i int, name string) *Step {
	var found *Step
	for _, j := range sc.by[name] {
		if j == i || !sc.order.before(j, i) {
			continue
		}
		if found != nil {
			return nil
		}
		found = &sc.r.Steps[j]
	}
	return found
}

// surely tells whether a step sets a name when all goes well, and not only by
// the recipe that is its fallback.
func (sc *scope) surely(s *Step, name string) bool {
	own := s.Output == name || slices.ContainsFunc(s.Outputs, func(o effect.OutputSpec) bool { return o.Name == name })
	return own || s.Type.Child() && sc.g.call(s.Recipe).sets[name]
}

// mayLeave says why a step may leave its output unset although reader runs.
func (s *Step) mayLeave(reader *Step) string {
	guarded := s.Condition != nil && reader.Condition != nil &&
		strings.Contains(reader.Condition.String(), s.Condition.String())
	tagged := len(s.Tags) > 0 && strings.Join(s.Tags, ",") != strings.Join(reader.Tags, ",")
	switch {
	case reader.Finally && !s.Finally:
		return "which the run may not come to"
	case s.IsFallback:
		return "which runs only as a fallback"
	case s.Condition != nil && !guarded:
		return "which has a condition"
	case tagged:
		return "which tags may leave out"
	case s.Optional && s.Foreach == "" && s.Repeat == nil:
		return "which is optional and may fail"
	}
	return ""
}
