package engine

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/recipe"
)

// loadFrozen parses the frozen recipes of a run again.
func loadFrozen(first event.Record, blobs Blobs) (flow.Library, error) {
	e, ok := first.Event.(event.RunStarted)
	if !ok {
		return flow.Library{}, exit.New(exit.Damaged, "read journal", fmt.Errorf("the first record is %s", first.Event.Kind()), "")
	}
	names, parents := library.LoadFrozen(e.Frozen)
	digests := []string{e.Recipe}
	for _, d := range e.Frozen {
		digests = append(digests, d)
	}
	raw := map[string]*recipe.Recipe{}
	for _, d := range digests {
		if raw[d] != nil {
			continue
		}
		src, err := blobs.ReadBlob(d, recipe.MaxBytes)
		if err != nil {
			return flow.Library{}, exit.New(exit.Damaged, "read frozen recipe", err, "the run's folder is not complete")
		}
		file := e.File
		if d != e.Recipe {
			file = nameOf(d, names, src)
		}
		r, problems := library.Parse(file, src, e.Compat, recipe.Again())
		if r == nil {
			return flow.Library{}, unreadable(problems, src)
		}
		raw[d] = r
	}
	recipes, problems := library.Merge(raw, parents)
	if recipes == nil {
		return flow.Library{}, unreadable(problems, nil)
	}
	return flow.Library{Recipes: recipes, Names: names}, nil
}

// nameOf is what a frozen recipe is called in messages: the file that it was
// looked for as, else its digest. A shipped one keeps the place that stands for that.
func nameOf(digest string, names map[string]string, src []byte) string {
	for _, name := range slices.Sorted(maps.Keys(names)) {
		switch {
		case names[name] != digest:
		case bytes.Equal(src, library.Shipped(name)):
			return filepath.Join(recipe.Shipped, name+".yaml")
		default:
			return name + ".yaml"
		}
	}
	return digest
}

func unreadable(problems []recipe.Problem, src []byte) error {
	return exit.New(exit.Invalid, "read frozen recipe", fmt.Errorf("%s", problems[0].Format(src)),
		"this belay no longer accepts it; use the version that started the run")
}
