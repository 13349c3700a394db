package journal

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belay-run/belay"
)

// One purse for a tree: the budget of its root holds for all, a key counts
// once, and what was refused does not count.
//
// promise: G4
func TestPermit(t *testing.T) {
	s := newState(t)
	ask := func(tree string, key belay.Key) Purse {
		t.Helper()
		p, err := s.Permit(tree, key)
		must(t, err)
		return p
	}
	if p := ask("other", "other:a.1"); p.Starts != 1 || p.MaxStarts != belay.DefaultMaxAgents || !p.Until.IsZero() {
		t.Errorf("without a budget: %+v", p)
	}
	began := time.UnixMilli(1_700_000_000_000)
	must(t, s.SetBudget("root", belay.Budget{MaxAgents: 2, MaxTokens: 100, MaxMicroUSD: 7, MaxWall: time.Minute}, began))
	for i, want := range []int{1, 1, 2, 3, 3} { // the third key is refused, each time
		key := belay.Key([]string{"root:a.1", "root:a.1", "in:a.1", "root:b.1", "root:c.1"}[i])
		if p := ask("root", key); p.Starts != want || p.MaxStarts != 2 {
			t.Errorf("%s: %+v, want %d", key, p, want)
		}
	}
	for range 2 { // around a crash
		must(t, s.Spend("root", "root:a.1", belay.Usage{Input: 30, Output: 4, MicroUSD: 3}))
	}
	must(t, s.Spend("root", "in:a.1", belay.Usage{CacheRead: 6, MicroUSD: 2}))
	must(t, s.Spend("other", "other:a.1", belay.Usage{Input: 1000}))
	p := ask("root", "root:a.1")
	if p.Tokens != 40 || p.MaxTokens != 100 || p.Micros != 5 || p.MaxMicros != 7 || !p.Until.Equal(began.Add(time.Minute)) {
		t.Errorf("%+v", p)
	}
}

// Many who ask at once get no more than there is.
//
// promise: G4
func TestPermitTogether(t *testing.T) {
	s := newState(t)
	must(t, s.SetBudget("root", belay.Budget{MaxAgents: 5}, time.Now()))
	var all sync.WaitGroup
	var given atomic.Int64
	for i := range 4 {
		all.Go(func() {
			mine, err := OpenState(s.Dir())
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = mine.Close() }() // nothing of it is checked
			for n := range 5 {
				p, err := mine.Permit("root", belay.Key(fmt.Sprintf("r%d:a.%d", i, n)))
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
