package journal

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belay-run/belay/exit"
)

// Who gives up says so, and what it leaves waiting takes the turn from nobody.
func TestTurnGivenUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unlock, err := lockDir(dir)
	must(t, err)
	_, err = lockWithin(dir, time.Millisecond)
	var e *exit.Error
	if !errors.As(err, &e) || e.Code != exit.Infra || !strings.Contains(err.Error(), "another process has held") {
		t.Fatalf("got %v, want an error that says that the turn did not come", err)
	}
	unlock()
	for range 5000 { // the one that was left behind comes in between, and goes
		unlock, err := lockWithin(dir, 10*time.Second)
		must(t, err)
		unlock()
	}
}

// All who wait have a turn, one after the other.
func TestTurnsComeToAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unlock, err := lockDir(dir)
	must(t, err)
	const waiters = 50
	var all sync.WaitGroup
	var inside, had atomic.Int32
	for range waiters {
		all.Go(func() {
			unlock, err := lockDir(dir)
			if err != nil {
				t.Error(err)
				return
			}
			if n := inside.Add(1); n != 1 {
				t.Errorf("%d have the turn at once", n)
			}
			had.Add(1)
			inside.Add(-1)
			unlock()
		})
	}
	if n := had.Load(); n != 0 {
		t.Errorf("%d had a turn that somebody else has", n)
	}
	unlock()
	all.Wait()
	if n := had.Load(); n != waiters {
		t.Errorf("%d of %d had their turn", n, waiters)
	}
}
