package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/roster"
	"github.com/belay-run/belay/recipe"
)

// toolless are the agents to whom single tools cannot be allowed: what a role
// names is no ability of theirs. None where no role names any.
func toolless(cfg *config.Config, r *roster.Roster) []string {
	if !slices.ContainsFunc(slices.Collect(maps.Values(cfg.Recovery.Roles)), func(p event.Profile) bool { return len(p.Tools) > 0 }) {
		return nil
	}
	var names []string
	for _, name := range r.Names() {
		if unheeding(r, name) {
			names = append(names, name)
		}
	}
	return names
}

// unheeding tells whether an agent is known not to heed single tools.
func unheeding(r *roster.Roster, name string) bool {
	e, err := r.Get(name)
	return err == nil && !agent.HeedsTools(e.Kind)
}

// vain is a warning about tools that do nothing, and the text of the file that
// it is about; nil for a recipe.
type vain struct {
	problem recipe.Problem
	text    []byte
}

// vainTools warns of roles whose tools do nothing: in the settings where the
// role has an agent that does not heed them, and in a recipe where a step gives
// the role to such an agent. usual does the steps that name nobody.
func vainTools(cfg *config.Config, r *roster.Roster, set *library.Set, usual string) []vain {
	const warning = "role %s has tools, and they do nothing for %s %s: single tools cannot be allowed to it"
	var list []vain
	agents := false
	for _, digest := range slices.Sorted(maps.Keys(set.Library.Recipes)) {
		rec := set.Library.Recipes[digest]
		for i := range rec.Steps {
			s := &rec.Steps[i]
			agents = agents || s.Type.Agent()
			p := cfg.Recovery.Roles[s.Role]
			who := firstDoer(s, p, usual)
			if len(p.Tools) == 0 || who == p.Agent || !unheeding(r, who) {
				continue
			}
			file, at := s.RoleAt(rec)
			list = append(list, vain{problem: vainly(file, at.Line, at.Col, fmt.Sprintf(warning, s.Role, "agent", who))})
		}
	}
	for _, role := range slices.Sorted(maps.Keys(cfg.Recovery.Tools)) {
		p, at := cfg.Recovery.Roles[role], cfg.Recovery.Tools[role]
		if agents && len(p.Tools) > 0 && p.Agent != "" && unheeding(r, p.Agent) {
			list = append(list, vain{vainly(at.File, at.Line, at.Col, fmt.Sprintf(warning, role, "its agent", p.Agent)), at.Text})
		}
	}
	return list
}

// firstDoer is who does a step of a role at first.
func firstDoer(s *recipe.Step, p event.Profile, usual string) string {
	if s.Agent != "" && !strings.Contains(s.Agent, ":") {
		return s.Agent
	}
	return cmp.Or(p.Agent, usual)
}

func vainly(file string, line, col int, msg string) recipe.Problem {
	var know []string
	for _, kind := range agent.Kinds() {
		if agent.HeedsTools(kind) && kind != agent.Scripted {
			know = append(know, string(kind))
		}
	}
	return recipe.Problem{
		File: file, Line: line, Col: col, Warning: true, Msg: msg,
		Hint: "give the role more access, or one of " + strings.Join(know, ", "),
	}
}
