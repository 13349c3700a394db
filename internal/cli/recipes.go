package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/recipe"
	"github.com/belay-run/belay/story"
)

func (a *app) recipesCommand() *cobra.Command {
	var o sourceOptions
	cmd := command("recipes", "list the recipes that can be called by name", 0, 0,
		func(context.Context, *cobra.Command, []string) error { return a.recipes(o) })
	sourceFlags(cmd, &o, "print one JSON object per recipe")
	cmd.ValidArgsFunction = nil
	return cmd
}

// foundLine is a recipe that was found in a folder.
type foundLine struct {
	Name        string `json:"name"`
	File        string `json:"file"`
	Folder      string `json:"folder"`
	Description string `json:"description,omitempty"`
	Steps       int    `json:"steps"`
	OK          bool   `json:"ok"`
	Shipped     bool   `json:"shipped,omitempty"`
	Hidden      bool   `json:"hidden,omitempty"` // one of the same name is found before it
}

// place is the directory of a command that runs nothing, and the limit of a file.
func (a *app) place(dir string) (string, int64, error) {
	cfg, err := config.Load(a.environ)
	if err != nil {
		return "", 0, err
	}
	dir, err = workDir(dir)
	return dir, cfg.RecipeBytes.Value, err
}

func (a *app) recipes(o sourceOptions) error {
	dir, most, err := a.place(o.dir)
	if err != nil {
		return err
	}
	shelf := a.shelf(o.shelves, dir, most)
	var list []foundLine
	folders := append(append(append([]string{}, shelf.Dirs...), shelf.Work), shelf.More...)
	for _, folder := range folders {
		for _, file := range filesIn(folder) {
			l, ok := found(shelf, folder, file)
			if !ok {
				continue
			}
			list = append(list, l)
		}
	}
	if len(list) == 0 {
		a.say("no recipes in %s: only the shipped ones", strings.Join(folders, ", "))
	}
	for _, name := range library.ShippedNames() {
		list = append(list, shippedLine(shelf, name))
	}
	rows := [][]string{{"RECIPE", "STEPS", "FOLDER", "DESCRIPTION"}}
	seen := map[string]bool{}
	for _, l := range list {
		l.Hidden = seen[l.Name]
		seen[l.Name] = true
		if o.json {
			a.object(l)
			continue
		}
		rows = append(rows, l.row())
	}
	if !o.json {
		a.table(rows, len(rows[0])-1)
	}
	return nil
}

// shippedLine is a recipe that is part of Belay.
func shippedLine(shelf library.Shelf, name string) foundLine {
	l := foundLine{Name: name, File: filepath.Join(recipe.Shipped, name+".yaml"), Folder: recipe.Shipped, Shipped: true}
	if set, err := shelf.LoadShipped(name); err == nil {
		l.read(set)
	}
	return l
}

// read takes over what is listed of a recipe.
func (l *foundLine) read(set *library.Set) {
	if set.Root == nil {
		return
	}
	l.Description = strings.Join(strings.Fields(set.Root.Description), " ")
	l.Steps, l.OK = len(set.Root.Steps), !set.Errors()
}

// filesIn are the recipe files of a folder, in the order in which a name is
// looked up; a folder that is not there has none.
func filesIn(folder string) []string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil // looking for a name there finds nothing either
	}
	var files []string
	for _, ext := range []string{".yaml", ".yml"} {
		for _, e := range entries {
			if filepath.Ext(e.Name()) == ext && e.Type()&fs.ModeDir == 0 {
				files = append(files, e.Name())
			}
		}
	}
	return files
}

// found reads a file just so far that it can be listed. A file that is YAML for
// something else, which has no name and no steps, is not a recipe.
func found(shelf library.Shelf, folder, file string) (foundLine, bool) {
	path := filepath.Join(folder, file)
	l := foundLine{Name: strings.TrimSuffix(file, filepath.Ext(file)), File: path, Folder: folder}
	set, err := shelf.Load(path)
	if err != nil {
		return l, !errors.Is(err, fs.ErrNotExist)
	}
	if set.Root == nil {
		return l, looksLike(path)
	}
	l.read(set)
	return l, true
}

// looksLike tells whether a file that cannot be read as a recipe is meant to be
// one: it has the key that every recipe has.
func looksLike(path string) bool {
	src, err := os.ReadFile(path)
	if err != nil {
		return true // it says so when it is run
	}
	for line := range strings.Lines(string(src)) {
		if strings.HasPrefix(line, "steps:") {
			return true
		}
	}
	return false
}

func (l foundLine) row() []string {
	steps, about := strconv.Itoa(l.Steps), l.Description
	switch {
	case !l.OK && l.Shipped: // only with recipes of the user's that it calls
		steps, about = "-", "cannot be run with the recipes here: see belay validate "+l.Name
	case !l.OK:
		steps, about = "-", "cannot be run: see belay validate "+story.Quote(l.File)
	case l.Hidden:
		about = "(not used: one of the same name is found first) " + about
	}
	return []string{readable.Clean(l.Name), steps, readable.Clean(l.Folder), readable.Cut(readable.Clean(about), 100)}
}
