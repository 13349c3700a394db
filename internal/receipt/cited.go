package receipt

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/belay-run/belay"
)

// Cited is a place in a file that an answer or a report quotes, or a commit that it names,
// and that Belay found there.
type Cited struct {
	Criterion string `json:"criterion,omitempty"` // that it is for; "" = it was not said
	Path      string `json:"path,omitempty"`
	Line      int    `json:"line,omitempty"`
	Commit    string `json:"commit,omitempty"` // instead of a place
	Quote     string `json:"quote,omitempty"`
}

// citedPlace is such a place as an agent or a step wrote it down.
type citedPlace struct {
	Criterion string `json:"criterion"`
	Path      string `json:"path"`
	Line      any    `json:"line"` // a number, or a text that is one
	Commit    string `json:"commit"`
	Quote     string `json:"quote"`
}

// lookedUp is what came of it; nil where the look failed.
type lookedUp struct {
	Holds bool   `json:"holds"`
	Path  string `json:"path"` // where it is not as it was cited
	Line  int    `json:"line"` // of several lines, the one that has the words
}

// cited are the citations of a round that held.
func (m *maker) cited(round belay.RunID) []Cited {
	var answer struct {
		Places []citedPlace `json:"places"` // of an earlier Belay, which looked up nothing else
		All    []citedPlace `json:"all"`
	}
	var looked []*lookedUp
	m.output(round, "cited", &answer) // a task of another type has none
	m.output(round, "citations", &looked)
	if answer.All == nil {
		answer.All = answer.Places
	}
	list := thatHold(answer.All, looked)
	for _, name := range []string{"investigation_result", "adaptive_investigation"} {
		var report struct {
			Findings struct {
				Claims json.RawMessage `json:"claims"`
			} `json:"findings"`
			Claimed struct {
				All []citedPlace `json:"all"`
			} `json:"claimed"`
			Claims []*lookedUp `json:"claims"`
		}
		if m.output(round, name, &report) {
			if report.Claimed.All == nil { // of an earlier Belay, which looked them up as they are
				_ = json.Unmarshal(report.Findings.Claims, &report.Claimed.All) // else they are no citations
			}
			list = append(list, thatHold(report.Claimed.All, report.Claims)...)
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
		if p.Commit != "" {
			list = append(list, Cited{Criterion: p.Criterion, Commit: p.Commit, Quote: p.Quote})
		} else if line, err := strconv.Atoi(fmt.Sprint(p.Line)); err == nil {
			if l.Line > 0 {
				line = l.Line
			}
			list = append(list, Cited{Criterion: p.Criterion, Path: cmp.Or(l.Path, p.Path), Line: line, Quote: p.Quote})
		}
	}
	return list
}
