// Package belaytest is the suite that every driver must pass: tables of
// recipes, of what people do to a run, and of how the run then stands. It
// drives nothing itself and knows no driver; what it checks is only what the
// records and the final state of a run say.
//
// The scripts of its recipes are real bash, made of the few shapes that a
// simulated shell can read too, so that one table serves both worlds. What a
// driver cannot play at all is an Ability that it does not name: the cases that
// need it are skipped, and say so.
package belaytest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/audit"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
)

// Driver makes one run of a case, with all that people do to it, and says how
// it stands when the last act is done and the run rests.
type Driver interface {
	Run(t *testing.T, c Case) Outcome
	// Abilities are what the driver has of what a case may need.
	Abilities() []Ability
}

// Case is one row of the suite.
type Case struct {
	Name   string
	Needs  []Ability // without one of them the case is skipped
	Recipe string
	Subs   map[string]string // name to source
	Vars   map[string]string // given by the user
	Env    map[string]string // of the driver and of all steps
	Agents []Agent           // the first does the steps that name nobody, the others may take over
	Repo   map[string]string // nil, or the files of the first commit in the run's directory
	Budget belay.Budget
	Acts   []Act // in this order
	Want   Want
	Also   func([]event.Record) error // nil, or what the records must tell beside that
}

// Agent is a scripted agent: its name, and the script that it plays.
type Agent struct{ Name, Script string }

// Act is what somebody does to a run, as soon as After and Seen are so. With
// neither, the run must rest, or its driver be dead.
type Act struct {
	Do     Action
	After  string                  // a file in the run's directory that must be there
	Seen   func(event.Record) bool // a record of the run that must be there
	Step   belay.Path
	Choice string
	What   event.Count // of a clear
	File   string      // of a touch
}

// Waits tells that the act is done while the run is driven.
func (a Act) Waits() bool { return a.After != "" || a.Seen != nil }

// Action is the closed list of what people do.
type Action string

const (
	Cancel     Action = "cancel"      // ask the run to end for good
	Stop       Action = "stop"        // ask the run to stop
	Clear      Action = "clear"       // take back what is counted; a run that rests goes on resting
	Touch      Action = "touch"       // make a file in the run's directory; a run that rests goes on resting
	Resume     Action = "resume"      // go on with a run that rests, or whose driver died
	Reopen     Action = "reopen"      // go on with a run that has ended
	Answer     Action = "answer"      // answer for a held step, and resume
	KillKeeper Action = "kill keeper" // end the keeper, and with it what it holds
	KillDriver Action = "kill driver" // end the driver at once; the keeper lives, and so does what it holds
)

// Want is how a run must stand. Steps go by their id, those of a child run by
// the way to it ("call.1/step").
type Want struct {
	Status   belay.Status
	Code     int
	Failure  belay.FailureKind            // of the run
	Failures map[string]belay.FailureKind // of steps
	Vars     map[string]string            // of the root by their names, and of child runs by the way to them, as with steps
	Attempts map[string]int               // main attempts that were made
	Phases   map[string]flow.Phase        // all steps of all runs
	Helpers  map[string]int               // nil, or all attempts beside the main ones, by "step@role"
	Agents   map[string]string            // nil, or who made the last main attempt of each agent step
	Files    map[string]string            // what is in files of the run's directory
}

// Outcome is how a run stands, and how it came there.
type Outcome struct {
	Want
	Records []event.Record
}

// Conform holds a driver against the whole suite.
func Conform(t *testing.T, d Driver) {
	t.Helper()
	ConformTo(t, d, Cases())
}

// ConformTo holds a driver against some cases: where it is set up in another way, which
// not all of them can have.
func ConformTo(t *testing.T, d Driver, cases []Case) {
	t.Helper()
	kept, err := Kept()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if missing := lacks(d.Abilities(), c.Needs); len(missing) > 0 {
				t.Skipf("the case needs %v, which this driver does not have", missing)
			}
			got := d.Run(t, c)
			compare(t, c.Want, got)
			ordered(t, kept[c.Name], got.Records)
			if c.Also != nil {
				if err := c.Also(got.Records); err != nil {
					t.Error(err)
				}
			}
			for _, v := range audit.Check(got.Records) {
				t.Errorf("audit: %s", v)
			}
			if t.Failed() {
				for _, r := range got.Records {
					b, err := json.Marshal(r)
					t.Logf("%s %v", b, err)
				}
			}
		})
	}
}

