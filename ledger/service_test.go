package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/ledger"
)

// phone asks and tells about one service, at a time that the test sets.
type phone struct {
	t  *testing.T
	s  *journal.State
	at time.Time
	n  int
}

func newPhone(t *testing.T) *phone {
	t.Helper()
	return &phone{t: t, s: newState(t), at: time.UnixMilli(1_700_000_000_000).UTC()}
}

func (p *phone) key() belay.Key {
	p.n++
	return belay.Key(fmt.Sprintf("r:a.%d", p.n))
}

func (p *phone) gate(key belay.Key, retry bool) ledger.Allowance {
	p.t.Helper()
	g, err := p.s.Ledger().Allow("claude", key, retry, p.at)
	must(p.t, err)
	return g
}

func (p *phone) told(key belay.Key, class belay.Class) {
	p.t.Helper()
	must(p.t, p.s.Ledger().Report("claude", key, ledger.Call{Class: class, OK: class == belay.ClassNone}, p.at))
}

func (p *phone) fail(n int, class belay.Class) {
	p.t.Helper()
	for range n {
		p.told(p.key(), class)
	}
}

// known is what is known of the service.
func (p *phone) known() ledger.Service {
	p.t.Helper()
	list, err := p.s.Ledger().Services()
	must(p.t, err)
	i := slices.IndexFunc(list, func(s ledger.Service) bool { return s.Name == "claude" })
	if i < 0 {
		p.t.Fatalf("no service in %+v", list)
	}
	return list[i]
}

// Retries run out for all runs at once, come back by successes only, and what
// is counted is counted once.
func TestRetryTokens(t *testing.T) {
	p := newPhone(t)
	if g := p.gate(p.key(), true); !g.OK {
		t.Fatalf("a service that nobody called: %+v", g)
	}
	p.fail(4, belay.ClassQuota)
	last := p.key()
	if g := p.gate(last, true); !g.OK {
		t.Errorf("with 6 tokens: %+v", g)
	}
	for range 3 { // around a crash
		p.told(last, belay.ClassTimeout)
	}
	if g := p.gate(p.key(), true); g.OK || !g.Spent || !g.Until.IsZero() || g.Why == "" {
		t.Errorf("with 5 tokens: %+v", g)
	}
	if g := p.gate(p.key(), false); !g.OK {
		t.Errorf("a first try with 5 tokens: %+v", g)
	}
	for _, class := range []belay.Class{belay.ClassWorkFailure, belay.ClassCancelled, belay.ClassUnknown, belay.ClassRefusal} {
		p.told(p.key(), class)
	}
	if got := p.known(); got.Tokens != 5 || got.Failures != 0 {
		t.Errorf("what is no fault of the service: %+v", got)
	}
	p.told(p.key(), belay.ClassNone)
	if g := p.gate(p.key(), true); !g.OK || p.known().Tokens != 5.1 {
		t.Errorf("after a success: %+v, %+v", g, p.known())
	}
	if g, err := p.s.Ledger().Allow("codex", "r:b.1", true, p.at); err != nil || !g.OK {
		t.Errorf("another service: %+v, %v", g, err)
	}
	must(t, p.s.Ledger().ClearServices("claude"))
	p.told(last, belay.ClassTimeout) // counted long ago
	if g := p.gate(p.key(), true); !g.OK {
		t.Errorf("cleared: %+v", g)
	}
}

// Five failures in a row open the breaker; one attempt at a time tries whether
// the service is back, and each that fails doubles the pause.
func TestBreaker(t *testing.T) {
	p := newPhone(t)
	p.fail(2, belay.ClassTransient)
	p.fail(2, belay.ClassAuth)
	p.told(p.key(), belay.ClassNone)
	p.fail(4, belay.ClassRateLimit)
	if g := p.gate(p.key(), false); !g.OK {
		t.Fatalf("four in a row: %+v", g)
	}
	early := p.key() // under way when it opens
	p.fail(1, belay.ClassTransient)
	pause := ledger.FirstPause
	for range 7 {
		end := p.at.Add(pause)
		if g := p.gate(p.key(), false); g.OK || g.Spent || !g.Until.Equal(end) || g.Why == "" {
			t.Fatalf("open for %s: %+v", pause, g)
		}
		p.at = end.Add(-1)
		p.fail(1, belay.ClassTransient) // late news change nothing
		if g := p.gate(p.key(), false); g.OK || !g.Until.Equal(end) {
			t.Fatalf("just before the end of %s: %+v", pause, g)
		}
		p.at = end
		trial := p.key()
		if g := p.gate(trial, false); !g.OK {
			t.Fatalf("after %s: %+v", pause, g)
		}
		if g := p.gate(trial, false); !g.OK {
			t.Fatalf("the trial asks again, after a crash: %+v", g)
		}
		if g := p.gate(p.key(), false); g.OK || !g.Until.Equal(p.at.Add(ledger.LookAgain)) {
			t.Fatalf("a second trial: %+v", g)
		}
		p.told(trial, belay.ClassTransient)
		p.told(trial, belay.ClassTransient)
		pause = min(2*pause, ledger.LongPause)
	}
	p.told(early, belay.ClassNone)
	if g := p.gate(p.key(), false); !g.OK || p.known().Failures != 0 || !p.known().Opened.IsZero() {
		t.Errorf("it answered: %+v, %+v", g, p.known())
	}
}

