package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/journal"
)

// person refuses a command by which people decide, when it is not a person who
// types it: a process that descends from a keeper is part of a step, whatever
// its environment says. What concerns runs that the step itself started is
// allowed; "" as run concerns all of them.
func (a *app) person(st *journal.State, act string, id belay.RunID) error {
	inside, origin, err := a.inside(st)
	if err == nil && inside == "" && act != "resume" {
		return a.telling(st, act, id, origin)
	}
	if err != nil || inside == "" {
		return err
	}
	if id != "" && origin.Started(st, id) {
		return nil
	}
	what := act
	if id != "" {
		what += " " + string(id)
	}
	return exit.New(exit.Failed, what,
		fmt.Errorf("only a person may decide this, and this process is part of a step of run %s", inside),
		"a step may decide about runs that it started itself; let a person type it, outside of all runs")
}

// inside is the run that this process is part of, "" for a person. A program
// that a driver starts itself (git, and what git starts) counts too.
func (a *app) inside(st *journal.State) (belay.RunID, engine.Origin, error) {
	origin, err := engine.FindOrigin(st)
	if err != nil {
		return "", origin, exit.New(exit.Infra, "look who asks", err, "check that process information can be read")
	}
	if len(origin.Keepers) > 0 {
		return origin.Keepers[0].Run, origin, nil
	}
	id, err := st.Ledger().DrivenAbove(origin.Ancestors, false)
	return id, origin, err
}

// telling refuses a process that a driver or a watch started to tell people: a step may
// have written its program. Both resume runs that way, and decide nothing.
func (a *app) telling(st *journal.State, act string, id belay.RunID, origin engine.Origin) error {
	drove, err := st.Ledger().DrivenAbove(origin.Ancestors, true)
	if err != nil {
		return exit.New(exit.Infra, "look who asks", err, "")
	}
	if drove == "" && !st.Watches(origin.Ancestors) {
		return nil
	}
	return exit.New(exit.Failed, strings.TrimSpace(act+" "+string(id)), errors.New("only a person may decide this, and this process was started by belay itself"),
		"a command that tells people decides nothing; let a person type it")
}
