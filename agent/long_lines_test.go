package agent

import (
	"strings"
	"testing"
)

// A line that could not be read makes an answer that is not whole, if it may
// have been a part of it, and until another takes its place.
// promise: H3
func TestMissed(t *testing.T) {
	t.Parallel()
	const codexSays = `{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"first"}}`
	const geminiSays = `{"type":"message","role":"assistant","content":"first","delta":true}`
	const ended = `{"type":"turn.completed"}`
	for name, c := range map[string]struct {
		kind   Kind
		before string
		missed string
		after  string
		cut    bool
	}{
		"claude, the result":       {Claude, "", `{"type": "result", "result": "aaa`, "", true},
		"claude, a tool":           {Claude, "", `{"type":"user","message":{"content":[{"type":"tool_result","content":"aaa`, `{"type":"result","result":"x"}`, false},
		"claude, a message":        {Claude, "", `{"type":"assistant","message":{"content":[{"type":"text","text":"aaa`, `{"type":"result","result":"x"}`, false},
		"qwen, the result":         {Qwen, "", `{"type":"result","result":"aaa`, "", true},
		"codex, the last word":     {Codex, codexSays, `{"type":"item.completed","item":{"id":"2","type":"agent_message","text":"aaa`, ended, true},
		"codex, not the last word": {Codex, "", `{"type":"item.completed","item":{"id":"2","type":"agent_message","text":"aaa`, codexSays, false},
		"codex, a command":         {Codex, codexSays, `{"type":"item.completed","item":{"id":"2","type":"command_execution","aggregated_output":"aaa`, ended, false},
		"gemini, a piece":          {Gemini, geminiSays, `{"type":"message","role":"assistant","content":"aaa`, geminiSays, true},
		"gemini, a tool":           {Gemini, geminiSays, `{"type":"tool_result","output":"aaa`, geminiSays, false},
		"copilot":                  {Copilot, "", `{"type":"assistant.message","data":{"content":"aaa`, "", true},
		"opencode":                 {OpenCode, "", `{"type":"text","part":{"text":"aaa`, "", true},
		"scripted":                 {Scripted, "", `{"type":"final","text":"aaa`, "", true},
		"nobody knows what":        {Codex, codexSays, `{"aaa`, ended, true},
		"command":                  {Command, "first", `aaa`, "", true},
	} {
		a, _ := New(c.kind)
		r := a.Reader()
		if c.before != "" {
			r.Line([]byte(c.before))
		}
		Missed(r, []byte(c.missed), 5)
		if c.after != "" {
			r.Line([]byte(c.after))
		}
		res := r.End(Exit{})
		if cut := res.Cut != ""; cut != c.cut || cut && !strings.Contains(res.Cut, "more than 5 bytes") {
			t.Errorf("%s: cut %q, text %q", name, res.Cut, res.Text)
		}
	}
}
