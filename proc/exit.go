package proc

import (
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/fault"
)

// noCode is the exit code of an attempt that never began.
const noCode = -1

// Spawn is one attempt to be started.
type Spawn struct {
	Key      belay.Key     `json:"key"`
	Argv     Texts         `json:"argv"`
	Env      Texts         `json:"env,omitempty"`      // on top of the base environment
	Dir      string        `json:"dir,omitempty"`      // absolute
	Log      string        `json:"log,omitempty"`      // absolute path of the log, made at the first byte
	Out      string        `json:"out,omitempty"`      // absolute path of a big output; "" = stdout is not wanted as a value
	Deadline time.Duration `json:"deadline,omitempty"` // 0 = none
	Grace    time.Duration `json:"grace,omitempty"`    // from TERM to KILL; 0 = DefaultGrace
	Sync     bool          `json:"sync,omitempty"`     // birth and exit are on disk, not only written
	Mask     Texts         `json:"mask,omitempty"`     // values that the filter hides
	MaxLog   int64         `json:"max_log,omitempty"`  // 0 = DefaultMaxLog
	MaxOut   int64         `json:"max_out,omitempty"`  // 0 = DefaultMaxOut
}

// The numbers where a Spawn says nothing.
const (
	DefaultGrace  = 5 * time.Second
	DefaultMaxLog = 256 << 20
	DefaultMaxOut = 16 << 20
)

// Exit is what the keeper saw of an attempt: facts only. A program ended by a
// signal has that signal and the code 128 + signal.
type Exit struct {
	Key       belay.Key      `json:"key"` // first, so that the log can be searched without decoding
	Pid       int            `json:"pid,omitempty"`
	Began     bool           `json:"began,omitempty"`
	Code      int            `json:"code,omitempty"`
	Signal    int            `json:"signal,omitempty"`
	KilledBy  fault.KilledBy `json:"killed_by,omitempty"`
	Fault     fault.Fault    `json:"fault,omitempty"`
	Detail    string         `json:"detail,omitempty"`
	Started   time.Time      `json:"started,omitzero"`
	Ended     time.Time      `json:"ended,omitzero"`
	LogSize   int64          `json:"log_size,omitempty"` // all bytes, after the filter
	LogKept   int64          `json:"log_kept,omitempty"` // what the files hold of them
	LogSha    string         `json:"log_sha,omitempty"`  // of all of them
	Tail      []byte         `json:"tail,omitempty"`     // the last of them, valid UTF-8: of two streams that of standard error behind the other
	OutSize   int64          `json:"out_size,omitempty"`
	OutSha    string         `json:"out_sha,omitempty"`
	OutInline []byte         `json:"out,omitempty"`    // the whole output when it is at most belay.MaxInline
	Hidden    bool           `json:"hidden,omitempty"` // a secret was hidden in the output: it belongs into Observation.Hidden
	CPUUS     int64          `json:"cpu_us,omitempty"`
	RSSKB     int64          `json:"rss_kb,omitempty"` // left out where it cannot be told: below the keeper's own
	Strays    int            `json:"strays,omitempty"` // descendants that had to be ended after it
}

// State is what became of an attempt that was open when a driver attached.
type State struct {
	Found fault.Found
	Exit  *Exit // set when it was harvested
}

// Event is something the keeper says; exactly one field is set.
type Event struct {
	Exit *Exit
	Gone error // the keeper died or hung up; the last event
}