func compare(t *testing.T, want Want, got Outcome) {
	t.Helper()
	if got.Status != want.Status || got.Code != want.Code || got.Failure != want.Failure {
		t.Errorf("the run is %s, code %d, failure %q; want %s, %d, %q",
			got.Status, got.Code, got.Failure, want.Status, want.Code, want.Failure)
	}
	for _, n := range sorted(want.Vars) {
		if got.Vars[n] != want.Vars[n] {
			t.Errorf("variable %s is %q, want %q", n, got.Vars[n], want.Vars[n])
		}
	}
	same(t, "attempts", want.Attempts, got.Attempts)
	same(t, "phases", want.Phases, got.Phases)
	if want.Failures != nil {
		same(t, "failures", want.Failures, got.Failures)
	}
	if want.Helpers != nil {
		same(t, "helpers", want.Helpers, got.Helpers)
	}
	if want.Agents != nil {
		same(t, "agents", want.Agents, got.Agents)
	}
	same(t, "files", want.Files, got.Files)
}

func same[V comparable](t *testing.T, what string, want, got map[string]V) {
	t.Helper()
	if !maps.Equal(want, got) {
		t.Errorf("%s are %s, want %s", what, list(got), list(want))
	}
}

func list[V any](m map[string]V) string {
	parts := make([]string, 0, len(m))
	for _, n := range sorted(m) {
		parts = append(parts, fmt.Sprintf("%s: %v", n, m[n]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Look reads from the tree and the records of a run how it stands.
func Look(tree *flow.Tree, recs []event.Record) Outcome {
	o := Outcome{Records: recs, Want: Want{
		Status: tree.Status(), Failures: map[string]belay.FailureKind{}, Vars: map[string]string{},
		Attempts: map[string]int{}, Phases: map[string]flow.Phase{},
		Helpers: map[string]int{}, Agents: map[string]string{},
	}}
	root := tree.Runs()[0]
	for _, id := range tree.Runs() {
		for _, v := range tree.Run(id).Steps() {
			name := stepName(root, id, v.Path)
			o.Phases[name] = v.Phase
			if v.Attempt > 0 {
				o.Attempts[name] = v.Attempt
			}
			if v.Failure != nil && v.Phase == flow.Failed {
				o.Failures[name] = v.Failure.Kind
			}
		}
	}
	again := unborn{}
	for _, r := range recs {
		if again.starts(r) {
			continue
		}
		if e, ok := r.Event.(event.AttemptStarted); ok && e.Role != belay.RoleMain {
			o.Helpers[stepName(root, r.Run, e.Path)+"@"+string(e.Role)]++
		} else if ok && e.Agent != "" {
			o.Agents[stepName(root, r.Run, e.Path)] = e.Agent
		}
	}
	for _, id := range tree.Runs() {
		for n, v := range tree.Run(id).Vars() {
			o.Vars[stepName(root, id, belay.Path(n))] = plain(v)
		}
	}
	o.Code = code(tree.Status())
	if r := tree.Run(root).Result(); r != nil {
		o.Code = r.Code
		if r.Failure != nil {
			o.Failure = r.Failure.Kind
		}
	}
	return o
}

// stepName is the way to a step from the root.
func stepName(root, run belay.RunID, p belay.Path) string {
	way := strings.TrimPrefix(strings.TrimPrefix(string(run), string(root)), "/")
	if way == "" {
		return string(p)
	}
	return way + "/" + string(p)
}

// plain is a value as a person reads it.
func plain(v belay.Value) string {
	var s string
	if v.Inline() && json.Unmarshal(v.JSON, &s) == nil {
		return s
	}
	return string(v.JSON)
}

// code is the exit code of a run that rests without an end.
func code(s belay.Status) int {
	switch s {
	case belay.Held, belay.Paused:
		return exit.Held
	case belay.Stopped:
		return exit.Terminated
	case belay.Parked:
		return exit.Window
	case belay.Running, belay.Achieved, belay.Failed, belay.Partial, belay.Hollow, belay.NotAchieved, belay.Stalemate, belay.Aborted:
	}
	return exit.Failed
}
