package belaytest

import "slices"

// Ability is what a driver may lack and still be a driver of shell steps: the
// simulator has no agents, for one. A driver that says that it has one is held
// to all cases that need it.
type Ability string

const (
	Agents    Ability = "agents"     // agent steps, played by the scripted agent
	Helpers   Ability = "helpers"    // agents that repair, plan, and finish what a sub-recipe left
	BigValues Ability = "big values" // values that are too big for a record
	Secrets   Ability = "secrets"    // values of the environment that are hidden
	Worktrees Ability = "worktrees"  // a working tree for each agent of several, and the merge of their work
	Budgets   Ability = "budgets"    // what the agents of a run may use
	Breakers  Ability = "breakers"   // services that failed often are left alone

	// Sessions: the PATH of steps has a program nest. "nest NAME" makes a run of
	// the sub-recipe NAME in the directory that it is started in, with the first
	// agent of the case, drives it to its rest with the same driver, and ends with
	// its exit code.
	Sessions Ability = "sessions"
)

// Abilities are all there are.
func Abilities() []Ability {
	return []Ability{Agents, Helpers, BigValues, Secrets, Worktrees, Budgets, Breakers, Sessions}
}

// lacks are the abilities that are needed and not there.
func lacks(have, need []Ability) []Ability {
	var missing []Ability
	for _, a := range need {
		if !slices.Contains(have, a) {
			missing = append(missing, a)
		}
	}
	return missing
}
