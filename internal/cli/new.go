package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/pattern"
	"github.com/belay-run/belay/internal/spelling"
	"github.com/belay-run/belay/story"
)

func (a *app) newCommand() *cobra.Command {
	var dir, from string
	cmd := command("new NAME", "write a commented recipe to start from", 1, 1,
		func(_ context.Context, _ *cobra.Command, args []string) error { return a.newRecipe(args[0], dir, from) })
	cmd.Long = `Write a commented recipe to start from, or a copy of a shipped one.

A copy keeps its steps and their ids. Under the name of the shipped recipe it is taken
instead of it wherever recipes are looked for in its folder: by belay do, too.`
	cmd.Example = `  belay new nightly
  belay new default-workflow --from default-workflow`
	f := cmd.Flags()
	f.StringVar(&dir, "dir", "", "the folder to write it to (default: here)")
	f.StringVar(&from, "from", "", "copy this shipped recipe: "+strings.Join(library.ShippedNames(), ", "))
	cmd.ValidArgsFunction = func(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(given) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return library.ShippedNames(), cobra.ShellCompDirectiveNoFileComp
	}
	_ = cmd.RegisterFlagCompletionFunc("from", cobra.FixedCompletions(library.ShippedNames(), cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	return cmd
}

// sourceOf is the text of a new recipe: the starter, or a copy of a shipped one
// under the new name. The line about the schema is left out: it names a file that is
// not there.
func sourceOf(name, from string) (string, error) {
	if from == "" {
		return strings.ReplaceAll(starter, "NAME", name), nil
	}
	src := library.Shipped(from)
	if src == nil {
		hint := "one of: " + strings.Join(library.ShippedNames(), ", ")
		if near := spelling.Near(from, library.ShippedNames()); near != "" {
			hint = "did you mean " + near + "?"
		}
		return "", exit.New(exit.Invalid, "", fmt.Errorf("--from %q: no such recipe is shipped", from), hint)
	}
	text := "# A copy of the shipped recipe " + from + ", to change.\n"
	for line := range strings.Lines(string(src)) {
		switch {
		case strings.HasPrefix(line, "# yaml-language-server:"):
		case strings.HasPrefix(line, "name: "):
			text += "name: " + name + "\n"
		default:
			text += line
		}
	}
	return text, nil
}

var recipeName = pattern.Lazy(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`)

func (a *app) newRecipe(name, dir, from string) error {
	name = strings.TrimSuffix(name, ".yaml")
	if !recipeName().MatchString(name) {
		return exit.New(exit.Invalid, "", fmt.Errorf("%q cannot be the name of a recipe", name),
			"use letters, digits, _, . and -, with a letter or digit first")
	}
	src, err := sourceOf(name, from)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, name+".yaml")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // a recipe is for others to read
	switch {
	case errors.Is(err, fs.ErrExist):
		return exit.New(exit.Invalid, "", fmt.Errorf("%s is there already", path), "choose another name; nothing was changed")
	case errors.Is(err, fs.ErrNotExist):
		return exit.New(exit.Invalid, "write recipe", err, "make the folder first")
	case err != nil:
		return exit.New(exit.Infra, "write recipe", err, "")
	}
	_, err = f.WriteString(src)
	if err = errors.Join(err, f.Close()); err != nil {
		return exit.New(exit.Infra, "write recipe", err, "")
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
    command: echo "{{greeting}} has {{size}} bytes" | tee NAME.txt
    # verify checks the work: exit 0 means that it is there.
    verify: test -s NAME.txt
`
