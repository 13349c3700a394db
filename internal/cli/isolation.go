package cli

import (
	"context"
	"time"

	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/worktree"
)

// lookWithin bounds the look whether a directory can have worktrees.
const lookWithin = 10 * time.Second

// placings says where the steps of a recipe of a set work.
func placings(set *library.Set, r *recipe.Recipe) []recipe.Placing {
	return recipe.Placings(r, func(name string) *recipe.Recipe { return set.Library.Recipes[set.Library.Names[name]] })
}

// unhoused is why agents in a directory cannot have worktrees, "" when they can.
func unhoused(ctx context.Context, dir string) string {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	_, why := worktree.CanIsolate(ctx, dir, dir)
	return why
}

// housing says in words where a step works; "" for one in the run's tree.
// unhoused is why there can be no worktree that nobody asked for.
func housing(p recipe.Placing, unhoused string) string {
	switch {
	case p.Shared:
		return "off: it shares the tree; " + p.Why
	case !p.Isolated:
		return ""
	case p.Copy:
		return "a copy of the files, which is thrown away"
	case p.Chosen && unhoused != "":
		return "it takes turns with other agents, because there can be no worktree: " + unhoused + " (" + p.Why + ")"
	}
	text := "a worktree of its own"
	if p.Chosen {
		text += ", because " + p.Why
	}
	if p.Merge == recipe.MergeAuto {
		return text + "; its work is merged when it is done"
	}
	return text + "; its work stays on a branch"
}

// tellPlaces says which agents of a recipe, and of those that it calls, have a
// worktree that the recipe does not ask for, and where there can be none.
func (a *app) tellPlaces(ctx context.Context, set *library.Set, path string) {
	why, looked := "", false
	none := func() string { // only where it matters: it takes a look at the directory
		if dir, err := workDir(""); !looked && err == nil {
			why = unhoused(ctx, dir)
		}
		looked = true
		return why
	}
	for _, r := range set.Library.Recipes {
		file := path
		if r != set.Root {
			file = readable.Clean(r.File)
		}
		if r.Isolate && r == set.Root && none() != "" {
			a.out.line("%s: note: isolate: a run here would fail, because there can be no worktree: %s", file, none())
		}
		for i, p := range placings(set, r) {
			text := ""
			switch {
			case p.Shared, p.Chosen:
				text = housing(p, "")
				if p.Chosen {
					text = housing(p, none())
				}
			case p.Isolated && !p.Copy && none() != "":
				text = "the step would fail here, because there can be no worktree: " + none()
			default:
				continue
			}
			a.out.line("%s:%d: note: step %s: isolate: %s", file, r.Steps[i].Pos.Line, r.Steps[i].ID, text)
		}
	}
}
