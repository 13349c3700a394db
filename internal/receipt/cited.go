package receipt

import (
	"fmt"
	"strconv"

	"github.com/belay-run/belay"
)

// Cited is a place in a file that an answer or a report quotes, and that Belay found
// there.
type Cited struct {
	Criterion string `json:"criterion,omitempty"` // that it is for; "" = it was not said
	Path      string `json:"path"`
	Line      int    `json:"line"`
	Quote     string `json:"quote"`
}

// citedPlace is such a place as an agent or a step wrote it down.
type citedPlace struct {
	Criterion string `json:"criterion"`
	Path      string `json:"path"`
	Line      any    `json:"line"` // a number, or a text that is one
	Quote     string `json:"quote"`
}

// lookedUp is what came of it; nil where the look failed.
type lookedUp struct {
	Holds bool `json:"holds"`
}

// cited are the citations of a round that held.
func (m *maker) cited(round belay.RunID) []Cited {
	var answer struct {
		Places []citedPlace `json:"places"`
	}
	var looked []*lookedUp
	m.output(round, "cited", &answer) // a task of another type has none
	m.output(round, "citations", &looked)
	list := thatHold(answer.Places, looked)
	for _, name := range []string{"investigation_result", "adaptive_investigation"} {
		var report struct {
			Findings struct {
				Claims []citedPlace `json:"claims"`
			} `json:"findings"`
			Claims []*lookedUp `json:"claims"`
		}
		if m.output(round, name, &report) {
			list = append(list, thatHold(report.Findings.Claims, report.Claims)...)
		}
	}
	return list
}

func thatHold(places []citedPlace, looked []*lookedUp) []Cited {
	var list []Cited
	for i, l := range looked {
		if l == nil || !l.Holds || i >= len(places) {
			continue
		}
		p := places[i]
		if line, err := strconv.Atoi(fmt.Sprint(p.Line)); err == nil {
			list = append(list, Cited{p.Criterion, p.Path, line, p.Quote})
		}
	}
	return list
}
