package step

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/proc"
)

const (
	maxPrompt = 32 << 20
	// attendGrace is how much longer the keeper waits than the attendant: it
	// ends an agent itself, and only one that cannot is ended by the keeper. The
	// evidence before and after is no part of the agent's time.
	attendGrace = 5 * time.Minute
	maxKill     = 10 * time.Second
)

// Host is what agent steps need of this machine and of their run.
type Host struct {
	Self    []string // how this program is called
	Find    func(name string) (agent.Agent, error)
	Persona func(ref string) string // the text of a persona; "" = none
	Windows supervise.Windows
	Contain supervise.Containment
	Secrets []string  // names of variables
	State   string    // the state directory, and
	Tree    string    // the tree of sessions in it whose budget counts
	Tally   string    // before the keys that are counted in it
	Kept    proc.Kept // who keeps the run
	Skip    []string  // folders that Belay itself writes to: their change is nobody's work
	Merges  string    // the folder for the plans of merges
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
func PrepareAgent(j effect.Job, files Files, lim Limits, mask []string, h Host) (proc.Spawn, error) {
	who, err := h.Find(j.Agent.Name)
	if err != nil {
		return proc.Spawn{}, &Fault{fault.Agent, err}
	}
	if access := accessOf(j.Agent, who); j.Agent.Unsaid && access == agent.AccessRead {
		owes := *j.Agent
		owes.Expect = belay.ExpectAnswer
		j.Agent = &owes
	}
	brief, err := briefOf(j, files, h)
	if err != nil {
		return proc.Spawn{}, err
	}
	dir := agentDir(files, j.Key)
	if err := keepPrompts(dir, brief); err != nil {
		return proc.Spawn{}, &Fault{fault.Disk, fmt.Errorf("keep the prompt: %w", err)}
	}
	// An attempt that was never born may have left these.
	for _, old := range []string{reportPath(files, j.Key), NotesPath(files, j.Key)} {
		if err := os.Remove(old); err != nil && !errors.Is(err, os.ErrNotExist) {
			return proc.Spawn{}, &Fault{fault.Disk, err}
		}
	}
	order := h.order(j, who, dir)
	order.Most = lim.MaxOut
	path := filepath.Join(dir, "order.json")
	if err := order.Write(path); err != nil {
		return proc.Spawn{}, &Fault{fault.Disk, err}
	}
	env, _, err := environment(j, files)
	if err != nil {
		return proc.Spawn{}, err
	}
	env = append(env, "BELAY_ROLE="+string(j.Role), "BELAY_AGENT_NAME="+who.Name)
	return proc.Spawn{
		Key: j.Key, Argv: slices.Concat(h.Self, []string{"attend", path}), Env: env, Dir: j.Dir,
		Log: files.LogPath(j.Key), Out: files.OutPath(j.Key), Deadline: order.Windows.Timeout + attendGrace,
		Grace: max(lim.Grace, maxKill), Sync: true, Mask: mask, MaxLog: lim.MaxLog, MaxOut: lim.MaxOut,
	}, nil
}

// order says what the attendant is to do.
func (h Host) order(j effect.Job, who agent.Agent, dir string) supervise.Order {
	a := j.Agent
	o := supervise.Order{
		Key: j.Key, Run: j.Run, Step: j.Path, Attempt: j.Attempt,
		Agent: who, Tools: a.Tools,
		Dir: j.Dir, Home: filepath.Join(dir, "home"), Prompt: filepath.Join(dir, "prompt"),
		Report: filepath.Join(dir, "report.json"), Notes: filepath.Join(dir, "notes"),
		Session: a.Session, Resume: a.Resume, Cut: a.Cut, Expect: a.Expect, JSON: j.JSON, Keys: j.Form(), Filled: j.Keys, Closes: a.Closes, Base: a.Base, Blind: a.Blind, Guard: a.Guard,
		Windows: h.Windows, Secrets: h.Secrets, Skip: h.Skip, Contain: h.Contain, Init: slices.Concat(h.Self, proc.NamespaceArgs(h.Kept.Dir, h.Kept.Socket)),
	}
	o.State, o.Tree, o.Tally = h.State, h.Tree, h.Tally
	if o.Resume != "" {
		o.Fresh = filepath.Join(dir, "fresh")
	}
	o.Access, o.Model = accessOf(a, who), cmp.Or(a.Model, who.Model)
	if j.Timeout > 0 {
		o.Windows.Timeout = j.Timeout
	}
	if o.Windows.Timeout <= 0 {
		o.Windows.Timeout = supervise.DefaultWindows().Timeout
	}
	return o
}

// accessOf is what an agent may do: what its role says, else its settings.
func accessOf(j *effect.AgentJob, who agent.Agent) agent.Access {
	return cmp.Or(agent.Access(j.Access), who.Access)
}

// keepPrompts writes what the agent is told, and what a new session is told
// when the one that is to go on is not there any more.
func keepPrompts(dir string, brief agent.Brief) error {
	if err := os.MkdirAll(filepath.Join(dir, "home"), 0o700); err != nil {
		return err
	}
	err := os.WriteFile(filepath.Join(dir, "prompt"), []byte(agent.Compose(brief)), 0o600)
	if err != nil || !brief.Resumed {
		return err
	}
	brief.Resumed = false
	return os.WriteFile(filepath.Join(dir, "fresh"), []byte(agent.Compose(brief)), 0o600)
}

// briefOf joins the parts of a prompt and adds what every agent is told.
func briefOf(j effect.Job, files Files, h Host) (agent.Brief, error) {
	var b strings.Builder
	for _, v := range j.Agent.Prompt {
		text := Plain(v.JSON)
		if !v.Inline() {
			raw, err := os.ReadFile(files.BlobPath(v.Sha))
			if err != nil {
				return agent.Brief{}, &Fault{fault.Input, fmt.Errorf("read a value of the prompt: %w", err)}
			}
			text = string(raw)
		}
		if b.Len()+len(text) > maxPrompt {
			return agent.Brief{}, &Fault{fault.Input, fmt.Errorf("the prompt has more than %d bytes", maxPrompt)}
		}
		b.WriteString(text)
	}
	brief := agent.Brief{Prompt: b.String(), Expect: j.Agent.Expect, Cut: j.Agent.Cut, Resumed: j.Agent.Resume != "", Note: j.Agent.Brief, Closes: j.Agent.Closes, JSON: j.JSON != effect.JSONAuto}
	if j.Agent.Persona != "" && h.Persona != nil {
		brief.Persona = h.Persona(j.Agent.Persona)
	}
	return brief, nil
}

// Report is what the attendant of an attempt reported, if it came to that.
func Report(files interface{ LogPath(belay.Key) string }, k belay.Key) (effect.AgentReport, bool) {
	r, err := supervise.ReadReport(reportPath(files, k))
	return r, err == nil
}

// reported adds what the attendant of an agent reported to what the keeper saw.
func reported(o *effect.Observation, k belay.Key, files interface{ LogPath(belay.Key) string }) {
	r, ok := Report(files, k)
	if !ok {
		return // the verdict says that there is none
	}
	o.Agent = &r
	if r.Ended == effect.EndedDeadline && o.KilledBy == fault.KilledNot {
		o.KilledBy = fault.KilledDeadline
	}
	if r.Result.Cut != "" && o.KilledBy == fault.KilledNot && o.Fault == fault.None {
		o.Fault, o.Detail = fault.Output, r.Result.Cut
	}
}
