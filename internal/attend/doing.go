package attend

import (
	"maps"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/worktree"
)

// doing gathers what the tools of an agent may have done, from all its calls and
// their whole commands.
type doing struct {
	all    worktree.Doings
	heard  bool                      // of any tool
	open   map[string]belay.ToolCall // calls that run
	failed []agent.Sign              // of calls that failed, and may turn out to have been denied
}

func (d *doing) hear(s agent.Sign) {
	if s.Tool == nil {
		return
	}
	switch s.Kind {
	case agent.SignTool:
		d.heard = true
		if s.ID == "" || len(d.open) >= maxSeenOpen {
			return
		}
		if d.open == nil {
			d.open = map[string]belay.ToolCall{}
		}
		d.open[s.ID] = *s.Tool
	case agent.SignDone:
		d.heard = true
		delete(d.open, s.ID)
		d.ended(s)
	case agent.SignStart, agent.SignText, agent.SignModel, agent.SignRetry, agent.SignLife, agent.SignFinal:
	}
}

// ended takes in a call that is over. One of which nothing is told but that it
// failed may have been denied, which some CLIs tell at the very end: it waits.
func (d *doing) ended(s agent.Sign) {
	switch call := s.Tool; {
	case call.Denied:
		d.failed = slices.DeleteFunc(d.failed, func(f agent.Sign) bool { return f.ID == s.ID })
	case call.Failed && call.Exit == nil && s.ID != "" && len(d.failed) < maxSeenOpen:
		d.failed = append(d.failed, s)
	default:
		d.all.Take(*call)
	}
}

// over takes in what was under way when the process ended: it may have come far.
func (d *doing) over() {
	for _, s := range d.failed {
		d.all.Take(*s.Tool)
	}
	d.failed = nil
	for _, id := range slices.Sorted(maps.Keys(d.open)) { // a cap takes the same ones each time
		call := d.open[id]
		call.Open = true
		d.all.Take(call)
	}
	d.open = nil
}

// Own is what the agent did by itself, as its records tell it; nil = an agent of
// this kind does not tell. One that speaks the protocol tells as it likes: it is
// believed to when it told of a tool.
func (w *Witness) Own(kind agent.Kind) *worktree.Doings {
	switch kind {
	case agent.Command:
		return nil
	case agent.ACP:
		if !w.doing.heard {
			return nil
		}
	case agent.Claude, agent.Codex, agent.Gemini, agent.Copilot, agent.OpenCode, agent.Qwen, agent.Scripted:
	}
	return &w.doing.all
}
