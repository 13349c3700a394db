package temporal

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/belay-run/belay/event"
)

// history is n records, which from some number on are those of a task at a time.
func history(n, from int, at time.Duration) []event.Record {
	recs := make([]event.Record, n)
	for i := range recs {
		recs[i] = event.Record{Seq: int64(i + 1), At: time.Unix(int64(i), 0), Run: "r", Event: event.RunReopened{}}
		if i >= from {
			recs[i].At = recs[i].At.Add(at)
		}
	}
	return recs
}

// answers gives pages of seven records at most, of each history in turn; the last one stays.
type answers struct {
	of     [][]event.Record
	stored int64
	asked  int
}

func (a *answers) page(after int64) (Page, error) {
	recs := a.of[min(a.asked, len(a.of)-1)]
	a.asked++
	n := int64(len(recs))
	from := min(after, n)
	return Page{Seq: n, Prev: prev(recs, after), Stored: min(a.stored, n), Records: recs[from:min(from+7, n)]}, nil
}

// TestMirror: whatever a copy has, and whatever was answered on the way, it ends as the
// records are; what is stored is asked for once.
//
// promise: K1
func TestMirror(t *testing.T) {
	t.Parallel()
	truth := history(100, 30, time.Second)
	for name, c := range map[string]struct {
		has, first []event.Record
		stored     int64
		asked      int // at most
	}{
		"all is stored":                {nil, nil, 100, 15},
		"the last page is not":         {nil, nil, 93, 16},
		"nothing is":                   {nil, nil, 0, 101},
		"the last are refused":         {truth[:90], history(95, 90, time.Minute), 90, 6},
		"all after the first":          {truth[:1], history(40, 1, time.Minute), 0, 120},
		"it has long had others":       {history(95, 31, time.Minute), nil, 100, 24},
		"and more of them":             {history(900, 31, time.Minute), nil, 100, 28},
		"and all but the first":        {history(900, 1, time.Minute), nil, 100, 30},
		"it has all":                   {truth, nil, 100, 1},
		"it has one that never was":    {append(truth[:100:100], history(101, 0, time.Minute)[100]), nil, 100, 3},
		"only its last one is another": {append(truth[:99:99], history(100, 0, time.Minute)[99]), nil, 100, 3},
	} {
		copied := list(append([]event.Record(nil), c.has...))
		a := answers{of: [][]event.Record{truth}, stored: c.stored}
		if c.first != nil {
			a.of = [][]event.Record{c.first, truth}
		}
		page, err := bring(&copied, a.page)
		if err != nil || page.Seq != 100 || !reflect.DeepEqual([]event.Record(copied), truth) {
			t.Errorf("%s: %d records, %v", name, len(copied), err)
		}
		if a.asked > c.asked {
			t.Errorf("%s: asked %d times", name, a.asked)
		}
	}
}

// TestMirrorOfUnsteadyRecords: where no two answers are alike nothing is taken, and that
// is an error, soon enough.
func TestMirrorOfUnsteadyRecords(t *testing.T) {
	t.Parallel()
	var copied list
	n := 0
	_, err := bring(&copied, func(int64) (Page, error) {
		n++
		return Page{Seq: 2, Records: history(2, 0, time.Duration(n)*time.Second)}, nil
	})
	if !errors.Is(err, errUnsteady) || len(copied) > 0 || n > 2*maxLooks {
		t.Errorf("%v after %d looks, with %d records", err, n, len(copied))
	}
	copied = history(2, 0, 0)
	n = 0
	_, err = bring(&copied, func(int64) (Page, error) {
		n++
		return Page{Seq: 2, Prev: "another"}, nil
	})
	if !errors.Is(err, errUnsteady) || n > 3*maxCuts {
		t.Errorf("%v after %d looks", err, n)
	}
}

// TestPushOnOtherRecords: who has seen as many records as there are, but others, has to
// look again; an older Belay does not say which ones it has seen.
//
// promise: K1
func TestPushOnOtherRecords(t *testing.T) {
	t.Parallel()
	recs := history(5, 3, time.Second)
	w := &drive{recs: recs}
	for last, fits := range map[string]bool{stamp(recs[4]): true, "": true, stamp(history(5, 3, time.Minute)[4]): false} {
		if err := w.current(Push{Seq: 5, Last: last}); (err == nil) != fits {
			t.Errorf("%q: %v", last, err)
		}
	}
}
