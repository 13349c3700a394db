// Package belay holds the words that every room of the house uses: ids, roles,
// values, acts, classes of failures, plans, and what is known of an agent and of a
// working tree. It imports only the standard library, does nothing by itself and
// decides nothing. Records are in the room event, jobs and questions in effect, exit
// codes in exit.
//
// # Glossary
//
//   - run: one walk through one recipe. A root run has a folder of its own; a
//     child run (a sub-recipe) is a stream of records in its root's journal.
//   - step: one node of a recipe's graph.
//   - attempt: one start of a step (or of its check), named by a Key.
//   - record: a fact with its number, epoch, time and run; an event.Event is what it says.
//   - turn: what a driver does between two commits: take in facts, ask the
//     brain until it has nothing more to say, write everything down, act.
//   - driver: the process that writes a run's journal (one at a time).
//   - keeper: the process that holds a run's child processes and outlives the driver.
//   - epoch: how many drivers have attached to the run; a lower one is refused.
//   - adopted, harvested, unborn, lost: what became of an attempt that was open
//     when a driver died (see fault.Found).
//   - held: only a person can move the run.
package belay

import (
	"encoding/json"
	"time"
)

// Role says what an attempt is for.
type Role string

const (
	RoleMain   Role = "main"   // the step's own work
	RoleVerify Role = "verify" // the step's check
	RoleHook   Role = "hook"   // a hook around a step

	RoleRepair   Role = "repair"   // an agent fixes what made the step fail
	RolePlan     Role = "plan"     // an agent splits the step's task into parts
	RoleRecovery Role = "recovery" // an agent finishes what a sub-recipe left
	RoleMerge    Role = "merge"    // isolated work is brought into the run's tree
)

// MaxInline is the size up to which a value lives in its record; a bigger one
// is a blob file that is on disk before the record that names it.
const MaxInline = 16 << 10

// Value is a variable's value: JSON inside the record, or the digest and size
// of a blob that holds plain text.
type Value struct {
	JSON json.RawMessage `json:"json,omitempty"`
	Sha  string          `json:"sha,omitempty"`
	Size int64           `json:"size,omitempty"`
}

// Text is the inline value of a string.
func Text(s string) Value {
	b, err := json.Marshal(s)
	if err != nil { // a string always marshals
		return Value{JSON: json.RawMessage(`""`)}
	}
	return Value{JSON: b}
}

// Inline tells whether the value is in the record itself.
func (v Value) Inline() bool { return v.Sha == "" }

// RunResult is how a run ended.
type RunResult struct {
	Status  Status           `json:"status"`
	Code    int              `json:"exit_code"`
	Reason  string           `json:"reason,omitempty"`
	Failure *Failure         `json:"failure,omitempty"`
	Outputs map[string]Value `json:"outputs,omitempty"`
	Object  *Value           `json:"object,omitempty"` // all outputs as one object, when they are too big for the records
	Empty   bool             `json:"empty,omitempty"`  // no step ran: every condition was false, or a list empty
}

// Status is how a run stands when nobody drives it.
type Status string

const (
	Achieved    Status = "ACHIEVED"     // every required step done, on evidence that Belay saw
	Failed      Status = "FAILED"       // a required step stayed failed
	Partial     Status = "PARTIAL"      // a required step was left out, or nobody could check what an agent did about its failure
	Hollow      Status = "HOLLOW"       // an agent claimed success, and nothing was done, or nothing shows it
	NotAchieved Status = "NOT_ACHIEVED" // its recipe says that nothing of the goal was reached
	Stalemate   Status = "STALEMATE"    // rounds came to a standstill: the next would change nothing
	Aborted     Status = "ABORTED"      // cancelled
	Held        Status = "HELD"         // not an end: a person must act
	Stopped     Status = "STOPPED"      // not an end: can be resumed
	Paused      Status = "PAUSED"       // not an end: a person said that nothing new starts, and nothing runs any more
	Parked      Status = "PARKED"       // not an end: its next act is far away, and the watch wakes it
	Running     Status = "RUNNING"      // not an end: somebody drives it, or a crash left it so
)

// Terminal tells whether a run with this status has ended.
func (s Status) Terminal() bool {
	switch s {
	case Achieved, Failed, Partial, Hollow, NotAchieved, Stalemate, Aborted:
		return true
	case Held, Stopped, Paused, Parked, Running:
		return false
	}
	return false
}

// Limits are the caps of a run, fixed in its first record.
type Limits struct {
	MaxDepth      int `json:"max_depth"`             // nesting of recipes
	MaxTotalSteps int `json:"max_total_steps"`       // steps started in nested runs
	MaxParallel   int `json:"max_parallel"`          // processes at the same time in the whole tree
	MaxLost       int `json:"max_lost"`              // lost attempts of one step
	MaxReplans    int `json:"max_replans,omitempty"` // recoveries that may be taken in the whole tree; 0 = the default, below it none
	// Patience is how long a step waits for the service of its agent that is
	// down; 0 = the default, below it not at all.
	Patience time.Duration `json:"patience,omitempty"`
	// RecipeAgents: nobody said how many agents may start, and the recipe does
	// (max_agents), up to the number of the budget.
	RecipeAgents bool `json:"recipe_agents,omitempty"`
	Budget
}

// Budget is what the agents of a run and of all that it starts may use; zero
// means no limit, but for the number of starts, which always has one.
type Budget struct {
	MaxAgents   int           `json:"max_agents,omitempty"` // starts
	MaxTokens   int64         `json:"max_tokens,omitempty"`
	MaxMicroUSD int64         `json:"max_micro_usd,omitempty"` // millionths of a dollar
	MaxWall     time.Duration `json:"max_wall,omitempty"`      // since the run began
}

// defaultMaxReplans is how many recoveries may be taken in one run, with all
// runs below it, where nobody set another number.
const defaultMaxReplans = 12

// Replans is how many recoveries may be taken.
func (l Limits) Replans() int {
	if l.MaxReplans != 0 {
		return max(l.MaxReplans, 0)
	}
	return defaultMaxReplans
}

// defaultMaxAgents is how many agents a run may start where nobody set another number.
const defaultMaxAgents = 40

// MostAgents is how many agents a recipe can let a run start by itself: more is for
// whoever starts it to allow.
const MostAgents = 200

// Starts is how many agents may be started: a default where nobody said.
func (b Budget) Starts() int {
	if b.MaxAgents > 0 {
		return b.MaxAgents
	}
	return defaultMaxAgents
}

// DefaultLimits are the limits where nobody set others.
func DefaultLimits() Limits {
	return Limits{MaxDepth: 6, MaxTotalSteps: 200, MaxParallel: 8, MaxLost: 3}
}
