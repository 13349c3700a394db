// Package belay holds the words that every room of the house uses: ids,
// records, events, jobs, observations, verdicts, plans, commands and exit
// codes. It imports only the standard library, does nothing by itself and
// decides nothing.
//
// # Glossary
//
//   - run: one walk through one recipe. A root run has a folder of its own; a
//     child run (a sub-recipe) is a stream of records in its root's journal.
//   - step: one node of a recipe's graph.
//   - attempt: one start of a step (or of its check), named by a Key.
//   - record: a fact with its number, epoch, time and run; an Event is what it says.
//   - turn: what a driver does between two commits: take in facts, ask the
//     brain until it has nothing more to say, write everything down, act.
//   - driver: the process that writes a run's journal (one at a time).
//   - keeper: the process that holds a run's child processes and outlives the driver.
//   - epoch: how many drivers have attached to the run; a lower one is refused.
//   - adopted, harvested, unborn, lost: what became of an attempt that was open
//     when a driver died (see Found).
//   - held: only a person can move the run.
package belay

import (
	"encoding/json"
	"time"
)

// Schema is the number of the record format; it is in the first record of
// every run, so that a fold can tell what it reads.
const Schema = 1

// Role says what an attempt is for.
type Role string

const (
	RoleMain   Role = "main"   // the step's own work
	RoleVerify Role = "verify" // the step's check
	RoleHook   Role = "hook"   // a hook around a step

	RoleRepair   Role = "repair"   // an agent mends what made the step fail
	RolePlan     Role = "plan"     // an agent splits the step's task into parts
	RoleRecovery Role = "recovery" // an agent finishes what a sub-recipe left
	RoleMerge    Role = "merge"    // isolated work is brought into the run's tree
)

// StepType says which hand does a step.
type StepType string

