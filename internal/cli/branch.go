package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/worktree"
)

type branchOptions struct {
	prefix string
	issue  int
	run    string
}

// branchCommand prints the name of a branch for a task. It always has one to
// give, so that no text stands in the way of a recipe that asks.
func (a *app) branchCommand() *cobra.Command {
	var o branchOptions
	cmd := command("branch TEXT", "print a name for the branch of a task", 1, 1,
		func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if o.issue < 0 {
				return usage(cmd, fmt.Errorf("--issue %d: the number of an issue is not negative", o.issue))
			}
			a.out.line("%s", worktree.CheckedBranch(ctx, "", args[0], o.prefix, o.issue, belay.RunID(o.run)))
			return nil
		})
	cmd.Long = `Prints {prefix}/issue-{n}-{slug}, or {prefix}/{slug} without an issue: a name
that git takes, made of any text. Where the text has nothing to make a name of,
"task" stands for it.`
	cmd.Flags().StringVar(&o.prefix, "prefix", "feat", "first part of the name")
	cmd.Flags().IntVar(&o.issue, "issue", 0, "number of the issue")
	cmd.Flags().StringVar(&o.run, "run", a.env("BELAY_RUN_ID"), "run that a name without text or issue gets its end from (BELAY_RUN_ID)")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	_ = cmd.RegisterFlagCompletionFunc("prefix", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { // the flag is there
		return []string{"feat", "fix", "docs", "refactor", "chore"}, cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}
