package effect

import (
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/fault"
)

// Observation is what was seen of one attempt: facts only, no judgement.
type Observation struct {
	Began    bool                   `json:"began"`
	Exit     int                    `json:"exit"`
	Signal   int                    `json:"signal,omitempty"`
	KilledBy fault.KilledBy         `json:"killed_by,omitempty"`
	Fault    fault.Fault            `json:"fault,omitempty"`
	Detail   string                 `json:"detail,omitempty"` // the fault in words
	Started  time.Time              `json:"started,omitzero"`
	Ended    time.Time              `json:"ended,omitzero"`
	Output   *belay.Value           `json:"output,omitempty"`
	Outputs  map[string]belay.Value `json:"outputs,omitempty"`  // results beyond stdout
	Degraded bool                   `json:"degraded,omitempty"` // JSON was looked for in the output and not found
	Hidden   []string               `json:"hidden,omitempty"`   // outputs in which a secret was hidden
	Big      []string               `json:"big,omitempty"`      // of exit 126: variables it read that no argument of a program can hold
	LogSize  int64                  `json:"log_size,omitempty"` // all bytes it printed, after redaction
	LogSha   string                 `json:"log_sha,omitempty"`  // of all of them, kept or not
	LogKept  int64                  `json:"log_kept,omitempty"` // what the log files hold of them
	Tail     string                 `json:"tail,omitempty"`     // the last lines it printed
	Tally    *belay.Tally           `json:"tally,omitempty"`    // of a check: what these tell of tests
	CPU      int64                  `json:"cpu_us,omitempty"`   // user and system time, microseconds
	RSS      int64                  `json:"rss_kb,omitempty"`   // peak memory, KiB; left out where it cannot be told, as of a program smaller than its keeper
	Strays   int                    `json:"strays,omitempty"`   // descendants that had to be ended after it
	Child    *belay.RunResult       `json:"child,omitempty"`    // the end of the child run
	Agent    *AgentReport           `json:"agent,omitempty"`    // of an agent step
	Check    *CheckReport           `json:"check,omitempty"`    // of a check that Belay itself made
	Merge    *Merged                `json:"merge,omitempty"`    // of a merge
}