// A trial that never comes back, or that says nothing, blocks nobody for long.
func TestTrialIsLeased(t *testing.T) {
	p := newPhone(t)
	p.fail(ledger.BreakAfter, belay.ClassTransient)
	p.at = p.at.Add(ledger.FirstPause)
	lost, next, last := p.key(), p.key(), p.key()
	if g := p.gate(lost, false); !g.OK {
		t.Fatalf("%+v", g)
	}
	p.at = p.at.Add(ledger.TrialLease - time.Second)
	if g := p.gate(next, false); g.OK || !g.Until.Equal(p.at.Add(time.Second)) {
		t.Errorf("before the lease ends: %+v", g)
	}
	p.at = p.at.Add(time.Second)
	if g := p.gate(next, false); !g.OK {
		t.Errorf("after the lease: %+v", g)
	}
	p.told(lost, belay.ClassTransient) // its place is taken
	if got := p.known(); got.Trial != next || got.Until.After(p.at) {
		t.Errorf("late news of the lost one: %+v", got)
	}
	p.told(next, belay.ClassCancelled)
	if g := p.gate(last, false); !g.OK {
		t.Errorf("after one that said nothing: %+v", g)
	}
	p.told(last, belay.ClassNone)
	if g := p.gate(p.key(), false); !g.OK || !p.known().Opened.IsZero() {
		t.Errorf("after one that went well: %+v", g)
	}
}

// An id that is used again is another attempt, once it was let through.
func TestAnAttemptThatStartsAnewCounts(t *testing.T) {
	p := newPhone(t)
	for want := 9.0; want > 6; want-- {
		p.gate("r:a.1", false)
		p.told("r:a.1", belay.ClassQuota)
		p.told("r:a.1", belay.ClassQuota)
		if got := p.known().Tokens; got != want {
			t.Fatalf("%g tokens, want %g", got, want)
		}
	}
}

// A clock that is turned back, however far, opens nothing and blocks for no
// longer than the pause.
func TestServicesWhenTheClockIsTurnedBack(t *testing.T) {
	p := newPhone(t)
	p.fail(ledger.BreakAfter, belay.ClassTransient)
	for _, back := range []time.Duration{time.Second, time.Hour, 10 * 365 * 24 * time.Hour} {
		p.at = p.at.Add(-back)
		if g := p.gate(p.key(), false); g.OK || !g.Until.Equal(p.at.Add(ledger.FirstPause)) {
			t.Errorf("%s back: %+v at %s", back, g, p.at)
		}
	}
	p.at = p.at.Add(ledger.FirstPause)
	p.gate("r:trial.1", false)
	p.at = p.at.Add(-24 * time.Hour)
	if g := p.gate(p.key(), false); g.OK || g.Until.After(p.at.Add(ledger.FirstPause)) {
		t.Errorf("a day back during a trial: %+v", g)
	}
	p.at = p.at.Add(ledger.TrialLease)
	if g := p.gate(p.key(), false); !g.OK {
		t.Errorf("after the lease, as the clock has it now: %+v", g)
	}
}

