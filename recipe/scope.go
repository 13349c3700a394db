package recipe

import (
	"fmt"
	"maps"
	"slices"

	"github.com/belay-run/belay/internal/spelling"
)

// variables checks that every variable which root reads is set by something before
// it is read: a default, the command line, a step, or a sub-recipe whose
// variables come back. What a sub-recipe reads must be there when it is called.
func (g *callGraph) variables(root *Recipe, given []string) {
	sc := newScope(g, root, given)
	for _, u := range root.hookUses {
		by, found := sc.setters(u.name) // in the order of the steps
		if !found || len(by) > 0 && root.Steps[by[0]].Finally && !sc.first[u.name] && !sc.open {
			sc.nobody(root, root.File, u)
		}
	}
	g.want = g.wants()
	for i := range root.Steps {
		sc.step(i)
		sc.handed(i)
	}
}

// where is the file in which a step was written.
func (s *Step) where(r *Recipe) string {
	if s.file != "" {
		return s.file
	}
	return r.File
}

// owns are the variables that a recipe declares or sets by itself.
func (g *callGraph) owns(r *Recipe) map[string]bool {
	if own := g.own[r]; own != nil {
		return own
	}
	own := outputsOf(r.Steps)
	for _, v := range r.Context {
		own[v.Name] = true
	}
	for _, v := range r.Rules {
		own[v.Name] = true
	}
	for _, name := range r.Secrets {
		own[name] = true
	}
	if g.own == nil {
		g.own = map[*Recipe]map[string]bool{}
	}
	g.own[r] = own
	return own
}

// called is what is known of a sub-recipe and of all that it calls. unknown is
// true when one of them could not be read.
type called struct {
	sets    map[string]bool // what its steps set comes back to the caller
	owns    map[string]bool // what it declares or sets
	unknown bool
}

func (g *callGraph) call(name string) called {
	if c, done := g.calls[name]; done {
		return c
	}
	c := called{sets: map[string]bool{}, owns: map[string]bool{}}
	queue, seen := []string{name}, map[string]bool{name: true}
	for len(queue) > 0 {
		sub := g.lib[queue[0]]
		queue = queue[1:]
		if sub == nil {
			c.unknown = true
			continue
		}
		maps.Copy(c.owns, g.owns(sub))
		maps.Copy(c.sets, outputsOf(sub.Steps[:sub.Body()]))
		for _, ref := range sub.SubRecipes() {
			if !seen[ref.Name] {
				seen[ref.Name] = true
				queue = append(queue, ref.Name)
			}
		}
	}
	if g.calls == nil {
		g.calls = map[string]called{}
	}
	g.calls[name] = c
	return c
}

// scope is what the steps of one recipe can read, and from when on.
type scope struct {
	g     *callGraph
	r     *Recipe
	first map[string]bool  // there before the first step
	by    map[string][]int // name to the steps that set it
	known map[string]bool  // all of them
	open  bool             // a sub-recipe that could not be read may set anything
	order *order
}

func newScope(g *callGraph, r *Recipe, given []string) *scope {
	sc := &scope{g: g, r: r, first: map[string]bool{}, by: make(map[string][]int, len(r.Steps)), known: maps.Clone(g.owns(r))}
	for _, v := range r.Context {
		sc.first[v.Name] = true
	}
	for _, v := range r.Rules {
		sc.first[v.Name] = true
	}
	for _, name := range slices.Concat(r.Secrets, given) {
		sc.first[name], sc.known[name] = true, true
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		for name := range s.Sets {
			sc.by[name] = append(sc.by[name], i)
		}
		if s.Foreach != "" { // many items bring only their output
			continue
		}
		for c := range s.calls {
			sub := g.call(c.name)
			sc.open = sc.open || sub.unknown
			for name := range sub.sets {
				sc.sets(name, i)
			}
		}
	}
	return sc
}

// sets notes that a recipe which step i calls sets a name.
func (sc *scope) sets(name string, i int) {
	sc.known[name] = true
	if by := sc.by[name]; len(by) == 0 || by[len(by)-1] != i {
		sc.by[name] = append(by, i)
	}
}

