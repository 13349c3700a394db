package engine

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/ledger"
)

// Ledger is what runs share and a driver asks before it acts: the budget of
// agents, the services that they call, working trees, and counts that outlive a
// driver. Everything is counted under the key of an attempt, so that asking
// twice counts once.
type Ledger interface {
	// Permit counts the start of an agent where all sessions see it, Count that of
	// one that was not asked for, and Spend how often its CLI was started and what
	// it used.
	Permit(k belay.Key, now time.Time) (ledger.BudgetUse, error)
	Count(k belay.Key) error
	Spend(k belay.Key, starts int, u belay.Usage) error

	// Allow asks whether the service that an agent calls takes calls now, and
	// Report says what came of one.
	Allow(agent string, k belay.Key, retry bool, now time.Time) (ledger.Allowance, error)
	Report(agent string, k belay.Key, call ledger.Call, now time.Time) error

	// TakeTree asks for a working tree, which one agent has at a time, and
	// GiveTrees gives back all but those that are needed.
	TakeTree(l ledger.Lease) (ledger.Leased, error)
	GiveTrees(need map[string][]string) error

	// CountLost counts a lost attempt of a step, of which the records know some.
	CountLost(run belay.RunID, step belay.Path, known int) (int, error)
	// Clear takes back what a person cleared, once it is on record.
	Clear(recs []event.Record) error
}

// Accounts count the services that agents call: those of this machine, or one place
// for many machines.
type Accounts interface {
	Allow(name string, k belay.Key, retry bool, now time.Time) (ledger.Allowance, error)
	Report(name string, k belay.Key, call ledger.Call, now time.Time) error
	ClearServices(name string) error
}

func (l *Local) accounts() Accounts {
	if l.Accounts != nil {
		return l.Accounts
	}
	return l.State.Ledger()
}

// indexLedger counts in the index of the state directory, which all runs on the
// machine share.
type indexLedger struct{ *Open }

// Permit says first what may be used, if the run began the tree of sessions.
func (o indexLedger) Permit(k belay.Key, now time.Time) (ledger.BudgetUse, error) {
	if err := o.setBudget(); err != nil {
		return ledger.BudgetUse{}, err
	}
	return o.books.state.Ledger().Permit(o.session.Tree, o.books.key(k), now)
}

func (o indexLedger) Count(k belay.Key) error {
	return o.books.state.Ledger().Count(o.session.Tree, o.books.key(k))
}

func (o indexLedger) Spend(k belay.Key, starts int, u belay.Usage) error {
	return o.books.state.Ledger().Spend(o.session.Tree, o.books.key(k), starts, u)
}

// Allow gives back what the budget counted for an agent that may not start.
func (o indexLedger) Allow(agent string, k belay.Key, retry bool, now time.Time) (ledger.Allowance, error) {
	a, err := o.local.accounts().Allow(o.local.service(agent), k, retry, now)
	if err == nil && !a.OK {
		err = o.books.state.Ledger().GiveBack(o.session.Tree, o.books.key(k))
	}
	return a, err
}

func (o indexLedger) Report(agent string, k belay.Key, call ledger.Call, now time.Time) error {
	return o.local.accounts().Report(o.local.service(agent), k, call, now)
}

func (o indexLedger) TakeTree(l ledger.Lease) (ledger.Leased, error) {
	l.Run = o.ID
	return o.local.State.Ledger().TakeTree(l)
}

func (o indexLedger) GiveTrees(need map[string][]string) error {
	return o.local.State.Ledger().GiveTrees(o.ID, need)
}

// CountLost counts in the index before the journal does; of the two counts the
// larger holds, so that an old copy of the folder wins nothing.
func (o indexLedger) CountLost(run belay.RunID, step belay.Path, known int) (int, error) {
	name := lostCap(run, step)
	have, err := o.local.State.Ledger().Cap(o.ID, name)
	if err != nil {
		return 0, err
	}
	n := max(known, int(have)) + 1
	_, err = o.local.State.Ledger().RaiseCap(o.ID, name, int64(n))
	return n, err
}

// lostCap is what the lost attempts of a step are counted under.
func lostCap(run belay.RunID, step belay.Path) string { return fmt.Sprintf("lost %s:%s", run, step) }

// Clear takes back in the index what a person cleared, once the record of that
// is on disk. The rest of what is counted against a run is in its records.
func (o indexLedger) Clear(recs []event.Record) error {
	for _, r := range recs {
		e, ok := r.Event.(event.RunCleared)
		if !ok {
			continue
		}
		switch e.What {
		case event.CountBreakers:
			for _, name := range o.local.ServicesOf(o.Tree) {
				if err := o.local.accounts().ClearServices(name); err != nil {
					return err
				}
			}
		case event.CountBudget:
			o.anew = r.At
			if o.session.Depth > 0 {
				continue // what all may use is the business of the run that began the tree
			}
			if err := o.local.State.Ledger().ClearBudget(o.session.Tree, o.budget(), r.At); err != nil {
				return err
			}
		case event.CountRestarts:
			if err := o.local.State.Ledger().ForgetWatched(o.ID); err != nil {
				return err
			}
		case event.CountReview: // nothing outside the run counts it
		case event.CountInbox:
			if err := o.local.State.Seen(o.ID); err != nil {
				return err
			}
		case event.CountAttempts: // those that were lost: the larger of two counts holds
			if err := o.local.State.Ledger().ClearCaps(o.ID, lostCap(r.Run, e.Path), e.Path != ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// setBudget tells all sessions of the tree what its root run may use, and anew when
// its recipe says another number.
func (o *Open) setBudget() error {
	if o.session.Depth > 0 {
		return nil
	}
	budget := o.budget()
	if o.told == budget.MaxAgents {
		return nil
	}
	_, began := o.Tree.Run(o.ID).Started()
	if o.anew.After(began) {
		began = o.anew
	}
	err := o.local.State.Ledger().SetBudget(o.session.Tree, budget, began)
	if err == nil {
		o.told = budget.MaxAgents
	}
	return err
}

// budget is what the run may use, by what is known now.
func (o *Open) budget() belay.Budget {
	b := o.Tree.Started().Limits.Budget
	b.MaxAgents = o.Tree.Allowed()
	return b
}

// announce tells a budget of its own at once: a run inside a step may come to
// start an agent before the root does.
func (o *Open) announce(l belay.Limits) error {
	b := l.Budget
	if l.RecipeAgents {
		b.MaxAgents = belay.Budget{}.Starts() // its variables are not there yet
	}
	if o.session.Depth > 0 || b == (belay.Budget{MaxAgents: b.MaxAgents}) && b.Starts() == (belay.Budget{}).Starts() {
		return nil
	}
	return o.local.State.Ledger().SetBudget(o.session.Tree, b, time.Now())
}

// RefusedStart asks for the n-th start of an agent's CLI in one attempt, which its
// attendant wants, and says why it may not be; "" = it may.
func RefusedStart(state, tree string, k belay.Key, n int) string {
	st, err := journal.OpenState(state)
	if err != nil {
		return err.Error()
	}
	defer st.Close()
	now := time.Now()
	p, err := st.Ledger().Permit(tree, ledger.Further(k, n), now)
	if err != nil {
		return err.Error()
	}
	if short := p.Short(now); short != ledger.ShortNothing {
		return "the budget is used up (" + string(short) + ")"
	}
	return ""
}
