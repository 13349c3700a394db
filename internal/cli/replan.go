package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/tui"
	"github.com/belay-run/belay/recovery"
)

type replanOptions struct {
	policy   string
	retries  int
	role     string
	attempts int
	text     string
	task     string
	about    string
	critical bool
	json     bool
}

func (a *app) replanCommand() *cobra.Command {
	var o replanOptions
	cmd := command("replan", "ask a policy what it would do about a failure; nothing is done", 0, 0,
		func(_ context.Context, cmd *cobra.Command, _ []string) error { return a.replan(cmd, o) })
	f := cmd.Flags()
	f.StringVar(&o.policy, "policy", "classic", "the policy: classic")
	f.IntVar(&o.retries, "max-retries", recovery.DefaultMaxRetries, "retries before the error is looked at")
	f.StringVar(&o.role, "role", string(recovery.Coder), "who did the task: coder, tester, reviewer, …, or custom:NAME")
	f.IntVar(&o.attempts, "attempts", 0, "failed attempts before this one")
	f.StringVar(&o.text, "error", "", "what the failed attempt said")
	f.StringVar(&o.task, "task", "task", "the id of the task")
	f.StringVar(&o.about, "description", "", "what the task is (default: its id)")
	f.BoolVar(&o.critical, "critical", false, "the task is needed")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	return cmd
}

// replanned is what replan prints.
type replanned struct {
	Strategy recovery.Strategy `json:"strategy"`
	Reason   string            `json:"reason"`
	Rule     recovery.Rule     `json:"rule"`
}

func (a *app) replan(cmd *cobra.Command, o replanOptions) error {
	role, err := recovery.ParseRole(o.role)
	switch {
	case err != nil:
		return usage(cmd, fmt.Errorf("--role: %w", err))
	case o.policy != "classic":
		return usage(cmd, fmt.Errorf("--policy %q: must be classic", o.policy))
	case !cmd.Flags().Changed("error"):
		return usage(cmd, errors.New("replan needs --error TEXT"))
	case o.retries < 0:
		return usage(cmd, fmt.Errorf("--max-retries %d: must not be negative", o.retries))
	case o.attempts < 0:
		return usage(cmd, fmt.Errorf("--attempts %d: must not be negative", o.attempts))
	}
	if o.about == "" {
		o.about = o.task
	}
	x := recovery.Context{
		TaskID: o.task, Description: o.about, AssignedTo: role,
		ErrorMessage: o.text, AttemptCount: o.attempts, IsCritical: o.critical,
	}
	d := recovery.Classic{MaxRetries: o.retries}.Decide(x)
	if a.verbose {
		a.say("%s", d.Line(x))
	}
	if o.json {
		a.object(replanned{d.Strategy, d.Reason(x), d.Rule})
		return nil
	}
	a.out.line("%s", tui.Clean(strategyWords(d.Strategy)))
	a.out.line("  %s (rule %s)", tui.Clean(d.Reason(x)), d.Rule)
	return nil
}

func strategyWords(s recovery.Strategy) string {
	switch s.Kind {
	case recovery.Retry:
		return fmt.Sprintf("retry after %s, %d attempts at most", time.Duration(s.BackoffMS)*time.Millisecond, s.MaxAttempts)
	case recovery.Reassign:
		return "reassign to " + string(s.NewRole)
	case recovery.Decompose:
		words := fmt.Sprintf("decompose into %d parts", len(s.Subtasks))
		for _, part := range s.Subtasks {
			words += fmt.Sprintf("; %s (%s)", part.Description, part.AssignedTo)
		}
		return words
	case recovery.Skip, recovery.Abort, recovery.Escalate:
	}
	return string(s.Kind)
}
