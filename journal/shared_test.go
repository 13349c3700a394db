package journal

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/ledger"
)

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
	return s.Ledger().Report("claude", belay.Key(fmt.Sprintf("r:b.%d", i)), ledger.Call{OK: true}, time.Now())
}

// Two processes that tell at the same time, partly the same, lose and double
// nothing, and neither does one that is killed and does it again.
func TestServicesOfProcesses(t *testing.T) {
	t.Parallel()
	s := newState(t)
	tokens := func() float64 {
		t.Helper()
		list, err := s.Ledger().Services()
		must(t, err)
		if len(list) != 1 {
			t.Fatalf("services %+v", list)
		}
		return list[0].Tokens
	}
	for i := range 12 {
		must(t, s.Ledger().Report("claude", belay.Key(fmt.Sprintf("r:a.%d", i)), ledger.Call{Class: belay.ClassQuota}, time.Now()))
	}
	if got := tokens(); got != 0 {
		t.Fatalf("%g tokens", got)
	}
	one := start(t, "tell", s.Dir(), "0", "20", "1")
	two := start(t, "tell", s.Dir(), "10", "30", "1")
	for range 20 {
		one.line()
		two.line()
	}
	one.release()
	two.release()
	if got := tokens(); got != 3 {
		t.Fatalf("%g tokens after 30 successes", got)
	}
	for round := range 3 {
		first := 30 + 20*round
		c := start(t, "tell", s.Dir(), strconv.Itoa(first), strconv.Itoa(first+20), "1")
		for range 3 + 5*round {
			c.line()
		}
		c.kill()
		for i := first; i < first+20; i++ { // all of it again, as a new driver does
			must(t, tellOne(s, i))
		}
		if got, want := tokens(), float64(first+20)/10; got != want {
			t.Fatalf("round %d: %g tokens, want %g", round, got, want)
		}
	}
	had := tokens()
	must(t, s.rebuild())
	if got := tokens(); got != had {
		t.Errorf("%g tokens after a rebuild, %g before", got, had)
	}
}

// An index of the first schema gets the services and keeps what it had.
func TestOlderIndexGetsServices(t *testing.T) {
	t.Parallel()
	dir := usedState(t)
	s, err := OpenState(dir)
	must(t, err)
	_, err = s.Ledger().RaiseCap("r", "restarts", 3)
	must(t, err)
	must(t, s.Close())
	c, err := disk{}.write(s.indexPath())
	must(t, err)
	must(t, c.Exec("DROP TABLE services; DROP TABLE told; DROP TABLE leases; DROP TABLE watched; DROP TABLE notified; DROP TABLE notices; DROP TABLE limits;"+
		"DROP INDEX runs_open; DROP INDEX runs_status; DROP INDEX runs_work; ALTER TABLE runs DROP COLUMN work; ALTER TABLE runs DROP COLUMN open; PRAGMA user_version = 1"))
	must(t, c.Close())
	must(t, s.Ledger().Report("claude", "r:a.1", ledger.Call{Class: belay.ClassQuota}, time.Now()))
	defer s.Close()
	if n, err := s.Ledger().Cap("r", "restarts"); n != 3 || err != nil {
		t.Errorf("cap %d, %v", n, err)
	}
	if list, err := s.Ledger().Services(); err != nil || len(list) != 1 || list[0].Tokens != 9 {
		t.Errorf("%+v, %v", list, err)
	}
}

// A permit that was not used is given back; one that was used stays. A budget
// that is cleared is as it was at first, and its time begins anew.
//
