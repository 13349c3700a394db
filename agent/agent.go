// Package agent knows agent CLIs, one file each: how each is started without a
// person, what its records mean, and how it fails. It starts nothing, reads no
// file and owns no clock; it never decides whether work was done. It is, with
// verdict, the only room that may look at the text of an error.
package agent

import (
	"time"

	"github.com/belay-run/belay"
)

// Kind is the closed list of adapters. Those of a CLI are in its own file.
type Kind string

const (
	Command  Kind = "command"  // any program: prompt on stdin, answer on stdout
	ACP      Kind = "acp"      // any program that speaks the Agent Client Protocol on stdio
	Scripted Kind = "scripted" // built in: plays a script
)

// Access is what an agent may do without being asked.
type Access string

const (
	AccessRead Access = "read" // look, change nothing
	AccessEdit Access = "edit" // change files and run commands; the default
	AccessFull Access = "full" // no rails at all
)

// Agent is one agent, from the settings to its process: as somebody wants it, and,
// once its program was found, as this machine has it.
type Agent struct {
	Name    string   `json:"name"`
	Kind    Kind     `json:"kind"`
	Program []string `json:"program"`        // how the CLI is called: its path, and arguments that always come first; nil = not found yet
	Args    []string `json:"args,omitempty"` // the configuration's own arguments, after the adapter's
	Model   string   `json:"model,omitempty"`
	Access  Access   `json:"access,omitempty"`
	Script  string   `json:"script,omitempty"` // of a scripted agent: the path of the script
}

// Task is one run of an agent.
type Task struct {
	Agent
	Dir     string   // absolute; it is also the working directory of the process
	Home    string   // a private folder for files of this run
	Session string   // the id to be given to a new session, where Traits.Presets
	Resume  string   // the session to go on with, where Traits.Resumes
	Tools   []string // single tools that it may use besides, by the names that its CLI has for them
	Prompt  string   // for a CLI that takes it as an argument
}

// Launch is how a CLI is started.
type Launch struct {
	Argv  []string
	Env   []string          // NAME=value, over the environment
	Unset []string          // names taken out of it
	Stdin bool              // the prompt goes to stdin; else it is in Argv
	Files map[string]string // to be written before the start, by absolute path

	// Defaults are settings that lie beneath the user's own, for a CLI that
	// reads such a file: nil = none.
	Defaults *Defaults

	// Results are files that the CLI may write, by absolute path: to be read
	// back after the end for Exit.Files, as far as they exist.
	Results []string
}

// Defaults are settings for one start of a CLI that everybody else's win over:
// the user's, the project's, and an administrator's file of the same kind, in
// whose place the CLI would read this one.
type Defaults struct {
	Env  string // the variable that names the file
	File string // absolute: where it is written
	Text string // what is in it

	Yields []string // other variables with which somebody may have named one of their own
	System string   // the file that is read when no variable names one
	Root   bool     // the CLI believes only a file that nobody but root can have written
}

// Traits are what Belay must know to look after a CLI.
type Traits struct {
	Presets   bool // a new session takes the id it is given
	Resumes   bool // a session can be continued
	Streams   bool // it prints while the model speaks; else silence means little
	Pieces    bool // what the model says comes in pieces, not in whole messages
	ToolTalk  bool // it prints while a tool runs
	Final     bool // it ends with a record that says so; else the exit alone does
	Tools     bool // it heeds Task.Tools; else its access is all that there is
	Untold    bool // it tells of no tools: all that it prints is its answer
	Interrupt Stop // what ends it most gently
}

// Stop is a signal by name.
type Stop string

const (
	StopInt  Stop = "INT"
	StopTerm Stop = "TERM"
	StopKill Stop = "KILL"
)

// Adapter is one kind of CLI.
type Adapter interface {
	Traits() Traits
	Launch(Task) (Launch, error)
	Reader() Reader
}

// Reader folds what one process of a CLI prints. It never fails: what it does
// not know is counted or left alone, and any split of the bytes into lines that
// keeps whole lines gives the same result.
type Reader interface {
	Line(line []byte) []Sign // one line of stdout, without its end
	Stderr(line []byte) []Sign
	End(e Exit) belay.AgentResult // after the last line
}

// Exit is the end of the process, and what the adapter asked to be kept.
type Exit struct {
	Code, Signal int
	At           time.Time         // when; reset times that are told as waits are counted from here
	Files        map[string][]byte // contents of files that the launch named for results, by absolute path; bounded
}

// SignKind is the closed list of what a line can be a sign of.
type SignKind string

const (
	SignStart SignKind = "start" // the CLI is up; Session may be set
	SignText  SignKind = "text"  // the model spoke
	SignTool  SignKind = "tool"  // a tool began
	SignDone  SignKind = "done"  // a tool ended; told once more when it turns out that it was denied
	SignModel SignKind = "model" // the model is at work and has not spoken yet: a message began, or it thinks
	SignRetry SignKind = "retry" // the CLI calls the model again after a fault: life, no progress
	SignLife  SignKind = "life"  // anything else that says that it lives
	SignFinal SignKind = "final" // the record that ends a run
)

// Sign is what one line tells the one who watches.
type Sign struct {
	Kind    SignKind
	Session string          // when the line tells it
	Text    string          // SignText: what was said; SignRetry: why
	Tool    *belay.ToolCall // SignTool, SignDone; its command is whole up to MaxLook, and Masked past that
	ID      string          // of the tool call
	Wait    time.Duration   // SignRetry: how long it says that it will wait before
}
