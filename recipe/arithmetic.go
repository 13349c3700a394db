package recipe

import (
	"fmt"
	"strings"
)

// arithmetic warns of scripts that calculate with a variable of the environment whose
// value the recipes or their caller set: unlike a placeholder, nothing checks
// that it is a number, and bash runs commands that are hidden in it.
func (g *callGraph) arithmetic(given []string) {
	var names, hidden map[string]string // made when a script reads something
	reads := func(file string, script *Script) {
		if script == nil || len(script.env) == 0 {
			return
		}
		if names == nil {
			names, hidden = g.exported(given)
		}
		g.reads(file, script, names, hidden)
	}
	for _, r := range g.recipes {
		for _, script := range []*Script{r.Hooks.PreStep, r.Hooks.PostStep, r.Hooks.OnError} {
			reads(r.File, script)
		}
		for i := range r.Steps {
			s := &r.Steps[i]
			reads(s.where(r), s.Script)
			reads(s.where(r), s.Verify)
		}
	}
}

// exported are the variables of the recipes by their names in a script; hidden
// are those whose short names the system has, by these.
func (g *callGraph) exported(given []string) (names, hidden map[string]string) {
	names, hidden = map[string]string{}, map[string]string{}
	add := func(name string) {
		long, short := EnvNames(name)
		if short == "" {
			hidden[strings.ToUpper(shellName(name))] = name
		}
		for _, env := range []string{long, short} {
			if other, clash := names[env]; !clash || name < other { // the same one each time
				names[env] = name
			}
		}
	}
	for _, name := range given {
		add(name)
	}
	for _, r := range g.recipes {
		for name := range g.owns(r) {
			add(name)
		}
		for i := range r.Steps {
			s := &r.Steps[i]
			for _, a := range s.Context {
				add(a.Name)
			}
			if s.Foreach != "" {
				add(s.As)
			}
			if s.Repeat != nil {
				add(RoundVar)
				add(LastVar)
			}
			if s.Finally {
				add(RunVar)
			}
		}
	}
	delete(names, "")
	return names, hidden
}

func (g *callGraph) reads(file string, script *Script, names, hidden map[string]string) {
	for _, read := range script.env {
		if read.kept {
			g.keeps(file, read, hidden)
			continue
		}
		name, ours := names[read.name]
		if !ours {
			continue
		}
		u := arithmeticUse{name: read.name, prompt: read.prompt}
		g.add(Problem{
			File: file, Line: read.pos.Line, Col: read.pos.Col, Warning: true, Hint: u.cure("{{" + name + "}}"),
			Msg: fmt.Sprintf("$%s holds the value of %q, and %s", read.name, name, u.harm()),
		})
	}
}
