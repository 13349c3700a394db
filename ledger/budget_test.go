package ledger_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/ledger"
)

// promise: G4
func TestPermit(t *testing.T) {
	led := open(t)
	began := time.UnixMilli(1_700_000_000_000)
	at := began
	ask := func(tree string, key belay.Key) ledger.BudgetUse {
		t.Helper()
		p, err := led.Permit(tree, key, at)
		must(t, err)
		return p
	}
	if p := ask("other", "other:a.1"); p.Starts != 1 || p.MaxStarts != (belay.Budget{}).Starts() || !p.Until.IsZero() {
		t.Errorf("without a budget: %+v", p)
	}
	must(t, led.SetBudget("root", belay.Budget{MaxAgents: 2, MaxTokens: 100, MaxMicroUSD: 7, MaxWall: time.Minute}, began))
	for i, want := range []int{1, 1, 2, 3, 3} { // the third key is refused, each time
		key := belay.Key([]string{"root:a.1", "root:a.1", "in:a.1", "root:b.1", "root:c.1"}[i])
		if p := ask("root", key); p.Starts != want || p.MaxStarts != 2 {
			t.Errorf("%s: %+v, want %d", key, p, want)
		}
	}
	for range 2 { // around a crash
		must(t, led.Spend("root", "root:a.1", 1, belay.Usage{Input: 30, Output: 4, MicroUSD: 3}))
	}
	must(t, led.Spend("root", "in:a.1", 1, belay.Usage{CacheRead: 6, MicroUSD: 2}))
	must(t, led.Spend("other", "other:a.1", 1, belay.Usage{Input: 1000}))
	p := ask("root", "root:a.1")
	if p.Tokens != 40 || p.MaxTokens != 100 || p.Micros != 5 || p.MaxMicros != 7 || !p.Until.Equal(began.Add(time.Minute)) {
		t.Errorf("%+v", p)
	}
}

// Starts that nobody was asked for count as well, and what is refused for
// another reason than their number does not.
//
// promise: G4
func TestPermitCountsWhatStarts(t *testing.T) {
	led := open(t)
	must(t, led.SetBudget("root", belay.Budget{MaxAgents: 9, MaxTokens: 100}, time.Now()))
	starts := func(key belay.Key, want int, short ledger.Short) {
		t.Helper()
		p, err := led.Permit("root", key, time.Now())
		must(t, err)
		if got := p.Short(time.Now()); p.Starts != want || got != short {
			t.Errorf("%s: %d starts, short of %q; want %d, %q", key, p.Starts, got, want, short)
		}
	}
	starts("root:a.1", 1, ledger.ShortNothing)
	must(t, led.Spend("root", "root:a.1", 3, belay.Usage{Input: 50})) // gone on with, and asked again
	must(t, led.Count("root", "root:a.1"))                            // known already
	must(t, led.Count("root", "root:pardoned.1"))
	starts("root:b.1", 5, ledger.ShortNothing)
	must(t, led.Spend("root", "root:b.1", 1, belay.Usage{Input: 50}))
	starts("root:c.1", 6, ledger.ShortTokens)
	starts("root:d.1", 6, ledger.ShortTokens) // c was not counted
}

// Many who ask at once get no more than there is.
//
// promise: G4
func TestPermitTogether(t *testing.T) {
	state := newState(t)
	led := state.Ledger()
	must(t, led.SetBudget("root", belay.Budget{MaxAgents: 5}, time.Now()))
	var all sync.WaitGroup
	var given atomic.Int64
	for i := range 4 {
		all.Go(func() {
			mine, err := journal.OpenState(state.Dir())
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = mine.Close() }() // nothing of it is checked
			for n := range 5 {
				p, err := mine.Ledger().Permit("root", belay.Key(fmt.Sprintf("r%d:a.%d", i, n)), time.Now())
				if err != nil {
					t.Error(err)
				}
				if err == nil && p.Starts <= p.MaxStarts {
					given.Add(1)
				}
			}
		})
	}
	all.Wait()
	if given.Load() != 5 {
		t.Errorf("%d permits of 5 were given", given.Load())
	}
}

// promise: G4
func TestPurseGivenBackAndCleared(t *testing.T) {
	led := open(t)
	at := time.UnixMilli(1_700_000_000_000)
	b := belay.Budget{MaxAgents: 2, MaxTokens: 100, MaxWall: time.Minute}
	must(t, led.SetBudget("root", b, at))
	ask := func(key belay.Key, starts int, short ledger.Short) {
		t.Helper()
		p, err := led.Permit("root", key, at)
		must(t, err)
		if p.Starts != starts || p.Short(at) != short {
			t.Errorf("%s: %+v, short of %q", key, p, p.Short(at))
		}
	}
	ask("root:a.1", 1, ledger.ShortNothing)
	must(t, led.GiveBack("root", "root:a.1"))
	ask("root:b.1", 1, ledger.ShortNothing)
	must(t, led.Spend("root", "root:b.1", 1, belay.Usage{Input: 100}))
	must(t, led.GiveBack("root", "root:b.1"))
	ask("root:c.1", 2, ledger.ShortTokens)
	at = at.Add(time.Hour)
	must(t, led.ClearBudget("root", b, at))
	ask("root:c.1", 1, ledger.ShortNothing)
	at = at.Add(time.Minute)
	ask("root:d.1", 2, ledger.ShortTime)
}
