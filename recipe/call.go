package recipe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/spelling"
)

// Ref is a call of a sub-recipe.
type Ref struct {
	Name          string
	Step          belay.Path
	Pos           Pos  // of the name
	Unconditional bool // it is made whenever the recipe runs to its end
	Fallback      bool // it is made only when the step stays failed

	file string
}

// SubRecipes are the calls of the recipe, in the order of its steps.
func (r *Recipe) SubRecipes() []Ref {
	var refs []Ref
	for i := range r.Steps {
		s := &r.Steps[i]
		for c := range s.calls {
			refs = append(refs, Ref{
				Name: c.name, Step: s.ID, Pos: c.pos, Fallback: c.fallback, file: s.where(r),
				Unconditional: s.Condition == nil && !c.fallback && !s.IsFallback,
			})
		}
	}
	return refs
}

// CheckCalls follows the calls of root through lib, which has recipes by the
// names they are called by; a nil one is known but could not be read. It
// reports calls of recipes that are missing, recipes that certainly call
// themselves (such a run can only end at the limit of its depth), variables
// that are read and set by nothing or too late, and values that are handed to a
// recipe which has no use for them. given are the variables that the caller of
// root sets.
func CheckCalls(root *Recipe, lib map[string]*Recipe, given ...string) []Problem {
	return Calls{Lib: lib, Given: given}.Check(root)
}

// Calls is what is known about the recipes that a root calls.
type Calls struct {
	Lib   map[string]*Recipe // by the names they are called by
	Dirs  []string           // where they were looked for
	Given []string           // variables that the caller of root sets
	Fixed string             // the folder of recipes that nobody can change
}

// Check is CheckCalls.
func (c Calls) Check(root *Recipe) []Problem {
	if root == nil {
		return nil
	}
	g := &callGraph{lib: c.Lib, dirs: c.Dirs, fixed: c.Fixed, index: map[*Recipe]int{}}
	g.visit(root, "")
	g.variables(root, c.Given)
	for _, r := range g.recipes {
		for i := range r.Steps {
			g.wrongArgs(r, &r.Steps[i])
		}
	}
	g.unread(root)
	g.arithmetic(c.Given)
	g.secretUses()
	for _, cycle := range findCycles(g.edges) {
		g.circle(cycle)
	}
	return g.list()
}

// callGraph has the recipes that are reached, and an edge for every call
// without a condition.
type callGraph struct {
	report
	lib     map[string]*Recipe
	dirs    []string
	fixed   string
	index   map[*Recipe]int
	recipes []*Recipe
	names   []string
	edges   [][]int
	own     map[*Recipe]map[string]bool
	calls   map[string]called
	want    map[*Recipe]map[string]want
}

// visit adds a recipe and all that it calls. Many recipes may call one another,
// so the list of those to look at is kept here and not on the stack.
func (g *callGraph) visit(root *Recipe, name string) {
	g.node(root, name)
	for i := 0; i < len(g.recipes); i++ {
		for _, ref := range g.recipes[i].SubRecipes() {
			sub, known := g.lib[ref.Name]
			switch {
			case !known:
				g.missing(ref)
			case sub == nil: // its own problems say what is wrong
			case ref.Unconditional:
				g.edges[i] = append(g.edges[i], g.node(sub, ref.Name))
			default:
				g.node(sub, ref.Name)
			}
		}
	}
}

func (g *callGraph) node(r *Recipe, name string) int {
	if i, ok := g.index[r]; ok {
		if g.names[i] == "" {
			g.names[i] = name
		}
		return i
	}
	i := len(g.recipes)
	g.index[r] = i
	g.recipes, g.names, g.edges = append(g.recipes, r), append(g.names, name), append(g.edges, nil)
	return i
}

func (g *callGraph) missing(ref Ref) {
	names := make([]string, 0, len(g.lib))
	for name := range g.lib {
		names = append(names, name)
	}
	hint := nearest(ref.Name, names)
	if len(g.dirs) > 0 {
		looked := "looked for " + ref.Name + ".yaml and .yml in: " + strings.Join(g.dirs, ", ")
		hint = strings.TrimPrefix(hint+"; "+looked, "; ")
	}
	g.add(Problem{
		File: ref.file, Line: ref.Pos.Line, Col: ref.Pos.Col,
		Msg: fmt.Sprintf("no recipe named %q was found", ref.Name), Hint: hint,
	})
}

// circle reports a cycle at the call that closes it.
func (g *callGraph) circle(cycle []int) {
	from, to := cycle[0], cycle[1%len(cycle)]
	names := make([]string, 0, len(cycle)+1)
	for _, i := range cycle {
		names = append(names, g.names[i])
	}
	names = append(names, g.names[cycle[0]])
	in := g.recipes[from]
	for _, ref := range in.SubRecipes() {
		if ref.Unconditional && g.lib[ref.Name] == g.recipes[to] {
			g.add(Problem{
				File: ref.file, Line: ref.Pos.Line, Col: ref.Pos.Col,
				Msg:  "this call never ends: " + strings.Join(names, " → "),
				Hint: "give one of the calls a condition",
			})
			return
		}
	}
}

// nearest is a hint that names the word that was likely meant. The words come
// from a map, so they are sorted: the same mistake gets the same hint.
func nearest(word string, words []string) string {
	slices.Sort(words)
	return didYouMean(spelling.Near(word, words))
}

// RecipePos is the position of the sub-recipe's name.
func (s *Step) RecipePos() Pos { return s.recipePos }

// Where is the file in which a step of r was written: that of r, or of a recipe
// that r extends.
func (s *Step) Where(r *Recipe) string { return s.where(r) }
