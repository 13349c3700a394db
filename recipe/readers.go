package recipe

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/belay-run/belay"
)

// Readers tells who reads what the steps of recipes give, across recipes that
// call each other. It keeps what it found, and is for one goroutine.
type Readers struct {
	all  []*Recipe
	find func(name string) *Recipe
	by   map[*Recipe]spots
}

// inHooks stands for the hooks among the spots that read a name.
const inHooks = -1

// NewReaders knows root and what it calls; find gives a recipe by the name that it
// is called by, nil for one that nobody has.
func NewReaders(root *Recipe, find func(name string) *Recipe) *Readers {
	q := &Readers{all: []*Recipe{root}, find: find, by: map[*Recipe]spots{}}
	for i := 0; i < len(q.all); i++ {
		for _, ref := range q.all[i].SubRecipes() {
			if sub := find(ref.Name); sub != nil && !slices.Contains(q.all, sub) {
				q.all = append(q.all, sub)
			}
		}
	}
	return q
}

// Default is what an agent step that does not say what it expects must leave
// behind: an answer where somebody reads it, else a change. compat: as the older
// runner has it, where an answer is always enough.
func (q *Readers) Default(r *Recipe, i int, compat bool) belay.Expect {
	if compat || r.Compat || r.Steps[i].Isolate == IsolateCopy || q.Answered(r, i) {
		return belay.ExpectAnswer
	}
	return belay.ExpectChange
}

// Answered tells whether somebody reads what a step answers: another step of its
// recipe or its hooks, a recipe that is called there, or whoever calls its recipe.
func (q *Readers) Answered(r *Recipe, i int) bool {
	if r.Steps[i].readsAnswer() {
		return true
	}
	for _, name := range r.Steps[i].answers() {
		if q.reads(r, name, i, map[*Recipe]bool{}) || q.callerReads(r, name, map[returned]bool{}) {
			return true
		}
	}
	return false
}

// answers are the variables that a step's answer sets. A result that is a file
// is none: it is in the tree.
func (s *Step) answers() []string {
	var names []string
	if s.Output != "" {
		names = append(names, s.Output)
	}
	for _, o := range s.Outputs {
		if o.Path != "" || o.File == "" {
			names = append(names, o.Name)
		}
	}
	return names
}

// reads tells whether a recipe, or one that it calls, reads a variable elsewhere
// than in one of its steps.
func (q *Readers) reads(r *Recipe, name string, but int, seen map[*Recipe]bool) bool {
	if slices.ContainsFunc(q.index(r).of(name), func(k int) bool { return k != but }) {
		return true
	}
	seen[r] = true
	for _, ref := range r.SubRecipes() {
		if sub := q.find(ref.Name); sub != nil && !seen[sub] && q.reads(sub, name, nobody, seen) {
			return true
		}
	}
	return false
}

// nobody is no step.
const nobody = -2

// returned is a variable that comes back from a recipe.
type returned struct {
	from *Recipe
	name string
}

// callerReads tells whether a recipe that calls this one reads what comes back
// from it: the variable itself, or the object of all of them.
func (q *Readers) callerReads(r *Recipe, name string, seen map[returned]bool) bool {
	if seen[returned{r, name}] {
		return false
	}
	seen[returned{r, name}] = true
	for _, up := range q.all {
		for k := range up.Steps {
			s := &up.Steps[k]
			for c := range s.calls {
				if q.find(c.name) != r {
					continue
				}
				whole := s.Output != "" && (q.reads(up, s.Output, k, map[*Recipe]bool{}) || q.callerReads(up, s.Output, seen))
				if whole || q.reads(up, name, k, map[*Recipe]bool{r: true}) || q.callerReads(up, name, seen) {
					return true
				}
			}
		}
	}
	return false
}

// spots are who reads which variable in a recipe. Of each only two spots are
// kept: one of them may be the step that is asked about.
type spots struct {
	names map[string][]int
	words map[string][]int // of scripts, as the shell knows them
}

// of are the spots that read a variable.
func (p spots) of(name string) []int {
	long, short := EnvNames(name)
	return slices.Concat(p.names[name], p.words[long], p.words[short])
}

func note(m map[string][]int, name string, k int) {
	if list := m[name]; len(list) < 2 && !slices.Contains(list, k) {
		m[name] = append(list, k)
	}
}

func (q *Readers) index(r *Recipe) spots {
	if found, ok := q.by[r]; ok {
		return found
	}
	found := spots{map[string][]int{}, map[string][]int{}}
	for _, u := range r.hookUses {
		note(found.names, u.name, inHooks)
	}
	for k := range r.Steps {
		s := &r.Steps[k]
		for _, u := range s.uses {
			note(found.names, u.name, k)
		}
		for _, script := range []*Script{s.Script, s.Verify} {
			for word := range script.words {
				note(found.words, word, k)
			}
		}
	}
	q.by[r] = found
	return found
}

// words are the names behind a dollar sign in a script.
func (s *Script) words(yield func(string) bool) {
	if s == nil {
		return
	}
	for _, part := range strings.Split(s.Source, "$")[1:] {
		part = strings.TrimPrefix(part, "{")
		end := strings.IndexFunc(part, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if end < 0 {
			end = len(part)
		}
		if end > 0 && !yield(part[:end]) {
			return
		}
	}
}

// unread warns of agent steps that have an output which nobody reads, and do not
// say what they expect: they must leave a change, which their author may not mean.
func (g *callGraph) unread(root *Recipe) {
	q := NewReaders(root, func(name string) *Recipe { return g.lib[name] })
	for _, r := range g.recipes {
		for i := range r.Steps {
			s := &r.Steps[i]
			if !s.Type.Agent() || s.Expect != "" || s.Verify != nil || s.Output == "" || r.Compat || q.Answered(r, i) {
				continue
			}
			g.add(Problem{
				File: s.where(r), Line: s.Pos.Line, Col: s.Pos.Col, Warning: true,
				Msg:  fmt.Sprintf("nobody reads %q, so this agent must leave a change of files", s.Output),
				Hint: "say expect: answer if the answer is what you want, or expect: change",
			})
		}
	}
}
