package recipe

import (
	"fmt"

	"github.com/belay-run/belay"
)

// fallbacks marks the steps that others have as their fallback: these run in
// the stead of another step or not at all, so they have no place in the order.
func (l *linker) fallbacks() {
	for i := range l.steps {
		l.steps[i].IsFallback, l.steps[i].Item = false, ""
	}
	var edges [][]int // made when there is one
	for i := range l.steps {
		s := &l.steps[i]
		if s.Fallback == nil || s.Fallback.Step == "" {
			continue
		}
		j, ok := l.index[s.Fallback.Step]
		switch {
		case !ok && l.parent:
		case !ok:
			l.noStep(s, need{s.Fallback.Step, s.Fallback.Pos})
		case j == i || s.Fallback.Step == s.ID:
			l.fail(s, s.Fallback.Pos, "", "the step %q is its own fallback", s.ID)
		case l.steps[j].Finally:
			l.inFinally(s, need{s.Fallback.Step, s.Fallback.Pos})
		default:
			if edges == nil {
				edges = make([][]int, len(l.steps))
			}
			l.steps[j].IsFallback, edges[i] = true, []int{j}
		}
	}
	for _, cycle := range findCycles(edges) {
		s := &l.steps[cycle[0]]
		l.circle = true
		l.fail(s, s.Fallback.Pos, "", "steps are each other's fallback in a circle: %s", chain(l.steps, cycle))
	}
	if edges != nil && !l.circle {
		l.original = originals(l.steps)
		l.items()
	}
}

// fallbackSteps checks the steps that run only as a fallback, and gives them the
// needs of the step that they stand in for: what is there when that one starts
// is there for them, too.
func (l *linker) fallbackSteps() {
	for i := range l.steps {
		s := &l.steps[i]
		if !s.IsFallback {
			continue
		}
		s.Needs = []int{}
		if l.circle {
			continue // said so
		}
		of := &l.steps[l.original[i]]
		s.Needs = of.Needs
		for _, m := range s.misplaced() {
			l.fail(s, m.pos, fmt.Sprintf("leave it out; when it runs is up to step %q", of.ID),
				"the step %q runs only as a fallback, and %q does not apply to it", s.ID, m.key)
		}
	}
}

// items gives every step that stands in the variable that holds the item there;
// "" where there is not always one, as it stands in for a single step, too.
func (l *linker) items() {
	known := make([]bool, len(l.steps))
	for i := range l.steps {
		s, item := &l.steps[i], ""
		if s.IsFallback {
			continue // it is come by from the step that it stands in for
		}
		if s.Foreach != "" {
			item = s.As
		}
		for s.Fallback != nil && s.Fallback.Step != "" {
			next, ok := l.index[s.Fallback.Step]
			if !ok || known[next] && (l.steps[next].Item == item || l.steps[next].Item == "") {
				break // so is all that follows
			}
			if known[next] {
				item = ""
			}
			s, known[next] = &l.steps[next], true
			s.Item = item
		}
	}
}

// isItem tells whether what a step reads is the item of a list: its own, or that
// of the step that it stands in for.
func (s *Step) isItem(u use) bool {
	return !u.outside && (s.Foreach != "" && u.name == s.As || s.Item != "" && u.name == s.Item)
}

// notAwaited reports a need for a step that runs only as a fallback.
func (l *linker) notAwaited(s *Step, n need) {
	hint := ""
	if l.original != nil {
		hint = "need the step that it stands in for: " + string(l.steps[l.original[l.index[n.id]]].ID)
	}
	l.fail(s, n.pos, hint, "the step %q runs only as a fallback, and nothing can wait for it", n.id)
}

// misplacedKey is a key of a step that a fallback cannot have.
type misplacedKey struct {
	key string
	pos Pos
}

// misplaced are the keys of a step that say when it runs.
func (s *Step) misplaced() []misplacedKey {
	var list []misplacedKey
	add := func(is bool, key string, pos Pos) {
		if pos.Line == 0 {
			pos = s.idPos
		}
		if is {
			list = append(list, misplacedKey{key, pos})
		}
	}
	var needs Pos
	if len(s.needs) > 0 {
		needs = s.needs[0].pos
	}
	add(s.hasNeeds, "needs", needs)
	add(s.Group != "", "parallel_group", s.groupPos)
	add(len(s.Tags) > 0, "when_tags", Pos{})
	add(s.Condition != nil, "condition", s.condPlace.whole)
	add(s.Foreach != "", "foreach", Pos{})
	add(s.Repeat != nil, "repeat", Pos{})
	return list
}

// originals gives every step the one that it stands in for in the end, through
// others where those stand in themselves; itself when it stands in for none. Of
// several that name it, the first counts. It is nil when there is no such step.
// There must be no circle.
func originals(steps []Step) []int {
	any := false
	for i := range steps {
		any = any || steps[i].IsFallback
	}
	if !any {
		return nil
	}
	of, index := make([]int, len(steps)), make(map[belay.Path]int, len(steps))
	for i := range steps {
		of[i], index[steps[i].ID] = i, i
	}
	for i := range steps {
		f := steps[i].Fallback
		if f == nil || f.Step == "" {
			continue
		}
		if j, ok := index[f.Step]; ok && of[j] == j {
			of[j] = i
		}
	}
	for i := range of {
		end := i
		for of[end] != end {
			end = of[end]
		}
		for at := i; at != end; { // the way is short for whoever comes next
			at, of[at] = of[at], end
		}
	}
	return of
}
