package attend

import (
	"maps"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/worktree"
)

const (
	maxSeenTests = 50  // commands that ran tests; the last ones
	maxSeenNames = 200 // tools that ended well
	maxSeenFiles = 200 // files that tools wrote
	maxSeenOpen  = 100 // calls that run
	maxCommand   = 2000
)

// Witness sees the tool calls of an agent go by, with their whole commands, and
// keeps what counts for the judgement. A report holds only the first and the
// last calls, and only the beginnings of their commands.
type Witness struct {
	Dir   string              // where the agent works; "" = nobody knows
	Hide  func(string) string // hides secrets in a text before it is cut; nil = nothing to hide
	open  map[string]belay.ToolCall
	tests []belay.ToolCall
	pr    string
	well  map[string]belay.ToolCall // the last call of each tool that ended well
	files map[string]belay.ToolCall // by path
	doing doing
}

// Hear takes in a sign.
func (w *Witness) Hear(s agent.Sign) {
	w.doing.hear(s)
	switch s.Kind {
	case agent.SignTool:
		w.begin(s)
	case agent.SignDone:
		if s.Tool != nil {
			delete(w.open, s.ID)
			w.see(*s.Tool)
		}
	case agent.SignStart, agent.SignText, agent.SignModel, agent.SignRetry, agent.SignLife, agent.SignFinal:
	}
}

func (w *Witness) begin(s agent.Sign) {
	if s.Tool == nil || s.Tool.Command == "" || s.ID == "" || len(w.open) >= maxSeenOpen {
		return
	}
	if !worktree.LookIn(w.Dir, s.Tool.Command).Tests {
		return // only tests that never ended tell something
	}
	if w.open == nil {
		w.open = map[string]belay.ToolCall{}
	}
	w.open[s.ID] = w.short(*s.Tool)
}

// Over says that the process has ended: what runs now never ends.
func (w *Witness) Over() {
	w.doing.over()
	for _, id := range slices.Sorted(maps.Keys(w.open)) { // a cap takes the same ones each time
		call := w.open[id]
		call.Open = true
		w.test(call)
	}
	w.open = nil
}

// see takes in a call that ended.
func (w *Witness) see(call belay.ToolCall) {
	seen := worktree.LookIn(w.Dir, call.Command)
	short := w.short(call)
	good := !call.Failed && !call.Denied && !call.Open
	if seen.Ran(call) && !call.Denied {
		w.test(seen.Run(short))
	}
	if !good {
		return
	}
	if seen.PR && !call.Masked && (call.Exit == nil || *call.Exit == 0) {
		w.pr = worktree.PRMade
	}
	w.well = remember(w.well, short.Name, short, maxSeenNames)
	if short.Path != "" {
		w.files = remember(w.files, short.Path, short, maxSeenFiles)
	}
}

func remember(m map[string]belay.ToolCall, key string, call belay.ToolCall, most int) map[string]belay.ToolCall {
	if m == nil {
		m = map[string]belay.ToolCall{}
	}
	if _, known := m[key]; known || len(m) < most {
		m[key] = call
	}
	return m
}

func (w *Witness) test(call belay.ToolCall) {
	w.tests = append(w.tests, call)
	w.tests = w.tests[max(0, len(w.tests)-maxSeenTests):]
}

func (w *Witness) short(call belay.ToolCall) belay.ToolCall {
	call.Command = agent.Short(call.Command, maxCommand, w.Hide)
	call.Path = agent.Short(call.Path, maxCommand, w.Hide)
	return call
}

// Calls are the calls of a result, with those that speak for it and were left
// out: of tools that were denied another time, and of files.
func (w *Witness) Calls(r belay.AgentResult) (shown, all []belay.ToolCall) {
	shown = slices.Clone(r.Tools)
	for _, name := range r.Denied {
		call, ok := w.well[name]
		if ok && !slices.ContainsFunc(shown, func(t belay.ToolCall) bool { return t.Name == name && !t.Failed && !t.Denied && !t.Open }) {
			shown = append(shown, call)
		}
	}
	all = slices.Clone(shown)
	for _, path := range slices.Sorted(maps.Keys(w.files)) {
		if !slices.ContainsFunc(shown, func(t belay.ToolCall) bool { return t.Path == path && !t.Failed && !t.Denied }) {
			all = append(all, w.files[path])
		}
	}
	return shown, all
}

// Testify puts what was seen into the evidence.
func (w *Witness) Testify(e *belay.Evidence) {
	e.Tests, e.PR = slices.Clone(w.tests), w.pr
}
