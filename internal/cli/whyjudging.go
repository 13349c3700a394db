package cli

import (
	"fmt"

	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/story"
)

// judgingOf is a step that is done and whose agent changed files that judge it.
type judgingOf struct {
	Step  string   `json:"step"`
	Files []string `json:"files"`

	words string
}

// judging are those steps in their order.
func judging(all []story.Placed) []judgingOf {
	var list []judgingOf
	for _, p := range all {
		words := tui.Judging(p.StepView)
		if words == "" {
			continue
		}
		j := judgingOf{Step: p.At().Name(), words: words}
		for _, f := range p.Main.Agent.Evidence.Guards {
			j.Files = append(j.Files, f.Path)
		}
		list = append(list, j)
	}
	return list
}

// judgingPart names them.
func (w *whyFacts) judgingPart(p *page) {
	const shown = 3
	for i, j := range w.Judging {
		if i == shown {
			p.whole(fmt.Sprintf("  … %d more: %s show %s", len(w.Judging)-shown, w.belay, w.Run))
			return
		}
		p.text("  ", j.Step+": "+j.words)
	}
}
