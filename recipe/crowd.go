package recipe

import (
	"fmt"

	"github.com/belay-run/belay"
)

// crowds warns of agents that must leave a change and can work in one tree at
// the same time: whose change it is, nobody can tell for sure.
func (l *linker) crowds() {
	o := newOrder(l.steps)
	var changing []int
	for i := range l.steps {
		s := &l.steps[i]
		if s.Type != belay.TypeAgent || s.Expect != string(belay.ExpectChange) || s.Isolate {
			continue
		}
		if s.Foreach != "" && s.MaxItems != 1 {
			l.crowd(s, fmt.Sprintf("the items of step %q", s.ID), "give it isolate: worktree, which each item gets for itself, or max_parallel: 1")
		}
		for _, j := range changing {
			if !o.before(j, i) && !o.before(i, j) {
				l.crowd(s, fmt.Sprintf("steps %q and %q", l.steps[j].ID, s.ID), "give each isolate: worktree, or let one wait for the other")
				break
			}
		}
		changing = append(changing, i)
	}
}

func (l *linker) crowd(s *Step, who, hint string) {
	file, at := s.file, s.Pos
	if file == "" {
		file, at = l.file, l.clamp(at)
	}
	l.add(Problem{
		File: file, Line: at.Line, Col: at.Col, Hint: hint, Warning: true,
		Msg: who + " can work in the same tree at the same time, and each must leave a change",
	})
}
