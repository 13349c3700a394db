package story

import (
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/flow"
)

// Place is a step of a run.
type Place struct {
	Run  belay.RunID
	Path belay.Path
}

// Name names the step from the root's view.
func (p Place) Name() string { return StepName(p.Run, p.Path) }

// StepName names a step from the root's view: the steps it is nested in, then
// itself. An attempt is named only where it is not the first.
func StepName(run belay.RunID, p belay.Path) string {
	parts := strings.Split(string(run), "/")[1:]
	for i, part := range parts {
		parts[i] = strings.TrimSuffix(part, ".1")
	}
	return strings.Join(append(parts, string(p)), "/")
}

// Step is what was told about a step, beside how it stands.
type Step struct {
	Place
	Attempts []*Attempt     // of all roles, in the order of their start; a live story keeps none
	N        int            // the number of its last own attempt
	Agent    string         // who did that
	Role     string         // that it was given instead of its own
	Failure  *belay.Failure // of what was judged last; nil when that was good
	Trouble  Trouble        // how it began to fail, since a person opened the run
	Broken   Broken         // how its last attempt went wrong, until the next one starts
	Again    *Again         // it will be started again
	Blocked  *Blocked       // the service of its agent is left alone for a while
	TreeOf   belay.RunID    // the run that has the working tree which it waits for
	Question *Question      // the last one
	Answer   *Answer        // a person's, the last one

	told string // why it was blocked, when that was told the last time
	done bool   // it counts among those that are
}

// Attempt is one attempt, from its start to what it amounts to.
type Attempt struct {
	Key         belay.Key           `json:"key"`
	Role        belay.Role          `json:"role"`
	Hook        string              `json:"hook,omitempty"` // pre_step, post_step or on_error
	N           int                 `json:"attempt"`
	StartedAt   time.Time           `json:"started_at"`
	Child       belay.RunID         `json:"child,omitempty"`
	Agent       string              `json:"agent,omitempty"`   // who does it
	Session     string              `json:"session,omitempty"` // of the agent, as far as it is known
	Resume      bool                `json:"resume,omitempty"`  // the session of an earlier attempt goes on
	Notes       []effect.AgentNote  `json:"notes,omitempty"`   // of an agent that has not reported yet
	Found       []fault.Found       `json:"found,omitempty"`
	Observation *effect.Observation `json:"observation,omitempty"`
	Verdict     *effect.Verdict     `json:"verdict,omitempty"`

	Place  `json:"-"` // of a hook: STEP@HOOK
	Since  time.Time  `json:"-"` // of its last start: one that was never born starts again
	Of     int        `json:"-"` // how many its step may have
	Starts int        `json:"-"` // processes of its agent

	left *belay.Evidence // of a lost agent: what somebody saw of its work all the same

	open   bool
	opened int // how often

	startedAt, endedAt, judgedAt int // how many records had been told then
}

// Known tells whether the start of the attempt was told.
func (a *Attempt) Known() bool { return !a.Since.IsZero() }

// Over tells whether nothing of the attempt can happen any more.
func (a *Attempt) Over() bool { return a.Observation != nil || a.Lost() }

// Lost tells whether the attempt is over and nobody saw its end.
func (a *Attempt) Lost() bool { return a.Observation == nil && slices.Contains(a.Found, fault.Lost) }

// Report is what is known of the attempt's agent; nil when there is none.
func (a *Attempt) Report() *effect.AgentReport {
	if a.Observation == nil {
		return nil
	}
	return a.Observation.Agent
}

// Took is how long the attempt ran; false when nobody knows.
func (a *Attempt) Took() (time.Duration, bool) {
	if a == nil || a.Observation == nil || a.Observation.Started.IsZero() {
		return 0, false
	}
	return a.Observation.Ended.Sub(a.Observation.Started), true
}

// InRun is the name of the attempt in its run: that of an agent that helps, or
// of a merge, is beside the step, under the name of its role.
func (a *Attempt) InRun() belay.Path {
	if Helps(a.Role) || a.Role == belay.RoleMerge {
		return a.Path.WithHook(string(a.Role))
	}
	return a.Path
}

// named is the attempt that a key names.
func named(k belay.Key) *Attempt {
	p, _ := belay.ParseKey(k) // of another form: shown as it is
	a := &Attempt{Key: k, Role: p.Role, N: p.Attempt, Place: Place{p.Run, p.Path}}
	if a.Role == belay.RoleHook {
		_, a.Hook = a.Path.Hook()
	}
	return a
}

// note keeps what became known of an agent while it ran.
func (a *Attempt) note(at time.Time, e event.AttemptNoted) effect.AgentNote {
	if e.What == effect.NoteSession {
		a.Session = e.Text
	}
	n := effect.AgentNote{At: at, What: e.What, Text: e.Text}
	a.Notes = append(a.Notes, n)
	return n
}

// see keeps what was observed. A report has all notes, and the session that the
// agent really had.
func (a *Attempt) see(o *effect.Observation) {
	a.Observation = o
	if o.Agent == nil {
		return
	}
	a.Notes = nil
	if o.Agent.Result.Session != "" {
		a.Session = o.Agent.Result.Session
	}
}

// Trouble is the first failure of a step.
type Trouble struct {
	At    time.Time
	Cause string
	Print string // the fingerprint of that failure; "" = nobody made one
}

// Is tells whether a later failure reads as the same one: by its words, or by their
// fingerprints, which mind no durations and no ids.
func (t Trouble) Is(f *belay.Failure) bool {
	return t.Cause == f.Cause || t.Print != "" && t.Print == f.Print
}

// Broken is how the last attempt of a step went wrong. The tree is no witness
// for it: by the time a record is shown, the next attempt may have begun.
type Broken struct {
	N       int
	Attempt *Attempt       // nil: it was lost
	Failure *belay.Failure // nil: it was lost
}

// Again is a step that will be started again.
type Again struct {
	N, Of int // the number of that attempt, and how many there may be
	Due   time.Time
}

// Helps tells the roles of agents that help with a step of another.
func Helps(r belay.Role) bool {
	switch r {
	case belay.RoleRepair, belay.RolePlan, belay.RoleRecovery:
		return true
	case belay.RoleMain, belay.RoleVerify, belay.RoleHook, belay.RoleMerge:
	}
	return false
}

// Recovered tells whether an agent finished a step whose sub-recipe had failed.
func Recovered(v flow.StepView) bool {
	return v.Phase == flow.Done && v.Type.Child() && v.Main != nil && v.Main.Agent != nil
}

// Unverified tells of a recovered step that nothing shows that its work is done.
func Unverified(v flow.StepView) bool {
	return Recovered(v) && v.Verdict != nil && UnverifiedBy(v.Verdict)
}

// UnverifiedBy tells that of the verdict about the agent that finished it.
func UnverifiedBy(v *effect.Verdict) bool {
	return v.OK && (v.Partial || slices.Contains(v.For, flow.TakenAnswer))
}
