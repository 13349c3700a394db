package supervise

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	acp "github.com/coder/acp-go-sdk"
)

// talk folds what an agent of the protocol tells. Its owner locks.
type talk struct {
	result belay.AgentResult
	text   strings.Builder
	size   int64
	lost   bool // a part of the text was not read
	next   bool // a tool came after the text: the next word begins a new answer
	replay bool // old talk is told again
	open   map[acp.ToolCallId]belay.ToolCall
	denied map[acp.ToolCallId]bool
	hide   func(string) string
}

// update is what one update is a sign of.
func (t *talk) update(u acp.SessionUpdate) []agent.Sign {
	if t.replay {
		return []agent.Sign{{Kind: agent.SignLife}}
	}
	switch {
	case u.AgentMessageChunk != nil && u.AgentMessageChunk.Content.Text != nil:
		text := u.AgentMessageChunk.Content.Text.Text
		t.say(text)
		return []agent.Sign{{Kind: agent.SignText, Text: text}}
	case u.AgentThoughtChunk != nil && u.AgentThoughtChunk.Content.Text != nil:
		return []agent.Sign{{Kind: agent.SignText, Text: u.AgentThoughtChunk.Content.Text.Text}}
	case u.ToolCall != nil:
		return t.begin(*u.ToolCall)
	case u.ToolCallUpdate != nil:
		return t.progress(*u.ToolCallUpdate)
	case u.UsageUpdate != nil && u.UsageUpdate.Cost != nil && u.UsageUpdate.Cost.Currency == "USD":
		t.result.Usage.MicroUSD = int64(math.Round(u.UsageUpdate.Cost.Amount * 1e6))
	}
	return []agent.Sign{{Kind: agent.SignLife}}
}

func (t *talk) say(text string) {
	t.fresh()
	t.size += int64(len(text))
	if room := agent.MaxAnswer - t.text.Len(); room > 0 {
		t.text.WriteString(cut(text, room))
	}
}

// fresh begins a new answer after a tool.
func (t *talk) fresh() {
	if t.next {
		t.next, t.size, t.lost = false, 0, false
		t.text.Reset()
	}
}

// lose notes that a part of the text was not read.
func (t *talk) lose() {
	if !t.replay {
		t.fresh()
		t.lost = true
	}
}

func (t *talk) begin(u acp.SessionUpdateToolCall) []agent.Sign {
	t.next = true
	call := belay.ToolCall{Name: t.name(u.Kind, u.Title), Path: pathOf(u.Locations)}
	call.Command, call.Masked = commandOf(u.RawInput)
	if t.open == nil {
		t.open = map[acp.ToolCallId]belay.ToolCall{}
	}
	if len(t.open) < maxTools {
		t.open[u.ToolCallId] = call
	}
	t.result.ToolCount++
	signs := []agent.Sign{{Kind: agent.SignTool, ID: string(u.ToolCallId), Tool: &call}}
	if u.Status == acp.ToolCallStatusCompleted || u.Status == acp.ToolCallStatusFailed {
		signs = append(signs, t.end(u.ToolCallId, u.Status, u.RawOutput, u.Content))
	}
	return signs
}

func (t *talk) progress(u acp.SessionToolCallUpdate) []agent.Sign {
	if call, ok := t.open[u.ToolCallId]; ok {
		if call.Command == "" {
			call.Command, call.Masked = commandOf(u.RawInput)
		}
		if call.Path == "" {
			call.Path = pathOf(u.Locations)
		}
		t.open[u.ToolCallId] = call
	}
	if u.Status == nil || *u.Status != acp.ToolCallStatusCompleted && *u.Status != acp.ToolCallStatusFailed {
		return []agent.Sign{{Kind: agent.SignLife}}
	}
	return []agent.Sign{t.end(u.ToolCallId, *u.Status, u.RawOutput, u.Content)}
}

func (t *talk) end(id acp.ToolCallId, status acp.ToolCallStatus, output any, content []acp.ToolCallContent) agent.Sign {
	call := t.open[id]
	delete(t.open, id)
	call.Exit = exitOf(output)
	if call.Command != "" {
		call.Tally = agent.TallyOf(printed(output, content))
	}
	call.Failed = status == acp.ToolCallStatusFailed || call.Exit != nil && *call.Exit != 0
	call.Denied = t.denied[id]
	t.keep(call)
	return agent.Sign{Kind: agent.SignDone, ID: string(id), Tool: &call}
}

