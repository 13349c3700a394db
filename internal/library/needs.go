package library

import (
	"path/filepath"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/recipe"
)

// Need is what the steps of a run will want to be looked for.
type Need struct {
	Dirs []string // whose tests Belay runs, as far as they are known before the first step
	PR   bool     // a forge is asked
}

// maxPlaces bounds the walk through recipes that call each other.
const maxPlaces = 1000

// walk goes through a recipe and all that it calls.
type walk struct {
	set  *Set
	seen map[string]bool
	need Need
}

// Needs looks which directories a run of the recipe in dir tests.
func (s *Set) Needs(dir string) Need {
	w := &walk{set: s, seen: map[string]bool{}}
	w.recipe(s.Root, dir, true)
	return w.need
}

// recipe looks at one recipe in one directory; where that is known only later it
// still tells whether a forge is asked.
func (w *walk) recipe(r *recipe.Recipe, dir string, known bool) {
	mark := r.Digest + " " + dir
	if w.seen[mark] || len(w.seen) == maxPlaces {
		return
	}
	w.seen[mark] = true
	for i := range r.Steps {
		s := &r.Steps[i]
		at, fixed := DirOf(s, dir)
		fixed = fixed && known
		switch {
		case s.Verify != nil && s.Type.Agent():
		case s.Expect == string(belay.ExpectPR):
			w.need.PR = true
		case s.Expect == string(belay.ExpectTests) && fixed && r.Tests == nil && !slices.Contains(w.need.Dirs, at):
			w.need.Dirs = append(w.need.Dirs, at)
		}
		names := []string{s.Recipe}
		if s.Fallback != nil {
			names = append(names, s.Fallback.Recipe)
		}
		for _, name := range names {
			if sub := w.set.Library.Recipes[w.set.Library.Names[name]]; name != "" && sub != nil {
				w.recipe(sub, at, fixed)
			}
		}
	}
}

// DirOf is the directory of a step in a run in dir, and whether it is known
// before the run.
func DirOf(s *recipe.Step, dir string) (string, bool) {
	if s.Dir == nil {
		return dir, true
	}
	if len(s.Dir.Names()) > 0 {
		return dir, false
	}
	text := s.Dir.String()
	if filepath.IsAbs(text) {
		return filepath.Clean(text), true
	}
	return filepath.Join(dir, text), true
}
