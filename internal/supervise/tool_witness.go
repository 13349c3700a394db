package supervise

import (
	"maps"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
)

const (
	maxSeenNames = 200 // tools that ended well
	maxSeenFiles = 200 // files that tools wrote
	maxCommand   = 2000
)

// Witness sees the tool calls of an agent go by and keeps what a report would
// leave out: it holds only the first and the last calls. A denied tool that
// worked another time and a file outside the tree must not be forgotten.
type Witness struct {
	Hide  func(string) string       // hides secrets in a text before it is cut; nil = nothing to hide
	well  map[string]belay.ToolCall // the last call of each tool that ended well
	files map[string]belay.ToolCall // by path
}

// Hear takes in a sign.
func (w *Witness) Hear(s agent.Sign) {
	if s.Kind != agent.SignDone || s.Tool == nil || s.Tool.Failed || s.Tool.Denied || s.Tool.Open {
		return
	}
	short := w.short(*s.Tool)
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
