package recipe

import "fmt"

// reckoned warns of scripts that reckon with a variable of the environment whose
// value the recipes or their caller set: unlike a placeholder, nothing checks
// that it is a number, and bash runs commands that are hidden in it.
func (g *callGraph) reckoned(given []string) {
	names := g.exported(given)
	for _, r := range g.recipes {
		for _, script := range []*Script{r.Hooks.PreStep, r.Hooks.PostStep, r.Hooks.OnError} {
			g.reads(r.File, script, names)
		}
		for i := range r.Steps {
			s := &r.Steps[i]
			g.reads(s.where(r), s.Script, names)
			g.reads(s.where(r), s.Verify, names)
		}
	}
}

// exported are the variables of the recipes by their names in a script.
func (g *callGraph) exported(given []string) map[string]string {
	names := map[string]string{}
	add := func(name string) {
		long, short := EnvNames(name)
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
		}
	}
	delete(names, "")
	return names
}

func (g *callGraph) reads(file string, script *Script, names map[string]string) {
	if script == nil {
		return
	}
	for _, read := range script.env {
		name, ours := names[read.name]
		if !ours {
			continue
		}
		u := reckoning{name: read.name, prompt: read.prompt}
		g.add(Problem{
			File: file, Line: read.pos.Line, Col: read.pos.Col, Warning: true, Hint: u.cure("{{" + name + "}}"),
			Msg: fmt.Sprintf("$%s holds the value of %q, and %s", read.name, name, u.harm()),
		})
	}
}
