package step

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/internal/attend"
	"github.com/belay-run/belay/proc"
)

const (
	maxPrompt = 32 << 20
	// attendGrace is how much longer the keeper waits than the attendant: it
	// ends an agent itself, and only one that cannot is ended by the keeper.
	attendGrace = 30 * time.Second
	maxKill     = 10 * time.Second
)

// Agent is one agent as this machine has it.
type Agent struct {
	Name    string
	Kind    agent.Kind
	Program []string
	Args    []string
	Version string
	Model   string
	Access  agent.Access
	Script  string
}

// Host is what agent steps need of this machine and of their run.
type Host struct {
	Self    []string // how this program is called
	Find    func(name string) (Agent, error)
	Persona func(ref string) string // the text of a persona; "" = none
	Windows attend.Windows
	Contain attend.Containment
	Secrets []string // names of variables
}

// agentDir is the folder of an attempt of an agent.
func agentDir(files interface{ LogPath(belay.Key) string }, k belay.Key) string {
	return strings.TrimSuffix(files.LogPath(k), ".log") + ".agent"
}

// NotesPath is the file in which the attendant of an attempt writes what it
// learns while it runs.
func NotesPath(files interface{ LogPath(belay.Key) string }, k belay.Key) string {
	return filepath.Join(agentDir(files, k), "notes")
}

func reportPath(files interface{ LogPath(belay.Key) string }, k belay.Key) string {
	return filepath.Join(agentDir(files, k), "report.json")
}

// PrepareAgent makes the process of an agent's job: an attendant with an order.
func PrepareAgent(j belay.Job, files Files, lim Limits, mask []string, h Host) (proc.Spawn, error) {
	who, err := h.Find(j.Agent.Name)
	if err != nil {
		return proc.Spawn{}, &Fault{belay.FaultAgent, err}
	}
	text, err := promptOf(j, files, h)
	if err != nil {
		return proc.Spawn{}, err
	}
	dir := agentDir(files, j.Key)
	home := filepath.Join(dir, "home")
	if err := errors.Join(os.MkdirAll(home, 0o700), os.WriteFile(filepath.Join(dir, "prompt"), []byte(text), 0o600)); err != nil {
		return proc.Spawn{}, &Fault{belay.FaultDisk, fmt.Errorf("keep the prompt: %w", err)}
	}
	// An attempt that was never born may have left these.
	for _, old := range []string{reportPath(files, j.Key), NotesPath(files, j.Key)} {
		if err := os.Remove(old); err != nil && !errors.Is(err, os.ErrNotExist) {
			return proc.Spawn{}, &Fault{belay.FaultDisk, err}
		}
	}
	order := h.order(j, who, dir)
	path := filepath.Join(dir, "order.json")
	if err := order.Write(path); err != nil {
		return proc.Spawn{}, &Fault{belay.FaultDisk, err}
	}
	env, _, err := environment(j, files)
	if err != nil {
		return proc.Spawn{}, err
	}
	return proc.Spawn{
		Key: j.Key, Argv: slices.Concat(h.Self, []string{"attend", path}), Env: env, Dir: j.Dir,
		Log: files.LogPath(j.Key), Out: files.OutPath(j.Key), Deadline: order.Windows.Timeout + attendGrace,
		Grace: max(lim.Grace, maxKill), Sync: true, Mask: mask, MaxLog: lim.MaxLog, MaxOut: lim.MaxOut,
	}, nil
}

// order says what the attendant is to do.
func (h Host) order(j belay.Job, who Agent, dir string) attend.Order {
	a := j.Agent
	o := attend.Order{
		Key: j.Key, Run: j.Run, Step: j.Path, Attempt: j.Attempt,
		Name: who.Name, Kind: who.Kind, Program: who.Program, Args: who.Args, Version: who.Version,
		Model: a.Model, Access: who.Access, Script: who.Script,
		Dir: j.Dir, Home: filepath.Join(dir, "home"), Prompt: filepath.Join(dir, "prompt"),
		Report: filepath.Join(dir, "report.json"), Notes: filepath.Join(dir, "notes"),
		Session: a.Session, Resume: a.Resume, Cut: a.Cut, Expect: a.Expect, Base: a.Base,
		Windows: h.Windows, Secrets: h.Secrets, Contain: h.Contain, Init: slices.Concat(h.Self, []string{"nsinit", "--"}),
	}
	if o.Model == "" {
		o.Model = who.Model
	}
	if j.Timeout > 0 {
		o.Windows.Timeout = j.Timeout
	}
	if o.Windows.Timeout <= 0 {
		o.Windows.Timeout = attend.DefaultWindows().Timeout
	}
	return o
}

// promptOf joins the parts of a prompt and puts around it what every agent is told.
func promptOf(j belay.Job, files Files, h Host) (string, error) {
	var b strings.Builder
	for _, v := range j.Agent.Prompt {
		text := Plain(v.JSON)
		if !v.Inline() {
			raw, err := os.ReadFile(files.BlobPath(v.Sha))
			if err != nil {
				return "", &Fault{belay.FaultInput, fmt.Errorf("read a value of the prompt: %w", err)}
			}
			text = string(raw)
		}
		if b.Len()+len(text) > maxPrompt {
			return "", &Fault{belay.FaultInput, fmt.Errorf("the prompt has more than %d bytes", maxPrompt)}
		}
		b.WriteString(text)
	}
	brief := agent.Brief{Prompt: b.String(), Expect: j.Agent.Expect, Cut: j.Agent.Cut, Resumed: j.Agent.Resume != ""}
	if j.Agent.Persona != "" && h.Persona != nil {
		brief.Persona = h.Persona(j.Agent.Persona)
	}
	return agent.Compose(brief), nil
}

// reported adds what the attendant of an agent reported to what the keeper saw.
func reported(o *belay.Observation, k belay.Key, files interface{ LogPath(belay.Key) string }) {
	r, err := attend.ReadReport(reportPath(files, k))
	if err != nil {
		return // the verdict says that there is none
	}
	o.Agent = &r
	if r.Ended == belay.EndedDeadline && o.KilledBy == belay.KilledNot {
		o.KilledBy = belay.KilledDeadline
	}
}
