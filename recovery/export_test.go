package recovery

import "github.com/belay-run/belay"

// What the tests of other policies, which import this room, share with its own.
type Story = story

var (
	Now                              = now
	ShellStep, AgentStep, RecipeStep = shell, agentStep, recipeStep
	With, Play, Each, Ended, Starts  = with, play, each, ended, starts
	FailureOf                        = failure
)

func (y *story) Acts() string        { return y.acts() }
func (y *story) Plans() []belay.Plan { return y.plans }

// Most is how many decisions a policy with so many retries takes at most.
func (y *story) Most(retries int) int {
	return max(y.s.Declared.MaxAttempts-1, 0) + retries + y.s.maxReplans() + 2
}
