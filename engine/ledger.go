package engine

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/journal"
)

// Ledger is what runs share and a driver asks before it acts: the budget of
// agents, the services that they call, working trees, and counts that outlive a
// driver. Everything is counted under the key of an attempt, so that asking
// twice counts once.
type Ledger interface {
	// Permit counts the start of an agent where all sessions see it, Count that of
	// one that was not asked for, and Spend how often its CLI was started and what
	// it used.
	Permit(k belay.Key, now time.Time) (journal.BudgetUse, error)
	Count(k belay.Key) error
	Spend(k belay.Key, starts int, u belay.Usage) error

	// Allow asks whether the service that an agent calls takes calls now, and
	// Report says what came of one.
	Allow(agent string, k belay.Key, retry bool, now time.Time) (journal.Allowance, error)
	Report(agent string, k belay.Key, class belay.Class, ok bool, now time.Time) error

	// TakeTree asks for a working tree, which one agent has at a time, and
	// GiveTrees gives back all but those that are needed.
	TakeTree(l journal.Lease) (journal.Leased, error)
	GiveTrees(need map[string][]string) error

	// CountLost counts a lost attempt of a step, of which the records know some.
	CountLost(run belay.RunID, step belay.Path, known int) (int, error)
	// Clear takes back what a person cleared, once it is on record.
	Clear(recs []belay.Record) error
}

// indexLedger counts in the index of the state directory, which all runs on the
// machine share.
type indexLedger struct{ *Open }

// Permit says first what may be used, if the run began the tree of sessions.
func (o indexLedger) Permit(k belay.Key, now time.Time) (journal.BudgetUse, error) {
	if err := o.setBudget(); err != nil {
		return journal.BudgetUse{}, err
	}
	return o.books.state.Permit(o.session.Tree, o.books.key(k), now)
}

func (o indexLedger) Count(k belay.Key) error {
	return o.books.state.Count(o.session.Tree, o.books.key(k))
}

func (o indexLedger) Spend(k belay.Key, starts int, u belay.Usage) error {
	return o.books.state.Spend(o.session.Tree, o.books.key(k), starts, u)
}

// Allow gives back what the budget counted for an agent that may not start.
func (o indexLedger) Allow(agent string, k belay.Key, retry bool, now time.Time) (journal.Allowance, error) {
	a, err := o.local.State.Allow(o.local.service(agent), k, retry, now)
	if err == nil && !a.OK {
		err = o.books.state.GiveBack(o.session.Tree, o.books.key(k))
	}
	return a, err
}

func (o indexLedger) Report(agent string, k belay.Key, class belay.Class, ok bool, now time.Time) error {
	return o.local.State.Report(o.local.service(agent), k, class, ok, now)
}

func (o indexLedger) TakeTree(l journal.Lease) (journal.Leased, error) {
	l.Run = o.ID
	return o.local.State.TakeTree(l)
}

func (o indexLedger) GiveTrees(need map[string][]string) error {
	return o.local.State.GiveTrees(o.ID, need)
}

// CountLost counts in the index before the journal does; of the two counts the
// larger holds, so that an old copy of the folder wins nothing.
func (o indexLedger) CountLost(run belay.RunID, step belay.Path, known int) (int, error) {
	name := lostCap(run, step)
	have, err := o.local.State.Cap(o.ID, name)
	if err != nil {
		return 0, err
	}
	n := max(known, int(have)) + 1
	_, err = o.local.State.RaiseCap(o.ID, name, int64(n))
	return n, err
}

// lostCap is what the lost attempts of a step are counted under.
func lostCap(run belay.RunID, step belay.Path) string { return fmt.Sprintf("lost %s:%s", run, step) }

// Clear takes back in the index what a person cleared, once the record of that
// is on disk. The rest of what is counted against a run is in its records.
func (o indexLedger) Clear(recs []belay.Record) error {
	for _, r := range recs {
		e, ok := r.Event.(belay.RunCleared)
		if !ok {
			continue
		}
		switch e.What {
		case belay.CountBreakers:
			for _, name := range o.local.ServicesOf(o.Tree) {
				if err := o.local.State.ClearServices(name); err != nil {
					return err
				}
			}
		case belay.CountBudget:
			o.anew = r.At
			if o.session.Depth > 0 {
				continue // what all may use is the business of the run that began the tree
			}
			if err := o.local.State.ClearBudget(o.session.Tree, o.Tree.Started().Limits.Budget, r.At); err != nil {
				return err
			}
		case belay.CountAttempts: // those that were lost: the larger of two counts holds
			if err := o.local.State.ClearCaps(o.ID, lostCap(r.Run, e.Path), e.Path != ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// setBudget tells all sessions of the tree what its root run may use.
func (o *Open) setBudget() error {
	if o.session.Depth > 0 || o.budgeted {
		return nil
	}
	first := o.Tree.Started()
	_, began := o.Tree.Run(o.ID).Started()
	if o.anew.After(began) {
		began = o.anew
	}
	err := o.local.State.SetBudget(o.session.Tree, first.Limits.Budget, began)
	o.budgeted = err == nil
	return err
}

// announce tells a budget of its own at once: a run inside a step may come to
// start an agent before the root does.
func (o *Open) announce(b belay.Budget) error {
	if o.session.Depth > 0 || b == (belay.Budget{MaxAgents: b.MaxAgents}) && b.Starts() == belay.DefaultMaxAgents {
		return nil
	}
	return o.local.State.SetBudget(o.session.Tree, b, time.Now())
}
