package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/tui"
)

// blocked is a step whose agent may not start yet: the service that it calls is
// left alone for a while.
type blocked struct {
	Step  string    `json:"step"`
	Until time.Time `json:"until"`
	Why   string    `json:"why"`
	Since time.Time `json:"since"`
}

// blockedOf are the steps of a run that wait for a service, the first to go on
// first; never nil.
func blockedOf(s *story) []blocked {
	open := map[string]blocked{}
	for _, r := range s.recs {
		if !below(r.Run, s.id) {
			continue
		}
		switch e := r.Event.(type) {
		case belay.AnswerGiven:
			path, ok := tui.Blocks(r.Run, e)
			name := tui.StepName(r.Run, path)
			was, before := open[name]
			delete(open, name)
			if ok {
				b := blocked{Step: name, Until: e.Answer.Until.UTC(), Why: e.Answer.Error, Since: r.At.UTC()}
				if before {
					b.Since = was.Since
				}
				open[name] = b
			}
		case belay.AttemptStarted:
			delete(open, tui.StepName(r.Run, e.Path))
		case belay.RunCleared:
			if e.What == belay.CountBreakers {
				clear(open)
			}
		case belay.RecoveryChosen:
			delete(open, tui.StepName(r.Run, e.Path))
		case belay.RunEnded:
			if r.Run == s.id {
				clear(open)
			}
		}
	}
	list := []blocked{}
	for _, b := range open {
		list = append(list, b)
	}
	slices.SortFunc(list, func(a, b blocked) int {
		if n := a.Until.Compare(b.Until); n != 0 {
			return n
		}
		return strings.Compare(a.Step, b.Step)
	})
	return list
}

// blockedPart says what a step waits for that is nobody's question.
func (w *whyFacts) blockedPart(p *page) {
	if len(w.Blocked) == 0 {
		return
	}
	const shown = 3
	p.head("WAITS FOR A SERVICE")
	for i, b := range w.Blocked {
		if i == shown {
			p.whole(fmt.Sprintf("  … %d more steps", len(w.Blocked)-shown))
			break
		}
		p.text("  "+w.clock(b.Since)+"  ", fmt.Sprintf("%s: %s; it is asked again at %s", b.Step, b.Why, w.clock(b.Until)))
	}
}

// breakers is the command that takes back what is counted of the services.
func (w *whyFacts) breakers() string {
	return fmt.Sprintf("%s clear %s breakers --why TEXT", w.belay, w.Run.Root())
}
