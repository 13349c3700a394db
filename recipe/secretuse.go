package recipe

import (
	"fmt"
	"slices"
	"strings"
)

// secretUses refuses secrets where they cannot be: only the environment of a
// script has their values, so nothing can be computed with them before it
// starts, and nothing may be written down that holds one.
func (g *callGraph) secretUses() {
	secret := g.secrets()
	if len(secret) == 0 {
		return
	}
	for _, r := range g.recipes {
		hooks := []*Script{r.Hooks.PreStep, r.Hooks.PostStep, r.Hooks.OnError}
		g.misusedSecrets(r.File, r.hookUses, hooks, secret)
		for i := range r.Steps {
			s := &r.Steps[i]
			uses := slices.DeleteFunc(slices.Clone(s.uses), s.isItem)
			g.misusedSecrets(s.where(r), uses, []*Script{s.Script, s.Verify}, secret)
		}
	}
}

// secrets are the names that all recipes call secret. One that a step sets is
// a value like any other.
func (g *callGraph) secrets() map[string]bool {
	secret := map[string]bool{}
	for _, r := range g.recipes {
		for _, name := range r.Secrets {
			secret[name] = true
		}
	}
	if len(secret) == 0 {
		return nil
	}
	for _, r := range g.recipes {
		for name := range outputsOf(r.Steps) {
			delete(secret, name)
		}
	}
	return secret
}

func (g *callGraph) misusedSecrets(file string, uses []use, scripts []*Script, secret map[string]bool) {
	placed := map[Pos]*Use{}
	for _, s := range scripts {
		if s == nil {
			continue
		}
		for i := range s.Uses {
			placed[s.Uses[i].Pos] = &s.Uses[i]
		}
	}
	told := map[Pos]bool{}
	for _, u := range uses {
		at := placed[u.pos]
		if !secret[u.name] || told[u.pos] || at != nil && at.alone() {
			continue
		}
		told[u.pos] = true
		p := Problem{File: file, Line: u.pos.Line, Col: u.pos.Col, Msg: fmt.Sprintf("%q is a secret: only the environment of a script has its value", u.name)}
		p.Hint = fmt.Sprintf("read {{%s}} in a script; that of a sub-recipe can read it, too, without being handed it", u.name)
		if at != nil {
			p.Hint = fmt.Sprintf("write {{%s}} without anything else in the braces, or let the shell do the rest: %s", u.name, inShell(u.name, at))
		}
		g.add(p)
	}
}

func (u *Use) alone() bool {
	_, alone := u.Value.Alone()
	return alone
}

// inShell shows how a script reads a secret that may be missing.
func inShell(name string, u *Use) string {
	env, short := EnvNames(name)
	if short != "" {
		env = short
	}
	if strings.Contains(u.Value.String(), "default") {
		return `"${` + env + `:-…}"`
	}
	return `"$` + env + `"`
}
