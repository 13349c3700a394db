package belaytest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/belaytest"
	"github.com/belay-run/belay/event"
)

// TestCasesSayWhatTheyNeed: a case that uses what a driver may lack says so, and
// nothing that a driver may lack is without a case.
func TestCasesSayWhatTheyNeed(t *testing.T) {
	t.Parallel()
	needed, names := map[belaytest.Ability]bool{}, map[string]bool{}
	for _, c := range belaytest.Cases() {
		if names[c.Name] {
			t.Errorf("there are two cases %q", c.Name)
		}
		names[c.Name] = true
		for _, a := range c.Needs {
			needed[a] = true
			if !slices.Contains(belaytest.Abilities(), a) {
				t.Errorf("%s: there is no ability %q", c.Name, a)
			}
		}
		for a, uses := range used(c) {
			if uses && !slices.Contains(c.Needs, a) {
				t.Errorf("%s: it uses %s and does not say so", c.Name, a)
			}
		}
	}
	for _, a := range belaytest.Abilities() {
		if !needed[a] {
			t.Errorf("no case needs %s", a)
		}
	}
}

// used is what can be seen of what a case uses.
func used(c belaytest.Case) map[belaytest.Ability]bool {
	text := c.Recipe
	for _, src := range c.Subs {
		text += src
	}
	helped, shared := false, map[event.Count]bool{}
	for name := range c.Want.Helpers {
		_, role, _ := strings.Cut(name, "@")
		helped = helped || slices.Contains([]belay.Role{belay.RoleRepair, belay.RolePlan, belay.RoleRecovery}, belay.Role(role))
	}
	for _, a := range c.Acts {
		shared[a.What] = true
	}
	return map[belaytest.Ability]bool{
		belaytest.Agents:    len(c.Agents) > 0 || strings.Contains(text, "type: agent"),
		belaytest.Helpers:   helped,
		belaytest.BigValues: strings.Contains(text, "printf '"),
		belaytest.Secrets:   strings.Contains(text, "secrets:"),
		belaytest.Worktrees: strings.Contains(text, "parallel_group"),
		belaytest.Budgets:   c.Budget != belay.Budget{} || shared[event.CountBudget],
		belaytest.Breakers:  shared[event.CountBreakers],
		belaytest.Sessions:  strings.Contains(text, "nest "),
	}
}
