package story

import (
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/flow"
)

// reset takes in that steps run again: what was told of their trouble is over, and
// they are not done any more.
func (s *Story) reset(n *News, e event.StepReset) {
	d := s.decide(n, e.Path, e.Why)
	d.By, d.Also, d.Kept = e.By, e.Also, e.Kept
	for _, p := range append([]belay.Path{e.Path}, e.Also...) {
		st := s.step(Place{n.Run, p})
		if st.done {
			st.done = false
			s.Done--
		}
		s.forgive(st.Place)
		st.Trouble, st.Failure, st.Broken, st.Again, st.Question = Trouble{}, nil, Broken{}, nil, nil
		s.mark(st)
	}
}

// Resets say which steps run again, and which that build on them do not.
func Resets(facts []flow.Fact) (lines []string) {
	for _, f := range facts {
		e, ok := f.Event.(event.StepReset)
		if !ok {
			continue
		}
		lines = append(lines, "runs again: "+names(f.Run, append([]belay.Path{e.Path}, e.Also...)))
		if len(e.Kept) > 0 {
			lines = append(lines, "stays done, because it must not run twice: "+names(f.Run, e.Kept))
		}
	}
	return lines
}

func names(run belay.RunID, paths []belay.Path) string {
	list := make([]string, len(paths))
	for i, p := range paths {
		list[i] = StepName(run, p)
	}
	return strings.Join(list, ", ")
}
