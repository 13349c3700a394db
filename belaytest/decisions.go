package belaytest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
)

// Decisions are what the brain decided in a run, without times and texts. Each begins
// with the step that it is about, as "run:step", where the root has no name. That an
// attempt is started which a driver that died had on record and did not start is none.
type Decisions struct {
	All          []string            // in their order
	By           map[string][]string // those about each step
	UserCheckout bool                // things went side by side: then only the order about each step means anything
}

// DecisionsOf reads them out of the records of a run.
func DecisionsOf(recs []event.Record) Decisions {
	d := Decisions{By: map[string][]string{}}
	open, again := map[belay.Key]bool{}, unborn{}
	for _, r := range recs {
		if again.starts(r) {
			continue
		}
		step, what := decided(r)
		switch e := r.Event.(type) {
		case event.AttemptStarted:
			if e.Child == "" { // a child run goes beside the step that calls it
				d.UserCheckout = d.UserCheckout || len(open) > 0
				open[e.Key] = true
			}
		case event.AttemptEnded:
			delete(open, e.Key)
		case event.ItemExpired: // what has ended by then is a matter of time
			d.UserCheckout = true
		case event.AnswerGiven: // who asks first for a tree that two want gets it
			a, tree := e.Answer.(effect.AnswerTree)
			d.UserCheckout = d.UserCheckout || tree && (a.By != "" || a.Waited > 0)
		}
		if what != "" {
			name := strings.TrimPrefix(string(r.Run), string(r.Run.Root())) + ":" + string(step)
			d.By[name] = append(d.By[name], what)
			d.All = append(d.All, name+" "+what)
		}
	}
	return d
}

// unborn are attempts that a driver had on record when it died, and had not begun.
type unborn map[belay.Key]bool

// starts tells whether a record is the start of such an attempt, once more.
func (u unborn) starts(r event.Record) bool {
	switch e := r.Event.(type) {
	case event.AttemptFound:
		u[e.Key] = e.How == fault.Unborn
	case event.AttemptStarted:
		was := u[e.Key]
		u[e.Key] = false
		return was
	}
	return false
}

// decided is a decision without times and texts; "" = the record is none.
func decided(r event.Record) (belay.Path, string) {
	kind := r.Event.Kind()
	switch e := r.Event.(type) {
	case event.AttemptStarted:
		return e.Path, fmt.Sprintf("%s %s %d %s resume=%t", kind, e.Role, e.Attempt, e.Agent, e.Resume)
	case event.AttemptJudged:
		p, _ := belay.ParseKey(e.Key)
		return p.Path, fmt.Sprintf("%s %s %t %s %s", kind, p.Role, e.Verdict.OK, e.Verdict.Basis, failure(e.Verdict.Failure))
	case event.AttemptStopping:
		p, _ := belay.ParseKey(e.Key)
		return p.Path, fmt.Sprintf("%s %s", kind, e.Why)
	case event.StepNotTaken:
		return e.Path, kind
	case event.StepSkipped:
		return e.Path, kind + " " + e.By
	case event.StepRefused:
		return e.Path, kind + " " + failure(&e.Failure)
	case event.StepReset:
		return e.Path, fmt.Sprintf("%s %v %v", kind, e.Also, e.Kept)
	case event.RecoveryChosen:
		return e.Path, fmt.Sprintf("%s %s %s %s %s %s", kind, e.Plan.Act, e.Plan.Rule, e.Plan.Class, e.Plan.Agent, e.Plan.Role)
	case event.ItemOpened:
		return e.Path, fmt.Sprintf("%s %s %v %s", kind, e.About, e.Choices, e.OnTimeout)
	case event.ItemAnswered:
		return e.Path, fmt.Sprintf("%s %s %s", kind, e.Choice, e.Why)
	case event.ItemExpired:
		return e.Path, kind + " " + e.Then
	case event.RunHeld, event.RunStopped, event.RunPaused, event.RunResumed, event.RunCleared, event.RunReopened:
		return "", kind
	case event.RunEnded:
		return "", fmt.Sprintf("%s %s %d", kind, e.Status, e.Code)
	case event.AnswerGiven:
		if a, ok := e.Answer.(effect.AnswerAgent); ok { // who may start is counted beside the run
			p, _ := belay.ParseKey(e.Key)
			return p.Path, fmt.Sprintf("%s %t", kind, a.OK)
		}
	}
	return "", ""
}

func failure(f *belay.Failure) string {
	if f == nil {
		return "-"
	}
	return fmt.Sprintf("%s/%s/%s", f.Kind, f.Class, f.Move)
}

//go:embed testdata/decisions.json
var decisionsFile []byte

// Kept are the decisions of the local engine in every case in which one thing goes on at
// a time: all of them, in their order, by the name of the case.
func Kept() (map[string][]string, error) {
	var kept map[string][]string
	err := json.Unmarshal(decisionsFile, &kept)
	return kept, err
}

// ordered compares what was decided with what the local engine decides.
func ordered(t *testing.T, want []string, recs []event.Record) {
	t.Helper()
	if got := DecisionsOf(recs).All; want != nil && !slices.Equal(got, want) {
		t.Errorf("decisions are\n  %s\nthe local engine decides\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}
