package attend

import (
	"fmt"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
)

// unstarted is the result of an agent that could not be started.
func unstarted(o Order, err error) belay.AgentResult {
	r := belay.AgentResult{Error: true, Stop: belay.StopError, Class: belay.ClassInfrastructure, Exit: -1, Cause: err.Error()}
	if program, ok := notThere(err); ok {
		r.Cause = fmt.Sprintf("%s is not installed: there is no program %q; %s", o.Name, program, cure(o.Kind))
	}
	return r
}

// cure says what to do about a missing program.
func cure(k agent.Kind) string {
	switch k {
	case agent.Claude:
		return "npm install -g @anthropic-ai/claude-code"
	case agent.Codex:
		return "npm install -g @openai/codex"
	case agent.Gemini:
		return "npm install -g @google/gemini-cli"
	case agent.Copilot:
		return "npm install -g @github/copilot"
	case agent.OpenCode:
		return "npm install -g opencode-ai"
	case agent.Qwen:
		return "npm install -g @qwen-code/qwen-code"
	case agent.Command, agent.ACP, agent.Scripted:
	}
	return "check the agent's program in the configuration"
}
