package journal

import (
	"errors"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/ledger"
)

// A list that is made while a run begins does not call it unreadable, and what
// its driver says of it is not written over by who read it before.
func TestBeginning(t *testing.T) {
	t.Parallel()
	s := newState(t)
	r, err := s.Create("r")
	must(t, err)
	must(t, s.rebuild())
	one := func() Summary {
		t.Helper()
		sums, err := s.Runs()
		must(t, err)
		if len(sums) != 1 {
			t.Fatalf("%+v", sums)
		}
		return sums[0]
	}
	if sum := one(); !sum.Beginning || sum.Status != belay.Running || sum.Driver != s.self || sum.Reason != "" {
		t.Errorf("while it begins: %+v", sum)
	}
	must(t, s.NoteRun(Summary{ID: "r", Name: "x", Status: belay.Achieved}))
	must(t, s.catchUp(Summary{ID: "r", Name: "x", Status: belay.Running}, &ledger.Member{Run: "r"}))
	if sum := one(); sum.Status != belay.Achieved || sum.Beginning {
		t.Errorf("its end was written over: %+v", sum)
	}
	if all, err := s.Ledger().Tree(""); err != nil || len(all) != 0 {
		t.Errorf("sessions: %v, %v", all, err)
	}
	must(t, r.Close())
	must(t, s.rebuild())
	if sum := one(); sum.Beginning || sum.Status != Unreadable || sum.Reason == "" || sum.Cure == "" {
		t.Errorf("left before its first record: %+v", sum)
	}
}

// Who looks at a run in the moment in which it begins sees nothing yet, or its
// first record; a driver that is faster than the look is no damage.
func TestALookAtARunThatBegins(t *testing.T) {
	t.Parallel()
	s := newState(t)
	for range 40 {
		r, err := s.Create("")
		must(t, err)
		looks := make(chan error)
		go func() {
			for {
				v, err := s.View(r.ID)
				var recs []event.Record
				if err == nil {
					recs, err = v.Load()
					err = errors.Join(err, v.Close())
				}
				var never *Unbegun
				if err != nil && !errors.As(err, &never) || len(recs) > 0 {
					looks <- err
					return
				}
			}
		}()
		fillRun(t, r, 1)
		r.Beat(Sign{Phase: "running"})
		must(t, <-looks)
		must(t, r.Close())
	}
}
