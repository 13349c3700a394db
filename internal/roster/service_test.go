package roster

import (
	"testing"

	"github.com/belay-run/belay/agent"
)

// Agents that share a login share what is counted of its service.
// promise: G4
func TestServiceOfAnAgent(t *testing.T) {
	m := machine{t, t.TempDir()}
	claude := m.put("bin/claude", 0o700)
	m.put("bin/wrapped", 0o700)
	m.put("bin/acp", 0o700)
	r := m.roster([]agent.Agent{
		{Name: "fast", Kind: agent.Claude, Model: "haiku"},
		{Name: "full", Kind: agent.Claude, Program: []string{claude}},
		{Name: "work", Kind: agent.Claude, Program: []string{"wrapped"}},
		{Name: "deep", Kind: agent.OpenCode, Model: "deepseek/r1"},
		{Name: "deeper", Kind: agent.OpenCode, Model: "deepseek/v3"},
		{Name: "plain", Kind: agent.OpenCode},
		{Name: "one", Kind: agent.ACP, Program: []string{"acp", "one"}},
		{Name: "two", Kind: agent.ACP, Program: []string{"acp", "two"}},
		{Name: "uno", Kind: agent.ACP, Program: []string{"acp", "one"}},
		{Name: "play", Kind: agent.Scripted, Script: "a"},
	})
	for name, want := range map[string]string{
		"claude": "claude", "fast": "claude", "full": "claude", "work": "work",
		"deep": "deep", "deeper": "deep", "plain": "opencode", "opencode": "opencode",
		"one": "one", "uno": "one", "two": "two",
		"play": "play", "scripted:file": "scripted:file", "nobody": "nobody",
		"codex": "codex", // it is not there
	} {
		if got := r.Service(name); got != want {
			t.Errorf("the service of %s is %s, want %s", name, got, want)
		}
	}
}
