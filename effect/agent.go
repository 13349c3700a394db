package effect

import (
	"time"

	"github.com/belay-run/belay"
)

// AgentJob is what an attempt of an agent step is made of.
type AgentJob struct {
	Name    string        // the agent's name: claude, codex, one of the configuration's own
	Model   string        // "" = the agent's own choice
	Persona string        // "namespace:name" of a Markdown file that is put before the prompt
	Prompt  []belay.Value // the parts of the prompt, joined at the door
	Expect  belay.Expect
	Unsaid  bool             // the recipe does not say what it expects: an agent that may only read owes an answer
	Session string           // the id that the session shall have, where the agent takes one
	Resume  string           // the session to go on with; "" = a new one
	Cut     string           // with or without Resume: how an earlier attempt was cut off, in words
	Base    *belay.TreeState // what the work is measured against, when it began in an earlier attempt
	Access  string           // read, edit or full; "" = the agent's own
	Brief   string           // what happened before, for the prompt
	Tools   []string         // single tools that its role may use, over its access
	Blind   bool             // it works in a copy that is thrown away: nobody looks what it does there
	Closes  bool             // its answer ends with a closing line
	Guard   *belay.Guarding  // files that it may not change; nil = none
}

// AgentReport is everything that is known of one attempt of an agent step.
type AgentReport struct {
	Name     string            `json:"name"`
	Program  string            `json:"program,omitempty"`
	Version  string            `json:"version,omitempty"`
	Access   string            `json:"access,omitempty"` // what it was allowed: read, edit or full; "" = its own
	Result   belay.AgentResult `json:"result"`
	Evidence belay.Evidence    `json:"evidence"`
	Ended    EndedBy           `json:"ended,omitempty"`
	Resumes  int               `json:"resumes,omitempty"` // how often it was interrupted and continued
	Reasked  int               `json:"reasked,omitempty"` // how often it was asked again for JSON
	Fresh    bool              `json:"fresh,omitempty"`   // its session was not known any more: a new one took over
	Notes    []AgentNote       `json:"notes,omitempty"`
	Lost     string            `json:"lost,omitempty"` // why notes could not be written while it ran
	Level    int               `json:"containment"`
	Strays   int               `json:"strays,omitempty"` // processes that it left behind and that were ended
}

// Starts is how often a CLI was started in the attempt: once, and once more for
// each time that it was continued, begun anew or asked again.
func (r AgentReport) Starts() int {
	if r.Unreached() {
		return 0
	}
	n := 1 + r.Resumes + r.Reasked
	if r.Fresh {
		n++
	}
	return n
}

// Unreached tells that the attempt failed at the service before it came to any
// work: nothing was used, and it counts as no start.
func (r AgentReport) Unreached() bool {
	a := r.Result
	if a.Usage.Tokens() > 0 || a.Usage.MicroUSD > 0 || a.ToolCount > 0 || a.Final && !a.Error {
		return false
	}
	if a.Class == belay.ClassNone { // ended while it only called again
		return r.Ended == EndedRetries
	}
	return a.Class.Row().Idle
}

// EndedBy says which of our own acts ended an agent, recorded by whoever did
// it and never inferred.
type EndedBy string

const (
	EndedItself   EndedBy = ""            // nobody of ours
	EndedFirst    EndedBy = "first_event" // it never said anything
	EndedSilence  EndedBy = "silence"     // it said nothing for too long
	EndedTool     EndedBy = "tool"        // one tool took too long
	EndedBabble   EndedBy = "babble"      // it went on and on without an end or a tool
	EndedDeadline EndedBy = "deadline"    // its timeout passed
	EndedSignal   EndedBy = "signal"      // we were told to end: a stop or a cancel
	EndedRetries  EndedBy = "retries"     // it only retried
	EndedOutput   EndedBy = "output"      // its answer is over the limit
)

// AgentNote is something that happened while an agent ran.
type AgentNote struct {
	At   time.Time `json:"at"`
	What NoteKind  `json:"what"`
	Text string    `json:"text,omitempty"`
}

// NoteKind is the closed list of things that are noted about a running agent.
type NoteKind string

const (
	NoteSession   NoteKind = "session"   // its session is known
	NoteQuiet     NoteKind = "quiet"     // half of a window has passed
	NoteInterrupt NoteKind = "interrupt" // it was interrupted, to be continued
	NoteResume    NoteKind = "resume"    // its session is continued
	NoteKill      NoteKind = "kill"      // it was ended
	NoteRetry     NoteKind = "retry"     // it retries by itself
	NoteBase      NoteKind = "base"      // what the work is measured against
)
