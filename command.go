package belay

import (
	"encoding/json"
	"time"
)

// Command is what the brain wants next; there are seven.
type Command interface{ command() }

// Note is a decision: write it down.
type Note struct{ Event Event }

// Do is an attempt: write that it starts, then start it.
type Do struct{ Job Job }

// StartRun is an attempt that is a child run.
type StartRun struct {
	Started AttemptStarted
	Child   RunStarted
	Reopen  bool // the child exists and goes on from its first unfinished step
}

// Ask is a question about something the brain cannot see. It is idempotent by
// Key; its answer becomes a fact.
type Ask struct {
	Key      Key
	Question Question
}

// Kill ends an open attempt.
type Kill struct {
	Key Key
	Why KilledBy
}

// Wait says that nothing is to be done before Until, or before a new fact.
type Wait struct {
	Until time.Time // zero: no timer
	For   WaitFor
}

// End says that the run is over.
type End struct{ Result RunResult }

func (Note) command()     {}
func (Do) command()       {}
func (StartRun) command() {}
func (Ask) command()      {}
func (Kill) command()     {}
func (Wait) command()     {}
func (End) command()      {}

// WaitFor says what would move a waiting run.
type WaitFor string

const (
	WaitAttempt WaitFor = "attempt" // an open attempt or question
	WaitTimer   WaitFor = "timer"   // the time
	WaitRoom    WaitFor = "room"    // a free slot
	WaitPerson  WaitFor = "person"  // an answer
	WaitNobody  WaitFor = "nobody"  // the run is over
)

// Question is what an Ask asks: for a permit, a tree, a condition, texts or a list.
type Question struct {
	// Step asks for the permit to start one more step in a nested run.
	Step bool `json:"step,omitempty"`
	// Cond asks for the truth of a condition over values that are too big to
	// be in the records.
	Cond string           `json:"cond,omitempty"`
	Vars map[string]Value `json:"-"`
	// Agent asks for the permit to start one more agent: what the attempt is.
	Agent Key `json:"agent,omitempty"`
	// Retry says that the agent was started before for the same: the service
	// it calls must have retries left. Name is who it is.
	Retry bool   `json:"retry,omitempty"`
	Name  string `json:"name,omitempty"`
	// Probe asks for a look at the machine, from this directory.
	Probe string `json:"probe,omitempty"`
	// Program, Host and Login are what the look is for beside that: a program
	// that may be missing, a name that may have no address, a tool that can say
	// whether somebody is logged in.
	Program string `json:"program,omitempty"`
	Host    string `json:"host,omitempty"`
	Login   string `json:"login,omitempty"`
	// Tests asks how the tests of this directory are run.
	Tests string `json:"tests,omitempty"`
	// Look asks what changed in the working tree of this directory since Base, and
	// which of the files that Guard names.
	Look  string    `json:"look,omitempty"`
	Base  *Print    `json:"base,omitempty"`
	Guard *Guarding `json:"guard,omitempty"`
	// Tree asks for a working tree, which one agent has at a time: the answer may
	// take as long as others have it.
	Tree *TreeRequest `json:"tree,omitempty"`
	// Worktree asks for a worktree.
	Worktree *Worktree `json:"worktree,omitempty"`
	// Texts asks for the values of texts with such values in them; List is one
	// of them that must come out as JSON.
	Texts []string `json:"texts,omitempty"`
	List  string   `json:"list,omitempty"`
	// Lenient makes what is missing nothing instead of a problem.
	Lenient bool `json:"lenient,omitempty"`
	// Pieces asks for one list of all of them.
	Pieces []Piece `json:"pieces,omitempty"`
	// Object asks for one object of all of them.
	Object map[string]Value `json:"object,omitempty"`
}

// TreeRequest names the working tree that an agent is to work in.
type TreeRequest struct {
	Dir    string `json:"dir"`              // a directory in it
	Step   string `json:"step"`             // who wants it: RUN:STEP
	Shared bool   `json:"shared,omitempty"` // other steps of the run that say so, too, may be there at the same time
}

// Piece is one item of a list: a value, an object of values, or null.
type Piece struct {
	Value  *Value           `json:"value,omitempty"`
	Object map[string]Value `json:"object,omitempty"`
}

// Answer is the fact that an Ask became.
type Answer struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"` // why there is no answer, or why it is no
	Dir   string `json:"dir,omitempty"`   // of a worktree
	Ref   string `json:"ref,omitempty"`   // its branch
	Merge bool   `json:"merge,omitempty"` // it began at the files as they were, and what is done in it comes back
	Col   int    `json:"col,omitempty"`   // of a condition: where in it the error is

	Until time.Time `json:"until,omitzero"`  // of an agent that may not start yet: when to ask again
	Spent bool      `json:"spent,omitempty"` // of an agent that may not start: the service has no retries left
	Probe *Probe    `json:"probe,omitempty"`
	Tests *TestPlan `json:"tests,omitempty"`
	Seen  *Evidence `json:"seen,omitempty"` // of a look at a working tree

	Tree   string        `json:"tree,omitempty"`   // of a working tree that was asked for: its top
	Taken  int64         `json:"taken,omitempty"`  // a number that is another one once somebody else has had the tree
	Waited time.Duration `json:"waited,omitempty"` // how long others had it
	By     RunID         `json:"by,omitempty"`     // while another run has it: which one. It is waited for, and a second answer follows

	Texts map[string]Filled `json:"texts,omitempty"` // what was asked for, by the text
	List  json.RawMessage   `json:"list,omitempty"`
	Value *Value            `json:"value,omitempty"` // the list of all pieces, or the object
}

// Probe is a direct look at the machine.
type Probe struct {
	DiskFull bool      `json:"disk_full,omitempty"` // no bytes or no inodes are free
	ReadOnly bool      `json:"read_only,omitempty"` // the working tree cannot be written
	OOMKill  bool      `json:"oom_kill,omitempty"`  // the memory group counted a kill since the driver began
	Lock     LockState `json:"lock,omitempty"`      // of git, in the repository of the working tree
	Detail   string    `json:"detail,omitempty"`

	NoProgram string `json:"no_program,omitempty"` // it is not on PATH
	NoHost    string `json:"no_host,omitempty"`    // it has no address
	NoLogin   string `json:"no_login,omitempty"`   // the tool says that nobody is logged in
}

// LockState is the closed list of what can be seen of git's locks.
type LockState string

const (
	LockNone  LockState = ""      // there is none, or nobody can say whose it is
	LockAlive LockState = "alive" // a living process has it, or a git works in that tree
	LockDead  LockState = "dead"  // who made it is gone
)

// Filled is a text with its values in it, or why there is none.
type Filled struct {
	Value   Value  `json:"value,omitzero"`
	Problem string `json:"problem,omitempty"`
	Col     int    `json:"col,omitempty"` // where in the text the problem is
}
