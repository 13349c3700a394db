package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/story"
)

func (a *app) newCommand() *cobra.Command {
	var dir string
	cmd := command("new NAME", "write a commented recipe to start from", 1, 1,
		func(_ context.Context, _ *cobra.Command, args []string) error { return a.newRecipe(args[0], dir) })
	cmd.Flags().StringVar(&dir, "dir", "", "the folder to write it to (default: here)")
	return cmd
}

var recipeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`)

func (a *app) newRecipe(name, dir string) error {
	name = strings.TrimSuffix(name, ".yaml")
	if !recipeName.MatchString(name) {
		return belay.Exit(belay.ExitInvalid, "", fmt.Errorf("%q cannot be the name of a recipe", name),
			"use letters, digits, _, . and -, with a letter or digit first")
	}
	path := filepath.Join(dir, name+".yaml")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // a recipe is for others to read
	switch {
	case errors.Is(err, fs.ErrExist):
		return belay.Exit(belay.ExitInvalid, "", fmt.Errorf("%s is there already", path), "choose another name; nothing was changed")
	case errors.Is(err, fs.ErrNotExist):
		return belay.Exit(belay.ExitInvalid, "write recipe", err, "make the folder first")
	case err != nil:
		return belay.Exit(belay.ExitInfra, "write recipe", err, "")
	}
	_, err = f.WriteString(strings.ReplaceAll(starter, "NAME", name))
	if err = errors.Join(err, f.Close()); err != nil {
		return belay.Exit(belay.ExitInfra, "write recipe", err, "")
	}
	a.out.line("%s", path)
	a.say("try it: belay run %s", story.Quote(path))
	return nil
}

// starter is a recipe that shows the most useful keys and runs as it is.
const starter = `# NAME: what this recipe is for, in a sentence.
#   check it: belay validate NAME.yaml
#   see it:   belay explain NAME.yaml
#   run it:   belay run NAME.yaml --set who=you

name: NAME
description: greets, counts and reports

# Variables and their defaults. --set who=you overrides one. A secret stays in
# the environment instead; with "secrets: [MY_TOKEN]" it is hidden everywhere.
context:
  who: world

steps:
  # A step without "needs" waits for the step listed before it.
  - id: greet
    # {{who}} is one safe word in any quotes, whatever it holds.
    command: echo "Hello, {{who}}!"
    output: greeting # what it printed, for later steps

  - id: count
    command: printf '%s' "{{greeting}}" | wc -c
    timeout: 1m # the whole process tree is ended when it passes
    retry: 2 # attempts, the first included
    output: size

  - id: report
    # A condition decides when the step's turn comes; false is no failure.
    condition: int(size) > 0
    command: echo "{{greeting}} has {{size}} bytes" > NAME.txt
    # verify checks the work: exit 0 means that it is there.
    verify: test -s NAME.txt
`