// setters are the steps that set a name; found is false when nothing does.
func (sc *scope) setters(name string) (steps []int, found bool) {
	steps = sc.by[name]
	return steps, len(steps) > 0 || sc.first[name] || sc.open
}

// step checks what step i reads.
func (sc *scope) step(i int) {
	s := &sc.r.Steps[i]
	for _, u := range s.uses {
		if u.maybe || sc.first[u.name] || s.isItem(u) || s.ofRound(u) || s.ofFinally(u) {
			continue
		}
		setters, found := sc.setters(u.name)
		switch {
		case u.outside && u.name == s.As && len(setters) == 0:
			sc.g.add(Problem{
				File: s.where(sc.r), Line: u.pos.Line, Col: u.pos.Col, Hint: "let the script itself leave an item out",
				Msg: fmt.Sprintf("%q is not there yet: a condition is looked at once, before the items of foreach", u.name),
			})
		case !found, len(setters) == 0:
			sc.nobody(sc.r, s.where(sc.r), u)
		case len(setters) > 0 && !sc.open:
			sc.when(i, u, setters)
			sc.unsure(i, u)
		}
	}
}

// when checks that a name is set before step i reads it.
func (sc *scope) when(i int, u use, setters []int) {
	if sc.order == nil {
		sc.order = newOrder(sc.r.Steps)
	}
	meanwhile := -1
	for _, j := range setters {
		switch {
		case j == i:
		case sc.order.before(j, i):
			return
		case !sc.order.before(i, j):
			meanwhile = j
		}
	}
	s := &sc.r.Steps[i]
	p := Problem{File: s.where(sc.r), Line: u.pos.Line, Col: u.pos.Col, Warning: sc.r.Compat}
	setter := sc.r.Steps[setters[0]].ID
	switch {
	case meanwhile >= 0:
		setter = sc.r.Steps[meanwhile].ID
		p.Warning = true
		p.Msg = fmt.Sprintf("%q is set by step %q, which this step does not wait for", u.name, setter)
		p.Hint = fmt.Sprintf("write needs: [%s]", setter)
		switch by := &sc.r.Steps[meanwhile]; {
		case s.Group != "":
			p.Hint = "take one of them out of the group"
		case s.IsFallback && sc.order.original[i] == meanwhile:
			p.Msg = fmt.Sprintf("%q is set by step %q, which has failed when this step runs", u.name, setter)
			p.Hint = "give it a default under context:"
		case s.IsFallback || by.IsFallback:
			p.Hint = "give it a default under context:"
		}
	case setters[0] == i && len(setters) == 1:
		p.Msg = fmt.Sprintf("%q is set only by this step itself", u.name)
		p.Hint = "give it a default under context:"
	default:
		if setters[0] == i {
			setter = sc.r.Steps[setters[1]].ID
		}
		p.Msg = fmt.Sprintf("%q is set only by step %q, which runs later", u.name, setter)
		p.Hint = "give it a default under context:, or put this step after it"
	}
	sc.g.add(p)
}

// nobody reports a name that nothing sets.
func (sc *scope) nobody(r *Recipe, file string, u use) {
	if u.maybe || sc.g.full() {
		return
	}
	hint := didYouMean(spelling.Near(u.name, slices.Sorted(maps.Keys(sc.known))))
	switch {
	case u.name == "env":
		hint = "a variable of the environment is $NAME in a command; --var-env NAME gives one to the recipe"
	case hint == "" && sc.open:
		return // the recipe that could not be read may set it
	case hint == "":
		hint = fmt.Sprintf("give it a default under context:, or a value with --set %s=…", u.name)
	}
	sc.g.add(Problem{
		File: file, Line: u.pos.Line, Col: u.pos.Col, Hint: hint, Warning: r.Compat || sc.open,
		Msg: fmt.Sprintf("nothing sets the variable %q", u.name),
	})
}