// keep holds the first and the last calls, cut for the record.
func (t *talk) keep(call belay.ToolCall) {
	call.Command = agent.Short(call.Command, maxCommand, t.hide)
	call.Path = agent.Short(call.Path, maxCommand, t.hide)
	t.result.Tools = append(t.result.Tools, call)
	if len(t.result.Tools) > maxTools {
		t.result.Tools = slices.Delete(t.result.Tools, maxTools/2, maxTools/2+1)
	}
}

func (t *talk) deny(u acp.ToolCallUpdate) {
	if t.denied == nil {
		t.denied = map[acp.ToolCallId]bool{}
	}
	if len(t.denied) < maxTools {
		t.denied[u.ToolCallId] = true
	}
	name := t.open[u.ToolCallId].Name
	if name == "" {
		name = t.name(valueOf(u.Kind), valueOf(u.Title))
	}
	if !slices.Contains(t.result.Denied, name) && len(t.result.Denied) < maxTools {
		t.result.Denied = append(t.result.Denied, name)
	}
}

// answer takes in the end of the turn. A reason that the protocol does not know
// says nothing of the work: it counts as no record of an end.
func (t *talk) answer(r acp.PromptResponse) {
	t.result.Final = true
	switch r.StopReason {
	case acp.StopReasonEndTurn:
		t.result.Stop = belay.StopDone
	case acp.StopReasonMaxTokens:
		t.result.Stop = belay.StopTruncated
		t.broke(belay.ClassTokenLimit, "the answer was cut off at the model's output limit")
	case acp.StopReasonMaxTurnRequests:
		t.result.Stop = belay.StopLimit
		t.broke(belay.ClassTurnLimit, "the agent used up its turns")
	case acp.StopReasonRefusal:
		t.result.Stop, t.result.Class = belay.StopRefused, belay.ClassRefusal
	case acp.StopReasonCancelled:
		t.result.Stop = belay.StopError
		t.broke(belay.ClassCancelled, "the agent says that it was cancelled")
	case "":
		t.result.Final, t.result.Stop = false, belay.StopError
		t.broke(belay.ClassUnknown, "the agent ended its turn and gave no reason")
	default:
		t.result.Final, t.result.Stop = false, belay.StopError
		t.broke(belay.ClassUnknown, agent.Short("the agent ended its turn for a reason that the protocol does not know: "+string(r.StopReason), maxCause, t.hide))
	}
	t.result.Usage.Input, t.result.Usage.Output = quotaOf(r.Meta)
	if u := r.Usage; u != nil {
		t.result.Usage.Input, t.result.Usage.Output = int64(u.InputTokens), int64(u.OutputTokens)
		t.result.Usage.CacheRead, t.result.Usage.CacheWrite = int64(valueOf(u.CachedReadTokens)), int64(valueOf(u.CachedWriteTokens))
	}
}

// quotaOf is what Gemini tells of its tokens: it has a place of its own for them.
func quotaOf(meta map[string]any) (input, output int64) {
	quota, _ := meta["quota"].(map[string]any)
	count, _ := quota["token_count"].(map[string]any)
	number := func(name string) int64 {
		n, _ := count[name].(float64) // 0 when it is something else
		if n < 0 || n > 1e12 {
			return 0
		}
		return int64(n)
	}
	return number("input_tokens"), number("output_tokens")
}

// broke sets the error flag: the turn ended, and not because the work is done.
func (t *talk) broke(class belay.Class, cause string) {
	t.result.Error, t.result.Class, t.result.Cause = true, class, cause
}

// breach is an answer that is not one of the protocol as it is spoken here. To
// ask again would end the same.
type breach string

func (b breach) Error() string { return string(b) }

