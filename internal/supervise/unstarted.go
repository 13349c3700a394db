package supervise

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
	if how := agent.Known(k).Install; how != "" {
		return how
	}
	return "check the agent's program in the configuration"
}
