package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/audit"
	"github.com/belay-run/belay/exit"
)

func (a *app) auditCommand() *cobra.Command {
	var asJSON bool
	cmd := command("audit RUN", "check a journal against the rules that it must keep", 1, 1,
		func(_ context.Context, _ *cobra.Command, args []string) error {
			return a.read(args[0], func(s *runView) error { return a.audit(s, asJSON) })
		})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per violation, then a summary")
	cmd.ValidArgsFunction = a.completeRun
	return cmd
}

// violation is a rule that a journal breaks, as --json prints it.
type violation struct {
	Kind string      `json:"kind"` // violation
	Run  belay.RunID `json:"run"`
	Seq  int64       `json:"seq"`
	Rule string      `json:"rule"`
	Msg  string      `json:"msg"`
}

// auditLine sums a journal up.
type auditLine struct {
	Kind       string      `json:"kind"` // summary
	Run        belay.RunID `json:"run"`
	OK         bool        `json:"ok"`
	Records    int         `json:"records"`
	Violations int         `json:"violations"`
}

// audit checks a journal whose chain was proven and whose records fold.
func (a *app) audit(s *runView, asJSON bool) error {
	found := audit.Check(s.recs)
	for _, v := range found {
		if asJSON {
			a.object(violation{"violation", s.id.Root(), v.Seq, v.Rule, v.Msg})
			continue
		}
		a.out.line("%v", v)
	}
	if asJSON {
		a.object(auditLine{"summary", s.id.Root(), len(found) == 0, len(s.recs), len(found)})
	}
	if len(found) > 0 {
		return exit.New(exit.Damaged, "audit run "+string(s.id.Root()), fmt.Errorf("%d rules are broken", len(found)), "keep the folder: this is a bug in belay, or somebody wrote to the journal")
	}
	if !asJSON {
		a.out.line("run %s: ok: %d records", s.id.Root(), len(s.recs))
	}
	return nil
}
