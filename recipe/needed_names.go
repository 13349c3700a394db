package recipe

import (
	"fmt"
	"maps"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/spelling"
)

// want is a variable that a recipe cannot do without and does not set, and the
// place that says so.
type want struct {
	file string
	pos  Pos
	rule bool // by context_validation
}

// wants finds, for every recipe that is called, what it and those it calls want
// from their callers. Recipes may call each other in circles, so it goes on
// until nothing is new; callees come first, which makes that quick.
func (g *callGraph) wants() map[*Recipe]map[string]want {
	all := make(map[*Recipe]map[string]want, len(g.recipes))
	own := make(map[*Recipe]map[string]bool, len(g.recipes))
	for _, r := range g.recipes {
		own[r] = g.supplied(r)
		all[r] = r.ownWants(own[r])
	}
	for news := true; news; {
		news = false
		for _, r := range slices.Backward(g.recipes) {
			for i := range r.Steps {
				s := &r.Steps[i]
				for c := range s.calls {
					for name, w := range s.passedUp(all[g.lib[c.name]]) {
						if _, known := all[r][name]; !known && !own[r][name] {
							all[r][name], news = w, true
						}
					}
				}
			}
		}
	}
	return all
}

// supplied are the names that a recipe brings along: its defaults, what its
// steps and those of its callees set, and secrets, which come from outside.
func (g *callGraph) supplied(r *Recipe) map[string]bool {
	names := outputsOf(r.Steps)
	for _, v := range r.Context {
		names[v.Name] = true
	}
	for _, v := range r.Rules {
		if v.Kind == RuleOptional {
			names[v.Name] = true
		}
	}
	for _, any := range g.recipes {
		for _, name := range any.Secrets {
			names[name] = true
		}
	}
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Foreach == "" {
			for c := range s.calls {
				maps.Copy(names, g.call(c.name).sets)
			}
		}
	}
	return names
}

// ownWants are those of the recipe itself, each with the first place.
func (r *Recipe) ownWants(own map[string]bool) map[string]want {
	all := map[string]want{}
	add := func(name string, w want) {
		if _, known := all[name]; !known && !own[name] {
			all[name] = w
		}
	}
	for _, v := range r.Rules {
		if v.Kind != RuleOptional {
			add(v.Name, want{r.File, v.Pos, true})
		}
	}
	if r.Compat {
		return all // what is missing is empty there
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		for _, u := range s.uses {
			if !u.maybe && !s.isItem(u) && !s.ofRound(u) && !s.ofFinally(u) {
				add(u.name, want{file: s.where(r), pos: u.pos})
			}
		}
	}
	for _, u := range r.hookUses {
		if !u.maybe {
			add(u.name, want{file: r.File, pos: u.pos})
		}
	}
	return all
}

// passedUp are the wants of the recipe that a step calls which the step itself
// does not fulfil.
func (s *Step) passedUp(all map[string]want) map[string]want {
	if len(all) == 0 {
		return nil
	}
	left := maps.Clone(all)
	for _, a := range s.Context {
		delete(left, a.Name)
	}
	if s.Foreach != "" {
		delete(left, s.As)
	}
	delete(left, s.Item)
	if s.Repeat != nil {
		delete(left, RoundVar)
		delete(left, LastVar)
	}
	if s.Finally {
		delete(left, RunVar)
	}
	return left
}

// handed checks that what the recipes called by step i want is there by then.
func (sc *scope) handed(i int) {
	for c := range sc.r.Steps[i].calls {
		sc.handedTo(i, c)
	}
}

func (sc *scope) handedTo(i int, c callee) {
	s := &sc.r.Steps[i]
	left := s.passedUp(sc.g.want[sc.g.lib[c.name]])
	if len(left) == 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		if sc.first[name] || sc.open {
			continue
		}
		w := left[name]
		verb := "reads"
		if w.rule {
			verb = "asks for"
		}
		p := Problem{File: s.where(sc.r), Line: c.pos.Line, Col: c.pos.Col, Warning: sc.r.Compat}
		p.Msg = fmt.Sprintf("the recipe %q %s %q (%s:%d:%d), and ", c.name, verb, name, w.file, w.pos.Line, w.pos.Col)
		switch by, when := sc.soonest(i, name); when {
		case setBefore:
			continue
		case setNever:
			p.Msg += "nothing sets it"
			p.Hint = didYouMean(spelling.Near(name, slices.Sorted(maps.Keys(sc.known))))
			if p.Hint == "" {
				p.Hint = fmt.Sprintf("hand it down with context: {%s: …}, give it a default under context:, or a value with --set %s=…", name, name)
			}
		case setMeanwhile:
			p.Warning = true
			p.Msg += fmt.Sprintf("step %q sets it, which this step does not wait for", by)
			p.Hint = fmt.Sprintf("write needs: [%s]", by)
			if s.IsFallback {
				p.Hint = "give it a default under context:"
			}
		case setLater:
			p.Msg += fmt.Sprintf("only step %q sets it, which runs later", by)
			p.Hint = "put this step after it, or give it a default under context:"
		}
		sc.g.add(p)
	}
}

// setWhen says when a name is set, seen from a step.
type setWhen int

const (
	setNever setWhen = iota
	setBefore
	setMeanwhile
	setLater
)

// soonest tells when, seen from step i, a name is set first, and by which step.
func (sc *scope) soonest(i int, name string) (by belay.Path, when setWhen) {
	if sc.order == nil {
		sc.order = newOrder(sc.r.Steps)
	}
	for _, j := range sc.by[name] {
		switch {
		case j == i:
		case sc.order.before(j, i):
			return sc.r.Steps[j].ID, setBefore
		case !sc.order.before(i, j):
			by, when = sc.r.Steps[j].ID, setMeanwhile
		case when == setNever:
			by, when = sc.r.Steps[j].ID, setLater
		}
	}
	return by, when
}
