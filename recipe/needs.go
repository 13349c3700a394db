package recipe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// MaxGroup is how many steps a parallel_group holds at most.
const MaxGroup = 256

// link turns what the steps wait for into indexes and refuses what can never
// start. With a parent still to come, ids that are not there may be its own.
func (p *parser) link(steps []Step, parent bool) {
	l := &linker{report: &p.report, file: p.file, steps: steps, parent: parent, clamp: p.src.clamp}
	l.link()
}

// linker resolves the needs of a list of steps.
type linker struct {
	*report
	file     string // for steps that do not name theirs
	steps    []Step
	parent   bool
	clamp    func(Pos) Pos
	index    map[belay.Path]int
	original []int // see originals
	circle   bool  // of fallbacks
}

func (l *linker) fail(s *Step, at Pos, hint, format string, args ...any) {
	file := s.file
	if file == "" {
		file = l.file
		at = l.clamp(at)
	}
	l.add(Problem{File: file, Line: at.Line, Col: at.Col, Msg: fmt.Sprintf(format, args...), Hint: hint})
}

func (l *linker) link() {
	l.ids()
	l.fallbacks()
	prior := []int{} // what a step without needs waits for
	for i := 0; i < len(l.steps); {
		if l.steps[i].IsFallback { // it has no place in the order
			i++
			continue
		}
		if l.steps[i].Finally && (i == 0 || !l.steps[i-1].Finally) {
			prior = l.leaves(i)
		}
		end := l.group(i)
		next := make([]int, 0, end-i)
		for ; i < end; i++ {
			if l.steps[i].IsFallback {
				continue
			}
			l.steps[i].Needs = prior
			if l.steps[i].hasNeeds {
				l.steps[i].Needs = l.needed(i)
			}
			next = append(next, i)
		}
		if len(next) > MaxGroup {
			l.fail(&l.steps[next[MaxGroup]], l.steps[next[MaxGroup]].groupPos, "", "a group has at most %d steps", MaxGroup)
		}
		prior = next
	}
	l.fallbackSteps()
	if !l.full() {
		l.cycles()
	}
	if len(l.errors) == 0 && !l.parent {
		l.crowds()
	}
}

// group is the end of the group that starts at i; a step without one is alone.
func (l *linker) group(i int) int {
	end := i + 1
	for l.steps[i].Group != "" && end < len(l.steps) && (l.steps[end].IsFallback || l.steps[end].Group == l.steps[i].Group) {
		end++
	}
	return end
}

func (l *linker) ids() {
	l.index = make(map[belay.Path]int, len(l.steps))
	for i := range l.steps {
		s := &l.steps[i]
		if s.ID == "" {
			continue
		}
		if first, twice := l.index[s.ID]; twice {
			l.fail(s, s.idPos, "", "the id %q is given twice, first in line %d", s.ID, l.steps[first].Pos.Line)
			continue
		}
		l.index[s.ID] = i
	}
	if i, taken := l.index[FinallyID]; taken && l.steps[len(l.steps)-1].Finally {
		l.fail(&l.steps[i], l.steps[i].idPos, "choose another one", "the id %q stands for all steps of finally", FinallyID)
	}
}

func (l *linker) needed(i int) []int {
	s := &l.steps[i]
	needs := make([]int, 0, len(s.needs))
	for _, n := range s.needs {
		j, ok := l.index[n.id]
		switch {
		case !ok && l.parent:
		case !ok:
			l.noStep(s, n)
		case j == i || n.id == s.ID:
			l.fail(s, n.pos, "", "the step %q needs itself", n.id)
		case l.steps[j].IsFallback:
			l.notAwaited(s, n)
		case l.steps[j].Finally:
			l.inFinally(s, n)
		default:
			needs = append(needs, j)
		}
	}
	slices.Sort(needs)
	return slices.Compact(needs)
}

// inFinally reports a step of finally that something else wants to have run.
func (l *linker) inFinally(s *Step, n need) {
	l.fail(s, n.pos, "", "the step %q belongs to finally, and runs when all others are over", n.id)
}

// noStep reports an id that no step has.
func (l *linker) noStep(s *Step, n need) {
	if l.full() {
		return
	}
	ids := make([]string, 0, len(l.index))
	for id := range l.index {
		ids = append(ids, string(id))
	}
	l.fail(s, n.pos, nearest(string(n.id), ids), "no step has the id %q", clip(string(n.id)))
}

// cycles reports steps that wait for themselves through others. It visits every
// step and every need once.
func (l *linker) cycles() {
	needs := make([][]int, len(l.steps))
	for i := range l.steps {
		needs[i] = l.steps[i].Needs
	}
	for _, cycle := range findCycles(needs) {
		if l.full() {
			return
		}
		hint := ""
		for _, i := range cycle {
			if !l.steps[i].hasNeeds {
				hint = "a step without needs: waits for the step listed before it"
			}
		}
		s := &l.steps[cycle[0]]
		l.fail(s, s.Pos, hint, "steps need each other in a circle: %s", chain(l.steps, cycle))
	}
}

// chain is a cycle as a message shows it.
func chain(steps []Step, cycle []int) string {
	const most = 10
	var ids []string
	for n, i := range cycle {
		if n == most {
			ids = append(ids, fmt.Sprintf("… %d more …", len(cycle)-most))
			break
		}
		ids = append(ids, string(steps[i].ID))
	}
	return strings.Join(append(ids, string(steps[cycle[0]].ID)), " → ")
}
