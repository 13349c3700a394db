package belay

import (
	"fmt"
	"time"
)

// FailureKind is the closed list of ways in which a step or a run fails.
type FailureKind string

const (
	RoutingGap     FailureKind = "routing_gap"     // every condition came out false, nothing ran
	AgentTimeout   FailureKind = "agent_timeout"   // an agent passed its timeout
	BashFailure    FailureKind = "bash_failure"    // a shell step, an agent or an approval did not end well, or a check did not
	RecipeFailure  FailureKind = "recipe_failure"  // a nested recipe failed
	HollowSuccess  FailureKind = "hollow_success"  // success was claimed, and nothing was done, or nothing shows it
	RecursionLimit FailureKind = "recursion_limit" // sessions or nesting are at their limit
	Infrastructure FailureKind = "infrastructure"  // a tool, login, disk, network or memory is missing
)

// FailureKinds is the whole list, in the order of the reference page.
func FailureKinds() []FailureKind {
	return []FailureKind{
		RoutingGap, AgentTimeout, BashFailure, RecipeFailure, HollowSuccess, RecursionLimit, Infrastructure,
	}
}

// Failure says what failed, why, and what a person can do now.
type Failure struct {
	Kind  FailureKind `json:"kind"`
	Class Class       `json:"class,omitempty"`
	Op    string      `json:"op,omitempty"` // "step build", "recipe deploy"
	Cause string      `json:"cause"`
	Hint  string      `json:"hint,omitempty"`
	At    *Place      `json:"at,omitempty"` // what is to be fixed, when it is in the recipe

	Level Level         `json:"level,omitempty"`       // the rung of evidence that gave it its class
	Rule  string        `json:"rule,omitempty"`        // and the rule on it
	Print string        `json:"fingerprint,omitempty"` // the same for the same failure, whenever and wherever it happens
	Move  Act           `json:"move,omitempty"`        // what it asks for first
	After time.Duration `json:"retry_after,omitempty"` // how long the other side asks to wait
	Reset time.Time     `json:"reset,omitzero"`        // when the other side can go on
	Agent bool          `json:"agent,omitempty"`       // an agent had begun what failed
}

// Level is the closed list of rungs of the ladder of evidence. The first one
// that decides is recorded with the class.
type Level string

const (
	LevelAct     Level = "L0" // our own act
	LevelTyped   Level = "L1" // the typed result of an agent's adapter
	LevelProcess Level = "L2" // exit code and signal, by the table of the tool
	LevelProbe   Level = "L3" // a direct look at the environment
	LevelRepeat  Level = "L4" // the same again, and nothing had changed
	LevelText    Level = "L5" // a rule about the tool's last lines
	LevelUnknown Level = "L6" // nothing decided
)

// Place is a place in a recipe, counted from 1.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
}

func (p Place) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col) }

func (f *Failure) Error() string {
	what := f.Name()
	if f.Op == "" {
		return fmt.Sprintf("%s: %s", what, f.Cause)
	}
	return fmt.Sprintf("%s: %s: %s", f.Op, what, f.Cause)
}

// Name is the kind of the failure, with its class where that says more.
func (f *Failure) Name() string {
	if f.Kind != RecursionLimit && f.Class.Row().Named {
		return string(f.Kind) + " (" + string(f.Class) + ")"
	}
	return string(f.Kind)
}

// Plan is a chosen recovery. It is self-contained: whoever carries it out does
// not decide again.
type Plan struct {
	Act    Act       `json:"act"`
	Rule   string    `json:"rule"` // the rule that chose it
	Reason string    `json:"reason"`
	Due    time.Time `json:"due,omitzero"`

	Policy  string        `json:"policy,omitempty"`      // who chose it: belay or classic
	Class   Class         `json:"class,omitempty"`       // of the failure
	Level   Level         `json:"level,omitempty"`       // the evidence that decided its class
	Print   string        `json:"fingerprint,omitempty"` // of the failure
	Counts  bool          `json:"counts,omitempty"`      // it is one of the run's recoveries, which are counted
	Patient bool          `json:"patient,omitempty"`     // a wait for a service that is down: bounded by time, not counted
	Agent   string        `json:"agent,omitempty"`       // who takes over
	Role    string        `json:"role,omitempty"`        // in which role
	Timeout time.Duration `json:"timeout,omitempty"`     // for the next attempt, instead of the step's own
	Brief   string        `json:"brief,omitempty"`       // what the next attempt is told
	Parts   []Part        `json:"parts,omitempty"`       // of a task that was split without asking
	Refused []NotTaken    `json:"refused,omitempty"`     // recoveries that were looked at before it, and why they were not taken
}

// NotTaken is a recovery that was looked at and not taken.
type NotTaken struct {
	Act Act    `json:"act"`
	Why string `json:"why"`
}

// Part is one part of a task that was split.
type Part struct {
	Title string   `json:"title"`
	Task  string   `json:"task"`            // what its agent is told
	Check string   `json:"check,omitempty"` // how to see that it is done, in words: told to its agent, never run
	Files []string `json:"files,omitempty"` // that it writes, as far as the planner says
	Needs []int    `json:"needs,omitempty"` // parts before it, counted from 1
}