const (
	TypeBash   StepType = "bash"   // a shell script
	TypeRecipe StepType = "recipe" // a child run
	TypeAgent  StepType = "agent"  // an agent CLI
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

// Job is one attempt to be made, derived from the state and never stored whole.
type Job struct {
	Key     Key
	Run     RunID
	Path    Path
	Attempt int
	Role    Role
	Script  string            // the shell text, as the recipe has it
	Shell   Shell             // how the script is run
	Vars    map[string]Value  // values of the context that the script may read
	Args    map[string]Value  // values of its {{placeholders}}, by the variable that stands for each
	Ints    []string          // those of them that stand in arithmetic and must be whole numbers
	JSON    JSONMode          // how stdout becomes a value
	Outputs []OutputSpec      // results beyond stdout
	Env     map[string]string // the step's own env
	Dir     string            // absolute, or relative to the run's directory
	Output  bool              // stdout is wanted as a value
	Timeout time.Duration     // 0 = none of its own
	Once    bool
	Depth   int // nesting of recipes
	Agent   *AgentJob
	Check   *CheckJob // of a check that Belay itself makes, instead of a script
	Merge   *MergeJob // of a merge, and of an agent that resolves its conflict
}

// MergeJob says which work is brought back: that of the step's worktree.
type MergeJob struct {
	Key  Key    // names the merge: the same one again goes on where it was left
	Tree string // a directory in the run's tree
}

// Merged is what became of a merge.
type Merged struct {
	Outcome   MergeOutcome `json:"outcome"`
	Files     int          `json:"files,omitempty"`     // that were changed in the run's tree
	Commits   []string     `json:"commits,omitempty"`   // on its branch, oldest first; none: the work arrived as changes
	Conflicts []Conflict   `json:"conflicts,omitempty"` // the first ones
	More      int          `json:"more,omitempty"`      // conflicts beside those
	Left      []string     `json:"left,omitempty"`      // the first files of uncommitted work that the step took back, and that stay as they are
}

// MergeOutcome is the closed list of ends of a merge.
type MergeOutcome string

const (
	MergeDone     MergeOutcome = "merged"
	MergeNothing  MergeOutcome = "nothing"  // there was nothing to be brought back
	MergeConflict MergeOutcome = "conflict" // the run's tree is as it was
)

// Conflict is one file of isolated work that does not fit the run's tree.
type Conflict struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// JSONMode says how the text of an output becomes a value.
type JSONMode string

const (
	JSONAuto     JSONMode = ""         // typed when the whole of it is JSON
	JSONExtract  JSONMode = "extract"  // JSON is looked for in it; without any the text stays, degraded
	JSONRequired JSONMode = "required" // JSON is looked for in it; without any the step fails
)

// OutputSpec is a result beyond stdout: a file, or a place in the JSON that
// stdout holds. Exactly one of File and Path is set.
type OutputSpec struct {
	Name string
	File string // relative to the step's directory
	Path string // dots and indexes: "items[0].id"
}

// Shell says how a script is run.
type Shell string

const (
	ShellStrict Shell = "strict" // bash with -e, -u and pipefail
	ShellPlain  Shell = "plain"  // bash as it is
)

// KilledBy says which of our own acts ended a process; it is recorded by
// whoever sent the signal and never inferred.
type KilledBy string

const (
	KilledNot      KilledBy = ""         // nobody of ours
	KilledDeadline KilledBy = "deadline" // its timeout passed
	KilledStop     KilledBy = "stop"     // the run was stopped; the attempt is given back
	KilledCancel   KilledBy = "cancel"   // the run was cancelled
	KilledGrace    KilledBy = "grace"    // no driver came back in time
)

// Fault says, as a kind, why a hand could not do or finish what was asked; the
// exit of a program is not a fault.
type Fault string

const (
	FaultNone    Fault = ""
	FaultDir     Fault = "dir"     // the working directory is not there
	FaultProgram Fault = "program" // the shell could not be found or executed
	FaultTooBig  Fault = "too_big" // arguments and environment over the kernel's limit
	FaultOutput  Fault = "output"  // the wanted output is over its limit
	FaultDisk    Fault = "disk"    // the log or the output could not be written
	FaultSpawn   Fault = "spawn"   // the process could not be started (limits, memory)
	FaultInput   Fault = "input"   // a value cannot be handed over (a NUL byte, a missing blob, no whole number)
	FaultHidden  Fault = "hidden"  // a value in which a secret was hidden
	FaultJSON    Fault = "json"    // the output had to be JSON and is not
	FaultResult  Fault = "result"  // a declared output is not there
	FaultAgent   Fault = "agent"   // the agent is not known, or not there
)

// Stdout stands for what a step prints where outputs are named.
const Stdout = "stdout"

// Observation is what was seen of one attempt: facts only, no judgement.
type Observation struct {
	Began    bool             `json:"began"`
	Exit     int              `json:"exit"`
	Signal   int              `json:"signal,omitempty"`
	KilledBy KilledBy         `json:"killed_by,omitempty"`
	Fault    Fault            `json:"fault,omitempty"`
	Detail   string           `json:"detail,omitempty"` // the fault in words
	Started  time.Time        `json:"started,omitzero"`
	Ended    time.Time        `json:"ended,omitzero"`
	Output   *Value           `json:"output,omitempty"`
	Outputs  map[string]Value `json:"outputs,omitempty"`  // results beyond stdout
	Degraded bool             `json:"degraded,omitempty"` // JSON was looked for in the output and not found
	Hidden   []string         `json:"hidden,omitempty"`   // outputs in which a secret was hidden
	Big      []string         `json:"big,omitempty"`      // of exit 126: variables it read that no argument of a program can hold
	LogSize  int64            `json:"log_size,omitempty"` // all bytes it printed, after redaction
	LogSha   string           `json:"log_sha,omitempty"`  // of all of them, kept or not
	LogKept  int64            `json:"log_kept,omitempty"` // what the log files hold of them
	Tail     string           `json:"tail,omitempty"`     // the last lines it printed
	Tally    *Tally           `json:"tally,omitempty"`    // of a check: what these tell of tests
	CPU      int64            `json:"cpu_us,omitempty"`   // user and system time, microseconds
	RSS      int64            `json:"rss_kb,omitempty"`   // peak memory, KiB
	Strays   int              `json:"strays,omitempty"`   // descendants that had to be ended after it
	Child    *RunResult       `json:"child,omitempty"`    // the end of the child run
	Agent    *AgentReport     `json:"agent,omitempty"`    // of an agent step
	Check    *CheckReport     `json:"check,omitempty"`    // of a check that Belay itself made
	Merge    *Merged          `json:"merge,omitempty"`    // of a merge
}

// RunResult is how a run ended.
type RunResult struct {
	Status  Status           `json:"status"`
	Code    int              `json:"exit_code"`
	Reason  string           `json:"reason,omitempty"`
	Failure *Failure         `json:"failure,omitempty"`
	Outputs map[string]Value `json:"outputs,omitempty"`
	Object  *Value           `json:"object,omitempty"` // all outputs as one object, when they are too big for the records
}

// Status is how a run stands when nobody drives it.
type Status string

const (
	Achieved Status = "ACHIEVED" // every required step done and checked
	Failed   Status = "FAILED"   // a required step stayed failed
	Partial  Status = "PARTIAL"  // a required step was left out, or nobody could check what an agent did about its failure
	Hollow   Status = "HOLLOW"   // an agent claimed success, and nothing was done
	Aborted  Status = "ABORTED"  // cancelled
	Held     Status = "HELD"     // not an end: a person must act
	Stopped  Status = "STOPPED"  // not an end: can be resumed
	Running  Status = "RUNNING"  // not an end: somebody drives it, or a crash left it so
)

// Terminal tells whether a run with this status has ended.
func (s Status) Terminal() bool {
	switch s {
	case Achieved, Failed, Partial, Hollow, Aborted:
		return true
	case Held, Stopped, Running:
		return false
	}
	return false
}

// Found says what became of an attempt that was open when a driver attached:
// exactly one of four.
type Found string

const (
	Adopted   Found = "adopted"   // still running; its keeper holds it
	Harvested Found = "harvested" // ended meanwhile; its keeper has the exit
	Unborn    Found = "unborn"    // it never began: same attempt again, nothing used up
	Lost      Found = "lost"      // its keeper is dead and left no exit: outcome unknown
)

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
	Budget
}

