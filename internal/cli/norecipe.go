package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/spelling"
	"github.com/belay-run/belay/story"
)

// How many recipes a hint names, and how many files are looked into for them.
const (
	recipesNamed = 5
	filesLooked  = 200
)

// recipesIn are the files of a folder that look like recipes.
func recipesIn(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // only a hint lacks them
	}
	var list []string
	looked := 0
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if !e.Type().IsRegular() || ext != ".yaml" && ext != ".yml" {
			continue
		}
		if looked++; looked > filesLooked {
			break
		}
		text := readTop(filepath.Join(dir, e.Name()))
		if bytes.HasPrefix(text, []byte("steps:")) || bytes.Contains(text, []byte("\nsteps:")) {
			list = append(list, e.Name())
		}
	}
	return list
}

// readTop is the beginning of a file, nothing of one that cannot be read.
func readTop(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // opened for reading: nothing can be lost
	b := make([]byte, 64<<10)
	n, _ := f.Read(b) // what there is
	return b[:n]
}

// noRecipe refuses a command line without a recipe.
func noRecipe(cmd *cobra.Command) error {
	return exit.New(exit.Usage, "", fmt.Errorf("%s needs a recipe", cmd.Name()), whichRecipe(cmd.CommandPath()))
}

// whichRecipe says what can be typed where a command needs a recipe: one of those that
// are in the directory, or a new one.
func whichRecipe(command string) string {
	switch list := recipesIn("."); len(list) {
	case 0:
		return "no recipe is in this directory: write one with belay new NAME, or give the file of one"
	case 1:
		return "type " + command + " " + story.Quote(list[0])
	default:
		return "one of: " + shortList(list)
	}
}

// whichInstead says which file was likely meant instead of one that is not there.
func whichInstead(missing *library.NotFound) string {
	if missing.Folder {
		if list := recipesIn(missing.Name); len(list) > 0 {
			for i := range list {
				list[i] = filepath.Join(missing.Name, list[i])
			}
			return "give one of its files: " + shortList(list)
		}
		return "give a file"
	}
	if near := spelling.Near(missing.Name, withBare(recipesIn("."))); near != "" {
		return "did you mean " + near + "?"
	}
	return "give a file, or a folder to look in with -R"
}

// withBare are files and the names by which they are called.
func withBare(files []string) []string {
	var list []string
	for _, f := range files {
		list = append(list, f, strings.TrimSuffix(f, filepath.Ext(f)))
	}
	return list
}

func shortList(list []string) string {
	if len(list) > recipesNamed {
		return strings.Join(list[:recipesNamed], ", ") + ", …"
	}
	return strings.Join(list, ", ")
}
