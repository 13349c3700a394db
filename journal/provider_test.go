package journal

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay"
)

// phone asks and tells about one service, at a time that the test sets.
type phone struct {
	t  *testing.T
	s  *State
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

func (p *phone) gate(key belay.Key, retry bool) Allowance {
	p.t.Helper()
	g, err := p.s.Allow("claude", key, retry, p.at)
	must(p.t, err)
	return g
}

func (p *phone) told(key belay.Key, class belay.Class) {
	p.t.Helper()
	must(p.t, p.s.Report("claude", key, class, class == belay.ClassNone, p.at))
}

func (p *phone) fail(n int, class belay.Class) {
	p.t.Helper()
	for range n {
		p.told(p.key(), class)
	}
}

// known is what is known of the service.
func (p *phone) known() Service {
	p.t.Helper()
	list, err := p.s.Services()
	must(p.t, err)
	i := slices.IndexFunc(list, func(s Service) bool { return s.Name == "claude" })
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
	if g, err := p.s.Allow("codex", "r:b.1", true, p.at); err != nil || !g.OK {
		t.Errorf("another service: %+v, %v", g, err)
	}
	must(t, p.s.rebuild())
	if got := p.known(); got.Tokens != 5.1 {
		t.Errorf("after a rebuild: %+v", got)
	}
	must(t, p.s.ClearServices("claude"))
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
	pause := firstPause
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
		if g := p.gate(p.key(), false); g.OK || !g.Until.Equal(p.at.Add(lookAgain)) {
			t.Fatalf("a second trial: %+v", g)
		}
		p.told(trial, belay.ClassTransient)
		p.told(trial, belay.ClassTransient)
		pause = min(2*pause, longPause)
	}
	p.told(early, belay.ClassNone)
	if g := p.gate(p.key(), false); !g.OK || p.known().Failures != 0 || !p.known().Opened.IsZero() {
		t.Errorf("it answered: %+v, %+v", g, p.known())
	}
}

