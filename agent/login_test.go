package agent_test

import (
	"testing"

	"github.com/belay-run/belay/agent"
)

// What the CLIs print; the rest is what a wrapper or another version may say.
func TestLoggedOut(t *testing.T) {
	const no = "{\n  \"loggedIn\": false,\n  \"authMethod\": \"none\",\n  \"apiProvider\": \"firstParty\"\n}\n"
	const yes = "{\n  \"loggedIn\": true,\n  \"authMethod\": \"api_key_helper\"\n}\n"
	const warns = "WARNING: proceeding, even though we could not create PATH aliases\nNot logged in\n"
	for name, tt := range map[string]struct {
		kind      agent.Kind
		out, talk string
		exit      int
		want      bool
	}{
		"claude":                       {agent.Claude, no, "", 1, true},
		"claude with a helper":         {agent.Claude, yes, "", 0, false},
		"claude says no and ends in 0": {agent.Claude, no, "", 0, false},
		"an older claude":              {agent.Claude, "", "error: unknown command 'auth'", 1, false},
		"an object of another kind":    {agent.Claude, "{}", "", 1, false},
		"a script in its place":        {agent.Claude, "done", "", 1, false},
		"codex":                        {agent.Codex, "", warns, 1, true},
		"codex on stdout":              {agent.Codex, "Not logged in\r\n", "", 1, true},
		"codex with a key":             {agent.Codex, "", "Logged in using an API key - sk-***\n", 0, false},
		"a text about it":              {agent.Codex, "", "error: Not logged in to the host", 1, false},
		"killed":                       {agent.Codex, "Not logged in\n", "", -1, false},
		"one that cannot be asked":     {agent.Gemini, "Not logged in\n", "", 1, false},
	} {
		if got := agent.LoggedOut(tt.kind, tt.out, tt.talk, tt.exit); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
	for _, kind := range agent.Kinds() {
		if asked := agent.Known(kind).AskLogin != nil; asked != (kind == agent.Claude || kind == agent.Codex) {
			t.Errorf("%s is asked: %v", kind, asked)
		}
	}
}
