package agent

import (
	"encoding/json"
	"slices"
	"strings"
)

// AskLogin is the arguments by which a CLI tells whether it is logged in: it
// looks at what it has and asks no service. nil = it has no such command.
func AskLogin(kind Kind) []string {
	switch kind {
	case Claude:
		return []string{"auth", "status"}
	case Codex:
		return []string{"login", "status"}
	case Gemini, Copilot, OpenCode, Qwen, Command, ACP, Scripted:
	}
	return nil
}

// LoggedOut reads the answer to AskLogin. Only a clear no is one: a version
// without the command, a wrapper or a hang says nothing.
func LoggedOut(kind Kind, out, talk string, exit int) bool {
	if exit != 1 {
		return false
	}
	switch kind {
	case Claude:
		var says struct {
			LoggedIn *bool `json:"loggedIn"` //nolint:tagliatelle // as the CLI writes it
		}
		return json.Unmarshal([]byte(out), &says) == nil && says.LoggedIn != nil && !*says.LoggedIn
	case Codex:
		lines := strings.Split(strings.ReplaceAll(out+"\n"+talk, "\r", ""), "\n")
		return slices.Contains(lines, "Not logged in")
	case Gemini, Copilot, OpenCode, Qwen, Command, ACP, Scripted:
	}
	return false
}