// fault takes in that there was no answer: an error that the agent told, or one
// of the connection.
func (t *talk) fault(err error, at time.Time) {
	told := belay.AgentResult{Class: belay.ClassUnknown, Cause: err.Error()}
	var e *acp.RequestError
	var b breach
	switch {
	case errors.As(err, &b):
		told.Class = belay.ClassInvalidInput
	case errors.As(err, &e):
		told = agent.ACPError(e.Code, e.Message, e.Data, at)
	}
	t.result.Error, t.result.Stop, t.result.Class = true, belay.StopError, told.Class
	t.result.Status, t.result.RetryAfter, t.result.Reset = told.Status, told.RetryAfter, told.Reset
	t.result.Cause = agent.Short(told.Cause, maxCause, t.hide)
}

// close is the result after the exit.
func (t *talk) close(e agent.Exit) belay.AgentResult {
	for _, call := range t.open {
		call.Open = true
		t.keep(call)
	}
	t.open = nil
	r := t.result
	r.Exit, r.Signal = e.Code, e.Signal
	r.Text, r.TextSize = t.text.String(), t.size
	if t.lost {
		r.Cut = agent.LongLine(maxMessage)
	}
	return r
}

// choose is the answer to a question for permission; nil when none fits. Who may
// only look is asked each time: what "always" is taken for is not known here.
func choose(p acp.RequestPermissionRequest, access agent.Access) *acp.PermissionOption {
	order := []acp.PermissionOptionKind{acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindAllowAlways}
	if access == agent.AccessRead {
		order = []acp.PermissionOptionKind{acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways}
		if looks(valueOf(p.ToolCall.Kind)) {
			order = append([]acp.PermissionOptionKind{acp.PermissionOptionKindAllowOnce}, order...)
		}
	}
	for _, kind := range order {
		for i := range p.Options {
			if p.Options[i].Kind == kind {
				return &p.Options[i]
			}
		}
	}
	return nil
}

func allows(k acp.PermissionOptionKind) bool {
	return k == acp.PermissionOptionKindAllowOnce || k == acp.PermissionOptionKindAllowAlways
}

// looks tells whether a tool changes nothing.
func looks(k acp.ToolKind) bool {
	return k == acp.ToolKindRead || k == acp.ToolKindSearch || k == acp.ToolKindThink
}

func (t *talk) name(k acp.ToolKind, title string) string {
	if k == "" || k == acp.ToolKindOther {
		return agent.Short(title, maxCommand, t.hide)
	}
	return string(k)
}

func pathOf(l []acp.ToolCallLocation) string {
	if len(l) == 0 {
		return ""
	}
	return l[0].Path
}

// commandOf is the command line in the input of a shell tool, under the names
// that agents give it, and whether it is too long to be looked at.
func commandOf(input any) (command string, long bool) {
	m, _ := input.(map[string]any)
	for _, name := range []string{"command", "cmd"} {
		switch v := m[name].(type) {
		case string:
			return cut(v, agent.MaxLook), len(v) > agent.MaxLook
		case []any:
			line := agent.CommandLine(wordsOf(v))
			return cut(line, agent.MaxLook), len(line) > agent.MaxLook
		}
	}
	return "", false
}

// wordsOf are the words of a command that is told as a list; one that is no text
// is shown as JSON.
func wordsOf(list []any) []string {
	words := make([]string, 0, len(list))
	for _, v := range list {
		w, ok := v.(string)
		if !ok {
			b, _ := json.Marshal(v) // it was JSON
			w = string(b)
		}
		words = append(words, w)
	}
	return words
}

// printed is what a command printed, where the agent tells it.
func printed(output any, content []acp.ToolCallContent) string {
	switch v := output.(type) {
	case string:
		return v
	case map[string]any:
		text := ""
		for _, name := range []string{"output", "aggregated_output", "stdout", "stderr"} {
			if s, _ := v[name].(string); s != "" && !strings.Contains(text, s) { // some tell it twice
				text += s + "\n"
			}
		}
		if text != "" {
			return text
		}
	}
	var text strings.Builder
	for _, c := range content {
		if c.Content != nil && c.Content.Content.Text != nil {
			text.WriteString(c.Content.Content.Text.Text + "\n")
		}
	}
	return text.String()
}

// exitOf is the exit code in the output of a shell tool, if it is told.
func exitOf(output any) *int {
	m, _ := output.(map[string]any)
	for _, name := range []string{"exit_code", "exitCode", "exit"} {
		if v, ok := m[name].(float64); ok {
			n := int(v)
			return &n
		}
	}
	return nil
}

func valueOf[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
