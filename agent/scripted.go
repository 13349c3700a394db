package agent

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/belay-run/belay"
)

// Names of the environment variables by which the built-in agent learns what
// other CLIs are told by flags.
const (
	ScriptedSession = "BELAY_SCRIPTED_SESSION" // the id of its new session
	ScriptedResume  = "BELAY_SCRIPTED_RESUME"  // the session to go on with
	ScriptedHome    = "BELAY_SCRIPTED_HOME"    // Task.Home: its state goes beside this folder
	ScriptedTools   = "BELAY_SCRIPTED_TOOLS"   // Task.Tools, one a line: they are not denied to it
)

// ScriptedKind is the closed list of records that the built-in agent prints.
type ScriptedKind string

const (
	ScriptedStart ScriptedKind = "session" // first of all: Session, Model
	ScriptedText  ScriptedKind = "text"    // the agent speaks: Text
	ScriptedTool  ScriptedKind = "tool"    // a tool begins: ID, Tool
	ScriptedDone  ScriptedKind = "done"    // it ended: ID, Tool with exit, failed or denied
	ScriptedRetry ScriptedKind = "retry"   // it calls its model again: Error, Text
	ScriptedUsage ScriptedKind = "usage"   // what it used since the last such record: Usage
	ScriptedFinal ScriptedKind = "final"   // the end of the run: Text, Stop, Error
)

// ScriptedRecord is one line of the built-in agent's output, as JSON.
type ScriptedRecord struct {
	Type    ScriptedKind     `json:"type"`
	Session string           `json:"session,omitempty"`
	Model   string           `json:"model,omitempty"`
	Text    string           `json:"text,omitempty"`
	ID      string           `json:"id,omitempty"`
	Tool    *belay.ToolCall  `json:"tool,omitempty"`
	Output  string           `json:"output,omitempty"` // with done: what a command printed, cut
	Usage   *belay.Usage     `json:"usage,omitempty"`
	Stop    belay.StopReason `json:"stop,omitempty"`
	Error   *ScriptedFault   `json:"error,omitempty"` // with final: its error flag is set
}

// ScriptedFault is what went wrong.
type ScriptedFault struct {
	Class        belay.Class `json:"class,omitempty"`
	Status       int         `json:"status,omitempty"` // HTTP
	RetryAfterMS int64       `json:"retry_after_ms,omitempty"`
	Reset        time.Time   `json:"reset,omitzero"`
	Text         string      `json:"text,omitempty"`
}

type scripted struct{}

func (scripted) Traits() Traits {
	return Traits{Presets: true, Resumes: true, Streams: true, ToolTalk: true, Final: true, Tools: true, Interrupt: StopTerm}
}

func (scripted) Launch(t Task) (Launch, error) {
	if len(t.Program) == 0 {
		return Launch{}, errors.New("start the scripted agent: no program given")
	}
	if t.Script == "" {
		return Launch{}, errors.New("start the scripted agent: no script given")
	}
	env := append(plainEnv(), ScriptedHome+"="+t.Home)
	if t.Resume != "" {
		env = append(env, ScriptedResume+"="+t.Resume)
	} else if t.Session != "" {
		env = append(env, ScriptedSession+"="+t.Session)
	}
	if len(t.Tools) > 0 {
		env = append(env, ScriptedTools+"="+strings.Join(t.Tools, "\n"))
	}
	return Launch{
		Argv:  argv(t, t.Script),
		Env:   env,
		Unset: []string{ScriptedSession, ScriptedResume, ScriptedTools},
		Stdin: true,
	}, nil
}

func (scripted) Reader() Reader { return &scriptedReader{} }

type scriptedReader struct{ book }

func (r *scriptedReader) Line(line []byte) []Sign {
	var rec ScriptedRecord
	if json.Unmarshal(line, &rec) != nil || rec.Type == "" {
		return r.bad(line)
	}
	switch rec.Type {
	case ScriptedStart:
		r.res.Model = rec.Model
		return r.start(rec.Session)
	case ScriptedText:
		return r.say(rec.Text)
	case ScriptedTool:
		return r.begin(rec.ID, orEmpty(rec.Tool))
	case ScriptedDone:
		call := orEmpty(rec.Tool)
		if call.Denied {
			r.deny(call.Name)
		}
		if rec.Output != "" {
			call.Tally = TallyOf(rec.Output)
		}
		return r.done(rec.ID, call)
	case ScriptedRetry:
		f := scriptedFault(rec.Error)
		if f.text == "" {
			f.text = rec.Text
		}
		return r.retry(f)
	case ScriptedUsage:
		if rec.Usage != nil {
			r.res.Usage = r.res.Usage.Add(*rec.Usage)
		}
		return life()
	case ScriptedFinal:
		r.answer.set(rec.Text)
		r.res.Stop = rec.Stop
		if rec.Error != nil {
			r.fail(scriptedFault(rec.Error))
		}
		return r.final()
	}
	return life()
}

func (r *scriptedReader) Stderr(line []byte) []Sign { return r.mutter(line) }

func (r *scriptedReader) End(e Exit) belay.AgentResult {
	return r.end(e, unknownExit)
}

// scriptedFault takes the class as it is told: the script is typed.
func scriptedFault(f *ScriptedFault) fault {
	if f == nil {
		return fault{}
	}
	return fault{class: f.Class, status: f.Status, after: time.Duration(f.RetryAfterMS) * time.Millisecond, reset: f.Reset, text: f.Text}
}

func orEmpty(c *belay.ToolCall) belay.ToolCall {
	if c == nil {
		return belay.ToolCall{}
	}
	return *c
}
