package journal

import (
	"reflect"
	"testing"

	"github.com/belay-run/belay/event"
)

// TestCutCopyGoesOn: a copy that was cut has the records up to there, takes others in
// the place of those that it had, in their epoch, and is whole for who reads it.
func TestCutCopyGoesOn(t *testing.T) {
	t.Parallel()
	s := newState(t)
	r := newRun(t, s, 0)
	appendTo := func(epoch int64, n int) []event.Record {
		must(t, r.SetEpoch(epoch))
		recs := make([]event.Record, n)
		for i := range recs {
			recs[i] = nth(r.ID, i)
		}
		got, err := r.Append(recs)
		must(t, err)
		return got
	}
	want := appendTo(1, 40)
	appendTo(5, 7)
	r.Beat(Sign{Phase: "RUNNING"})
	if err := r.Cut(0); err == nil {
		t.Error("the first record was cut")
	}
	must(t, r.Cut(30))
	must(t, r.Cut(35)) // there are no more
	if r.Seq() != 30 || r.Epoch() != 1 {
		t.Errorf("it ends with record %d, of epoch %d", r.Seq(), r.Epoch())
	}
	want = append(want[:30], appendTo(2, 3)...)
	must(t, r.Close())
	if err := r.Cut(1); err == nil {
		t.Error("a journal that is closed was cut")
	}
	view, err := s.View(r.ID)
	must(t, err)
	got, err := view.Load()
	must(t, err)
	must(t, view.Close())
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%d records\n%v\nwant\n%v", len(got), got, want)
	}
}