// Whatever happens and whatever the clock does: tokens stay within their
// bounds, no answer puts off for longer than the longest pause, and whoever
// asks again when told to comes through in the end.
func TestServicesHold(t *testing.T) {
	classes := []belay.Class{belay.ClassNone, belay.ClassTransient, belay.ClassRateLimit, belay.ClassAuth,
		belay.ClassTimeout, belay.ClassQuota, belay.ClassCancelled, belay.ClassWorkFailure}
	for seed := range uint64(6) {
		p := newPhone(t)
		r := rand.New(rand.NewPCG(seed, 5))
		for range 120 {
			p.at = p.at.Add(time.Duration(r.Int64N(int64(3*time.Minute))) - 30*time.Second)
			key := belay.Key(fmt.Sprintf("r:a.%d", r.IntN(200)))
			switch r.IntN(3) {
			case 0:
				if g := p.gate(key, r.IntN(2) == 0); !g.OK && !g.Spent && !(g.Until.After(p.at) && !g.Until.After(p.at.Add(ledger.LongPause))) {
					t.Fatalf("seed %d: %+v at %s", seed, g, p.at)
				}
			default:
				p.told(key, classes[r.IntN(len(classes))])
				if got := p.known(); got.Tokens < 0 || got.Tokens > 10 {
					t.Fatalf("seed %d: %+v", seed, got)
				}
			}
		}
		for tries := 0; ; tries++ {
			g := p.gate("r:patient.1", false)
			if g.OK {
				break
			}
			if tries > int(ledger.TrialLease/ledger.LookAgain)+1 {
				t.Fatalf("seed %d: still %+v", seed, g)
			}
			p.at = g.Until
		}
	}
}

// What is counted of attempts is not kept for ever.
func TestCountedKeysArePruned(t *testing.T) {
	p := newPhone(t)
	p.fail(1, belay.ClassQuota)
	store := p.s.Ledger().Store
	must(t, store.Change("test", func(c ledger.Tx) error {
		return c.Run(`WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ?)
			INSERT INTO told (name, key) SELECT 'x', n FROM i`, 2*ledger.CountedKeys)
	}))
	p.fail(1, belay.ClassQuota)
	must(t, store.Read("test", func(c ledger.Tx) error {
		return c.Each("SELECT count(*) FROM told", nil, func(q ledger.Row) {
			if n := q.ColumnInt64(0); n != ledger.CountedKeys {
				t.Errorf("%d are remembered", n)
			}
		})
	}))
}

// Of many who ask at once when the pause is over, one is let through.
func TestOneTrialAtATime(t *testing.T) {
	p := newPhone(t)
	p.fail(ledger.BreakAfter, belay.ClassTransient)
	at := p.at.Add(ledger.FirstPause)
	var all sync.WaitGroup
	var through atomic.Int64
	for i := range 6 {
		all.Go(func() {
			mine, err := journal.OpenState(p.s.Dir())
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = mine.Close() }() // nothing of it is checked
			g, err := mine.Ledger().Allow("claude", belay.Key(fmt.Sprintf("r%d:a.1", i)), false, at)
			if err != nil {
				t.Error(err)
			}
			if g.OK {
				through.Add(1)
			}
		})
	}
	all.Wait()
	if through.Load() != 1 {
		t.Errorf("%d were let through", through.Load())
	}
}

// A service that says until when it takes no calls is left alone so long by all, and
// a clock that was turned back makes that no longer.
func TestRateLimitHoldsAll(t *testing.T) {
	p := newPhone(t)
	limited := func(after time.Duration) {
		must(t, p.s.Ledger().Report("claude", p.key(), ledger.Call{Class: belay.ClassRateLimit, After: after}, p.at))
	}
	limited(time.Minute)
	limited(10 * time.Second) // another one knew less
	end := p.at.Add(time.Minute)
	for range 2 { // as somebody else opens it
		if g := p.gate(p.key(), false); g.OK || g.Spent || !g.Until.Equal(end) || g.Why == "" {
			t.Fatalf("limited: %+v", g)
		}
	}
	if got := p.known(); !got.Until.Equal(end) || !got.Opened.IsZero() {
		t.Errorf("shown: %+v", got)
	}
	p.told(p.key(), belay.ClassNone) // one that was let in before
	p.at = end.Add(-1)
	if g := p.gate(p.key(), false); g.OK {
		t.Errorf("just before the end: %+v", g)
	}
	p.at = end
	for range 3 { // no trial: the service said so itself
		if g := p.gate(p.key(), false); !g.OK {
			t.Errorf("at the end: %+v", g)
		}
	}
	limited(6 * time.Minute) // longer than anybody waits
	if g := p.gate(p.key(), false); !g.OK {
		t.Errorf("a limit for longer than anybody waits: %+v", g)
	}
	limited(4 * time.Minute)
	p.at = p.at.Add(-time.Hour)
	if g := p.gate(p.key(), false); g.OK || !g.Until.Equal(p.at.Add(ledger.LongPause)) {
		t.Errorf("with the clock an hour earlier: %+v", g)
	}
	must(t, p.s.Ledger().ClearServices("claude"))
	if g := p.gate(p.key(), false); !g.OK {
		t.Errorf("cleared: %+v", g)
	}
}
