package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/audit"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/journal"
)

func (a *app) auditCommand() *cobra.Command {
	var asJSON, all bool
	cmd := command("audit RUN", "check that a journal follows the rules for journals", 0, 1,
		func(_ context.Context, cmd *cobra.Command, args []string) error {
			switch {
			case all && len(args) > 0:
				return usage(cmd, errors.New("--all and RUN exclude each other"))
			case all:
				return a.auditAll(asJSON)
			case len(args) == 0:
				return usage(cmd, errors.New("audit needs RUN, or --all"))
			}
			return a.read(args[0], func(s *runView) error { return a.audit(s, asJSON) })
		})
	cmd.Long = `audit proves the chain of a journal, reads its records as a driver does, and checks
them against the rules that every journal must keep. It exits with 7 when one is
broken, and with the code of the error when the journal cannot be read.

With --all it does so for every run of the state directory, those in archives
included, one line for each, and exits with the worst code that one of them has. A run that never began has nothing
to be checked.`
	cmd.Flags().BoolVar(&all, "all", false, "check every run of the state directory")
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
	Error      string      `json:"error,omitempty"`     // why it could not be read
	ExitCode   int         `json:"exit_code,omitempty"` // of this run alone
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
		line := auditLine{Kind: "summary", Run: s.id.Root(), OK: len(found) == 0, Records: len(s.recs), Violations: len(found)}
		if !line.OK {
			line.ExitCode = exit.Damaged
		}
		a.object(line)
	}
	if len(found) > 0 {
		return exit.New(exit.Damaged, "audit run "+string(s.id.Root()), &broken{len(found)}, "keep the folder: this is a bug in belay, or somebody wrote to the journal")
	}
	if !asJSON {
		a.out.line("run %s: ok: %d records", s.id.Root(), len(s.recs))
	}
	return nil
}

// broken says that a journal can be read and does not keep the rules.
type broken struct{ n int }

func (e *broken) Error() string { return fmt.Sprintf("%d rules are broken", e.n) }

// auditAll checks every journal, one after the other: what one costs is given
// back before the next is read.
func (a *app) auditAll(asJSON bool) (err error) {
	st, err := a.openState()
	if err != nil {
		return err
	}
	defer closing(&err, "close state", st.Close)
	sums, err := st.Runs()
	if err != nil {
		return err
	}
	code, checked, bad := exit.OK, 0, 0
	for _, sum := range sums {
		if sum.Gone {
			continue
		}
		checked++
		if c := a.auditOne(sum.ID, asJSON, func() (*runView, error) { return tell(st, string(sum.ID)) }); c != exit.OK {
			bad++
			code = exit.Worse(code, c)
		}
	}
	archived, unread, err := st.Archived()
	if err != nil {
		return err
	}
	for _, e := range unread {
		a.complain(e)
		code = exit.Worse(code, exit.Code(e))
	}
	bad, checked = bad+len(unread), checked+len(unread)
	for _, lies := range archived {
		checked++
		if c := a.auditOne(lies.Run, asJSON, func() (*runView, error) { return tellCopy(st, lies, "", false) }); c != exit.OK {
			bad++
			code = exit.Worse(code, c)
		}
	}
	switch {
	case bad > 0:
		return exit.New(code, "audit", fmt.Errorf("%d of %d journals are not as they should be", bad, checked),
			"keep their folders; "+a.name()+" audit RUN says more")
	case checked == 0:
		a.say("no runs in %s", st.Dir())
	default:
		a.say("%s checked", readable.Many(checked, "journal"))
	}
	return nil
}

// auditOne checks the journal of one run among many, and gives the code that it
// would have alone.
func (a *app) auditOne(id belay.RunID, asJSON bool, open func() (*runView, error)) int {
	s, err := open()
	if err == nil {
		err = a.audit(s, asJSON)
		if e := s.close(); err == nil {
			err = e
		}
	}
	var never *journal.Unbegun
	var found *broken
	code := exit.Code(err)
	switch {
	case errors.As(err, &never) || code == exit.Busy: // nobody is kept from looking but by a run that is just beginning
		if asJSON {
			a.object(auditLine{Kind: "summary", Run: id, OK: true})
		} else {
			a.out.line("run %s: ok: nothing is on record", id)
		}
		return exit.OK
	case errors.As(err, &found):
		if !asJSON {
			a.out.line("run %s: %v", id, found)
		}
	case err != nil && asJSON:
		a.object(auditLine{Kind: "summary", Run: id, Error: err.Error(), ExitCode: code})
	case err != nil:
		a.out.line("run %s: %s", id, readable.Clean(err.Error()))
	}
	return code
}