// DefaultPatience is how long a step waits for a service where nobody set
// another time.
const DefaultPatience = 30 * time.Minute

// Budget is what the agents of a run and of all that it starts may use; zero
// means no limit, but for the number of starts, which always has one.
type Budget struct {
	MaxAgents   int           `json:"max_agents,omitempty"` // starts
	MaxTokens   int64         `json:"max_tokens,omitempty"`
	MaxMicroUSD int64         `json:"max_micro_usd,omitempty"` // millionths of a dollar
	MaxWall     time.Duration `json:"max_wall,omitempty"`      // since the run began
}

// DefaultMaxReplans is how many recoveries may be taken in one run, with all
// runs below it, where nobody set another number.
const DefaultMaxReplans = 12

// Replans is how many recoveries may be taken.
func (l Limits) Replans() int {
	if l.MaxReplans != 0 {
		return max(l.MaxReplans, 0)
	}
	return DefaultMaxReplans
}

// DefaultMaxAgents is how many agents a run may start where nobody set another number.
const DefaultMaxAgents = 40

// Starts is how many agents may be started.
func (b Budget) Starts() int {
	if b.MaxAgents > 0 {
		return b.MaxAgents
	}
	return DefaultMaxAgents
}

// DefaultLimits are the limits where nobody set others.
func DefaultLimits() Limits {
	return Limits{MaxDepth: 6, MaxTotalSteps: 200, MaxParallel: 8, MaxLost: 3}
}
