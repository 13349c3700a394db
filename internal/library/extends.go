package library

import (
	"path/filepath"
	"strings"

	"github.com/belay-run/belay/recipe"
)

// Parse reads one recipe the way a run reads it.
func Parse(file string, src []byte, compat bool, opts ...recipe.Option) (*recipe.Recipe, []recipe.Problem) {
	if compat {
		opts = append(opts, recipe.Compat())
	}
	return recipe.Parse(file, src, opts...)
}

// add reads one recipe with all that it extends; nil when there is an error.
func (f Shelf) add(s *Set, path string, src []byte) (*recipe.Recipe, error) {
	r := s.read(path, src)
	if r == nil {
		return nil, nil
	}
	line, err := f.ancestors(s, r)
	if err != nil {
		return nil, err
	}
	merged, problems := recipe.Inherit(r, line)
	s.Problems = append(s.Problems, problems...)
	if merged != nil {
		s.Library.Recipes[merged.Digest] = merged
	}
	return merged, nil
}

// read parses a source and keeps it.
func (s *Set) read(path string, src []byte) *recipe.Recipe {
	s.texts[path] = src
	r, problems := Parse(path, src, s.Compat)
	s.Problems = append(s.Problems, problems...)
	if r != nil {
		s.Sources[r.Digest] = src
	}
	return r
}

// ancestors reads what a recipe extends, by name. Each parent is looked for
// beside its child first, then where all recipes are.
func (f Shelf) ancestors(s *Set, r *recipe.Recipe) (map[string]*recipe.Recipe, error) {
	line := map[string]*recipe.Recipe{}
	for r.Extends != "" {
		if _, again := line[r.Extends]; again {
			break // a circle: Inherit says so
		}
		dirs := append([]string{filepath.Dir(r.File)}, f.Dirs...)
		path, src, err := f.open(r.Extends, append(append(dirs, f.Work), f.More...))
		if err != nil {
			return nil, err
		}
		if path == "" {
			break // Inherit says where it is missed
		}
		parent := s.read(path, src)
		line[r.Extends] = parent
		if parent == nil {
			break
		}
		s.Parents[r.Digest] = parent.Digest
		r = parent
	}
	return line, nil
}

// extended marks the digest of a child among the frozen names; no recipe's
// name has a blank in it.
const extended = "extends "

// Frozen is what a run must remember to find all its recipes again: sub-recipes
// by name, and parents by the digest of their child.
func (s *Set) Frozen() map[string]string {
	frozen := make(map[string]string, len(s.Library.Names)+len(s.Parents))
	for name, d := range s.Library.Names {
		frozen[name] = d
	}
	for child, parent := range s.Parents {
		frozen[extended+child] = parent
	}
	return frozen
}

// LoadFrozen takes what Frozen made apart again.
func LoadFrozen(frozen map[string]string) (names, parents map[string]string) {
	names, parents = map[string]string{}, map[string]string{}
	for name, d := range frozen {
		if child, ok := strings.CutPrefix(name, extended); ok {
			parents[child] = d
			continue
		}
		names[name] = d
	}
	return names, parents
}

// Merge puts recipes, by digest, together with what they extend; nil when one
// of them cannot be.
func Merge(raw map[string]*recipe.Recipe, parents map[string]string) (map[string]*recipe.Recipe, []recipe.Problem) {
	merged := make(map[string]*recipe.Recipe, len(raw))
	for digest, r := range raw {
		line := map[string]*recipe.Recipe{}
		for at := r; at != nil && at.Extends != "" && line[at.Extends] == nil; {
			parent := raw[parents[at.Digest]]
			if parent == nil {
				break // Inherit says where it is missed
			}
			line[at.Extends] = parent
			at = parent
		}
		m, problems := recipe.Inherit(r, line)
		if m == nil {
			return nil, problems
		}
		merged[digest] = m
	}
	return merged, nil
}
