package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/internal/pattern"
	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/story"
)

func (a *app) completionCommand() *cobra.Command {
	cmd := command("completion SHELL", "print completion for bash, zsh, fish or powershell", 1, 1,
		func(_ context.Context, cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.out, true)
			case "zsh":
				return root.GenZshCompletion(a.out)
			case "fish":
				return root.GenFishCompletion(a.out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.out)
			}
			return usage(cmd, fmt.Errorf("no completion for %q: bash, zsh, fish or powershell", args[0]))
		})
	cmd.ValidArgs = []string{"bash", "zsh", "fish", "powershell"}
	return cmd
}

// completeRecipe proposes recipe files, and the shipped recipes once a word is begun that
// one of them begins with: before that files are what is looked for.
func completeRecipe(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, name := range library.ShippedNames() {
		if len(args) == 0 && begun != "" && strings.HasPrefix(name, begun) {
			names = append(names, name+"\tshipped")
		}
	}
	if len(names) > 0 {
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeRun proposes run ids for the first argument. What cannot be read is
// not proposed: a shell in the middle of a line is no place for an error.
func (a *app) completeRun(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	st, err := a.openState()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer func() { _ = st.Close() }() // read only: nothing to lose
	sums, err := st.Runs()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []string
	for _, s := range sums {
		if !s.Gone {
			_, planOnly := titleOf(st.Folder(s.ID), s.Name)
			ids = append(ids, string(s.ID)+"\t"+s.Name+" "+story.StatusWord(s.Status, planOnly))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// completeStep proposes a run, then one of its steps.
func (a *app) completeStep(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return a.completeRun(cmd, args, begun)
	}
	st, err := a.openState()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer func() { _ = st.Close() }() // read only: nothing to lose
	s, err := tell(st, args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer func() { _ = s.close() }() // read only: nothing to lose
	var ids []string
	steps := s.steps()
	shown := s.shownPaths(steps)
	for i, p := range steps {
		if path := cmp.Or(shown[i], s.pathOf(p)); path != "" {
			ids = append(ids, string(path)+"\t"+s.phaseOf(p))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// shownPaths are the names that people read of the steps that are items of a list, as far as
// a shell needs no quotes for them; "" for all others.
func (s *runView) shownPaths(steps []story.Placed) []belay.Path {
	list, times := make([]belay.Path, len(steps)), map[belay.Path]int{}
	if s.id != s.id.Root() {
		return list
	}
	names := tui.NewNames(s.Tree)
	for i, p := range steps {
		if name := names.Of(p.At()); name != p.At().Name() && story.Quote(name) == name {
			list[i] = belay.Path(name)
			times[list[i]]++
		}
	}
	for i, name := range list {
		if _, taken := s.Find(s.id, name); taken || times[name] > 1 {
			list[i] = ""
		}
	}
	return list
}

// attemptOf is the number behind the step in the id of a child run.
var attemptOf = pattern.Lazy(`\.[0-9]+(/|$)`)

// pathOf is how a step is named from the run that was asked for: a/b for the
// step b of the run that step a started; "" when no such name finds it.
func (s *runView) pathOf(p story.Placed) belay.Path {
	in := strings.TrimPrefix(strings.TrimPrefix(string(p.Run), string(s.id)), "/")
	for _, way := range []string{attemptOf().ReplaceAllString(in, "$1"), in} {
		path := belay.Path(strings.TrimPrefix(way+"/"+string(p.Path), "/"))
		if got, err := s.step(path); err == nil && got.Run == p.Run {
			return path
		}
	}
	return ""
}

// completeItem proposes what waits for a person.
func (a *app) completeItem(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	st, err := a.openState()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer func() { _ = st.Close() }() // read only: nothing to lose
	list, err := a.allLetters(st)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var items []string
	for _, l := range list {
		if l.Item != "" {
			items = append(items, l.Run.Of(l.Item)+"\t"+l.Recipe)
		}
	}
	return items, cobra.ShellCompDirectiveNoFileComp
}

// completeAnswer proposes a run, a step, an answer.
func (a *app) completeAnswer(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 2 {
		return choices(), cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeStep(cmd, args, begun)
}
