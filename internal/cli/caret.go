package cli

import (
	"path/filepath"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/story"
)

// sources reads a frozen recipe by its digest.
type sources func(digest string) ([]byte, error)

// pointers shows the steps of a tree that failed because of a place in their recipe, each
// as the line that it is about with a caret under it, and each once.
type pointers struct {
	read  sources
	width int
	shown map[story.Place]bool
}

// of are the lines of what just failed: they stand below what was said of it.
func (p *pointers) of(told *story.Story, news []story.News) (lines []string) {
	for i := range news {
		if n := &news[i]; n.Failure != nil && n.Failure.At != nil && !p.shown[n.Place] && told.View(n.Place).Phase == flow.Failed {
			p.shown[n.Place] = true
			lines = append(lines, pointer(told.Tree, n.Failure, p.read, p.width)...)
		}
	}
	return lines
}

// rest are the lines of all others.
func (p *pointers) rest(tree *flow.Tree) (lines []string) {
	story.Walk(tree, "", func(run belay.RunID, _ int, v flow.StepView) {
		if v.Phase == flow.Failed && v.Failure != nil && !p.shown[story.Place{Run: run, Path: v.Path}] {
			lines = append(lines, pointer(tree, v.Failure, p.read, p.width)...)
		}
	})
	return lines
}

// pointer is the line that a failure is about with a caret under it; nothing
// when the failure names no place, or its source cannot be read.
func pointer(tree *flow.Tree, f *belay.Failure, read sources, width int) []string {
	if f.At == nil {
		return nil
	}
	digest := digestOf(tree, f.At.File)
	if digest == "" {
		return nil
	}
	src, err := read(digest)
	if err != nil {
		return nil // the place is named in any case
	}
	p := recipe.Problem{File: f.At.File, Line: f.At.Line, Col: f.At.Col, Msg: f.Cause}
	lines := strings.Split(p.FormatIn(src, width), "\n")
	return lines[1:] // the first line says what the failure says
}

// digestOf is the digest of the recipe that a file was frozen as. The files of
// sub-recipes are known by their names only, once a run was read again.
func digestOf(tree *flow.Tree, file string) string {
	base := func(f string) string { return strings.TrimSuffix(filepath.Base(f), filepath.Ext(f)) }
	found := ""
	for digest, r := range tree.Library().Recipes {
		if r.File == file {
			return digest
		}
		if base(r.File) == base(file) {
			found = digest
		}
	}
	return found
}