// A trial that never comes back, or that says nothing, blocks nobody for long.
func TestTrialIsLeased(t *testing.T) {
	p := newPhone(t)
	p.fail(breakAfter, belay.ClassTransient)
	p.at = p.at.Add(firstPause)
	lost, next, last := p.key(), p.key(), p.key()
	if g := p.gate(lost, false); !g.OK {
		t.Fatalf("%+v", g)
	}
	p.at = p.at.Add(trialLease - time.Second)
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
	p.fail(breakAfter, belay.ClassTransient)
	for _, back := range []time.Duration{time.Second, time.Hour, 10 * 365 * 24 * time.Hour} {
		p.at = p.at.Add(-back)
		if g := p.gate(p.key(), false); g.OK || !g.Until.Equal(p.at.Add(firstPause)) {
			t.Errorf("%s back: %+v at %s", back, g, p.at)
		}
	}
	p.at = p.at.Add(firstPause)
	p.gate("r:trial.1", false)
	p.at = p.at.Add(-24 * time.Hour)
	if g := p.gate(p.key(), false); g.OK || g.Until.After(p.at.Add(firstPause)) {
		t.Errorf("a day back during a trial: %+v", g)
	}
	p.at = p.at.Add(trialLease)
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
				if g := p.gate(key, r.IntN(2) == 0); !g.OK && !g.Spent && !(g.Until.After(p.at) && !g.Until.After(p.at.Add(longPause))) {
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
			if tries > int(trialLease/lookAgain)+1 {
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
	must(t, p.s.inIndex("test", func(c *sqlite3.Conn) error {
		return run(c, `WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ?)
			INSERT INTO told (name, key) SELECT 'x', n FROM i`, 2*countedKeys)
	}))
	p.fail(1, belay.ClassQuota)
	must(t, p.s.inIndex("test", func(c *sqlite3.Conn) error {
		n, err := askInt(c, "SELECT count(*) FROM told")
		if n != countedKeys {
			t.Errorf("%d are remembered", n)
		}
		return err
	}))
}

// playTell tells of successes, a line for each, with keys from a first number
// on: ARGS are the first, the number after the last, and the step.
func playTell(s *State, args []string) error {
	var n [3]int
	for i := range n {
		var err error
		if n[i], err = strconv.Atoi(args[i]); err != nil {
			return err
		}
	}
	for i := n[0]; i < n[1]; i += n[2] {
		if err := tellOne(s, i); err != nil {
			return err
		}
		fmt.Println(i)
	}
	waitForRelease()
	return nil
}

func tellOne(s *State, i int) error {
	return s.Report("claude", belay.Key(fmt.Sprintf("r:b.%d", i)), belay.ClassNone, true, time.Now())
}

// Two processes that tell at the same time, partly the same, lose and double
// nothing, and neither does one that is killed and does it again.
func TestServicesOfProcesses(t *testing.T) {
	p := newPhone(t)
	p.fail(12, belay.ClassQuota)
	if got := p.known().Tokens; got != 0 {
		t.Fatalf("%g tokens", got)
	}
	one := start(t, "tell", p.s.Dir(), "0", "20", "1")
	two := start(t, "tell", p.s.Dir(), "10", "30", "1")
	for range 20 {
		one.line()
		two.line()
	}
	one.release()
	two.release()
	if got := p.known().Tokens; got != 3 {
		t.Fatalf("%g tokens after 30 successes", got)
	}
	for round := range 3 {
		first := 30 + 20*round
		c := start(t, "tell", p.s.Dir(), strconv.Itoa(first), strconv.Itoa(first+20), "1")
		for range 3 + 5*round {
			c.line()
		}
		c.kill()
		for i := first; i < first+20; i++ { // all of it again, as a new driver does
			must(t, tellOne(p.s, i))
		}
		if got, want := p.known().Tokens, float64(first+20)/10; got != want {
			t.Fatalf("round %d: %g tokens, want %g", round, got, want)
		}
	}
}

// Of many who ask at once when the pause is over, one is let through.
func TestOneTrialAtATime(t *testing.T) {
	p := newPhone(t)
	p.fail(breakAfter, belay.ClassTransient)
	at := p.at.Add(firstPause)
	var all sync.WaitGroup
	var through atomic.Int64
	for i := range 6 {
		all.Go(func() {
			mine, err := OpenState(p.s.Dir())
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = mine.Close() }() // nothing of it is checked
			g, err := mine.Allow("claude", belay.Key(fmt.Sprintf("r%d:a.1", i)), false, at)
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

// An index of the first schema gets the services and keeps what it had.
func TestOlderIndexGetsServices(t *testing.T) {
	dir := usedState(t)
	s, err := OpenState(dir)
	must(t, err)
	_, err = s.RaiseCap("r", "restarts", 3)
	must(t, err)
	must(t, s.Close())
	c, err := disk{}.write(s.indexPath())
	must(t, err)
	must(t, c.Exec("DROP TABLE services; DROP TABLE told; DROP TABLE leases; PRAGMA user_version = 1"))
	must(t, c.Close())
	must(t, s.Report("claude", "r:a.1", belay.ClassQuota, false, time.Now()))
	defer s.Close()
	if n, err := s.Cap("r", "restarts"); n != 3 || err != nil {
		t.Errorf("cap %d, %v", n, err)
	}
	if list, err := s.Services(); err != nil || len(list) != 1 || list[0].Tokens != 9 {
		t.Errorf("%+v, %v", list, err)
	}
}

// A permit that was not used is given back; one that was used stays. A budget
// that is cleared is as it was at first, and its time begins anew.
//
// promise: G4
func TestPurseGivenBackAndCleared(t *testing.T) {
	s := newState(t)
	at := time.UnixMilli(1_700_000_000_000)
	b := belay.Budget{MaxAgents: 2, MaxTokens: 100, MaxWall: time.Minute}
	must(t, s.SetBudget("root", b, at))
	ask := func(key belay.Key, starts int, short Short) {
		t.Helper()
		p, err := s.Permit("root", key, at)
		must(t, err)
		if p.Starts != starts || p.Short(at) != short {
			t.Errorf("%s: %+v, short of %q", key, p, p.Short(at))
		}
	}
	ask("root:a.1", 1, ShortNothing)
	must(t, s.GiveBack("root", "root:a.1"))
	ask("root:b.1", 1, ShortNothing)
	must(t, s.Spend("root", "root:b.1", 1, belay.Usage{Input: 100}))
	must(t, s.GiveBack("root", "root:b.1"))
	ask("root:c.1", 2, ShortTokens)
	at = at.Add(time.Hour)
	must(t, s.ClearBudget("root", b, at))
	ask("root:c.1", 1, ShortNothing)
	at = at.Add(time.Minute)
	ask("root:d.1", 2, ShortTime)
}
