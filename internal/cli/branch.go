package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/redact"
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
			hide := a.secretless()
			a.out.raw(worktree.CheckedBranch(ctx, "", hide(args[0]), hide(o.prefix), o.issue, belay.RunID(o.run)))
			return nil
		})
	cmd.Long = `Prints {prefix}/issue-{n}-{slug}, or {prefix}/{slug} without an issue: a name
that git takes, made of any text. Where the text has nothing to make a name of,
"task" stands for it. A secret of the environment, or of the run that asks, does
not become part of a name: "redacted" stands for it.`
	cmd.Flags().StringVar(&o.prefix, "prefix", "feat", "first part of the name")
	cmd.Flags().IntVar(&o.issue, "issue", 0, "number of the issue")
	cmd.Flags().StringVar(&o.run, "run", a.env("BELAY_RUN_ID"), "run that a name without text or issue gets its end from (BELAY_RUN_ID)")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	_ = cmd.RegisterFlagCompletionFunc("prefix", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { // the flag is there
		return []string{"feat", "fix", "docs", "refactor", "chore"}, cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// secretless takes secrets out of a text before a name is made of it: in a name
// nobody would know them again. Settings that cannot be read are no reason to
// give no name.
func (a *app) secretless() func(string) string {
	var names []string
	if cfg, err := config.Load(a.environ); err == nil {
		names = cfg.Secrets.Value
	}
	return redact.New(redact.FromEnv(a.environ, names)).String
}
