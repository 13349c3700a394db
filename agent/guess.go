package agent

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Guess says whose records a transcript holds, by the shape of the first of
// them that tells; text without any is a command's.
func Guess(transcript []byte) Kind {
	found := Command
	for line := range bytes.Lines(transcript) {
		var r struct {
			Type    string          `json:"type"`
			Subtype string          `json:"subtype"`
			Claude  string          `json:"claude_code_version"`
			Qwen    string          `json:"qwen_code_version"`
			OpenID  string          `json:"sessionID"` //nolint:tagliatelle // opencode's word
			ID      string          `json:"session_id"`
			Session string          `json:"session"`
			Data    json.RawMessage `json:"data"`
		}
		if json.Unmarshal(line, &r) != nil || r.Type == "" {
			continue
		}
		switch {
		case r.Claude != "":
			return Claude
		case r.Qwen != "":
			return Qwen
		case r.OpenID != "":
			return OpenCode
		case strings.HasPrefix(r.Type, "thread.") || strings.HasPrefix(r.Type, "turn.") || strings.HasPrefix(r.Type, "item."):
			return Codex
		case r.Type == "init" && r.ID != "":
			return Gemini
		case len(r.Data) > 0 && strings.Contains(r.Type, "."):
			return Copilot
		case r.Type == "session" && r.Session != "":
			return Scripted
		case found == Command && r.ID != "": // claude's format, which others took over; nothing says who
			found = Claude
		}
	}
	return found
}
