package recovery

import (
	"time"

	"github.com/belay-run/belay"
)

// Situation is everything that a policy may know when it chooses a recovery from
// one failure. Nothing else counts: the same situation always gives the same
// plan.
type Situation struct {
	Failure  belay.Failure // with class, level, fingerprint, first move and the other side's hints
	Type     belay.StepType
	Title    string // what the step is there for, in words
	Optional bool   // its failure does not fail the run
	Cured    bool   // a person is asked all the same where only a person can lift the cause
	Once     bool   // it must not run twice on a guess
	Merging  bool   // its work is there, and is to be merged
	Declared Policy // what the recipe itself allows
	History  History
	Past     []Past // recoveries that were taken for this step so far, the oldest first
	Timeout  time.Duration

	// Of the run:
	Agents     bool          // it uses agents: recoveries that spend may be taken
	Replans    int           // recoveries of the run that count, so far
	MaxReplans int           // 0 = the default, below it none at all
	Patience   time.Duration // how long a step waits for a service that is down; 0 = the default, below it not at all
	Now        time.Time
	Deadline   time.Time // of the run; zero = none

	// Of an agent's step:
	Agent    string    // who failed
	Role     Role      // in which role; "" = none
	Others   []string  // agents that may take over, in order
	Covering []Role    // roles that may do what was denied, and all that the present one may
	Progress bool      // there was work: commits, changed files
	Changed  bool      // the state of the work is not the one that the failure before this one left
	Resumes  bool      // its session can go on
	Checked  bool      // its step has a check of its own
	Retried  bool      // the CLI has already retried by itself
	Spent    bool      // the service has no retries left
	Depth    int       // how often the task was split already
	Down     time.Time // since when its service is down: the first failure of the row; zero = it was up until now

	// Of a sub-recipe's step:
	Recoverable bool // an agent may be asked to finish it
	Unstaffed   bool // one would be asked, and there is none

	// Of every step:
	Fallback bool     // the recipe names another way
	Failing  []string // what fails in it: names of tests, places of errors; for repairs
}

// Past is one recovery that was taken, and the failure before it.
type Past struct {
	Act     belay.Act
	Class   belay.Class
	Print   string   // of the failure
	Agent   string   // who had failed
	Role    Role     // in which role
	To      string   // the agent or the role that took over
	Failing []string // what failed then
	Patient bool     // it only waited for a service
}
