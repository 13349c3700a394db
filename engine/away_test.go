package engine

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/library"
	"github.com/belay-run/belay/journal"
)

// farAway is a driver elsewhere that ends every run in one turn.
type farAway struct {
	recs  []event.Record
	facts []flow.Fact
}

func (*farAway) Name() string { return "a test" }

func (f *farAway) Drive(_ context.Context, _ <-chan struct{}, c Copy, facts []flow.Fact) error {
	p, err := c.Parcel()
	if err != nil {
		return err
	}
	f.facts = facts
	at := time.Unix(1, 0).UTC()
	for i, e := range []event.Event{
		p.Started, event.RunAttached{Epoch: 1},
		event.RunEnded{RunResult: belay.RunResult{Status: belay.Failed, Code: exit.Failed}},
	} {
		f.recs = append(f.recs, event.Record{Seq: int64(i + 1), Epoch: int64(min(i, 1)), At: at, Run: c.ID(), Event: e})
	}
	return c.Take(f.recs)
}

func (f *farAway) Settle(Copy, []flow.Fact) error { return nil }
func (f *farAway) Fetch(c Copy) error             { return c.Take(f.recs[c.Seq():]) }

func (f *farAway) Begun(belay.RunID) (Parcel, []event.Record, error) {
	return Parcel{}, f.recs, nil
}

func oneStep(t *testing.T) Spec {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "r.yaml"), []byte("name: r\nsteps: [{id: a, command: 'true'}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := library.Shelf{Work: dir}.Load(filepath.Join(dir, "r.yaml"))
	if err != nil || set.Errors() {
		t.Fatal(err, set.Text())
	}
	return Spec{Set: set, Dir: dir, Vars: map[string]json.RawMessage{"x": belay.Text("1").JSON}, ID: "far"}
}

func localState(t *testing.T) *Local {
	t.Helper()
	st, err := journal.OpenState(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Local{State: st, Version: "test"}
}

// A run that is driven elsewhere has a copy here with the same records, which no
// other driver takes; another machine that gets the parcel and the records has the
// same run.
//
// promise: K1
func TestARunDrivenElsewhereIsCopied(t *testing.T) {
	l := localState(t)
	far := &farAway{}
	l.Elsewhere = far
	o, err := l.Create(oneStep(t))
	if err != nil {
		t.Fatal(err)
	}
	p, err := o.Copy().Parcel()
	if err != nil {
		t.Fatal(err)
	}
	res, err := o.Drive(t.Context(), nil, nil)
	if err != nil || res.Status != belay.Failed || res.Code != exit.Failed {
		t.Fatalf("%+v %v", res, err)
	}
	recs, err := o.Records()
	if err != nil || len(recs) != 3 || recs[2].Epoch != 1 {
		t.Fatalf("%v %v", recs, err)
	}
	gap := event.Record{Seq: 9, Epoch: 1, Run: o.ID, Event: event.RunReopened{}}
	if err := o.Copy().Take([]event.Record{gap}); err == nil {
		t.Error("a gap was taken")
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	l.Elsewhere = nil
	var coded *exit.Error
	if _, err := l.Resume("far"); !errors.As(err, &coded) || coded.Code != exit.Invalid {
		t.Errorf("it can be driven here: %v", err)
	}

	other := localState(t)
	for range 2 { // made, and found again
		got, err := other.Receive("far", p, recs, "a test")
		if err != nil {
			t.Fatal(err)
		}
		if got.Tree.Status() != belay.Failed || got.Copy().Seq() != 3 || got.Site().Hand == nil {
			t.Errorf("%s %d", got.Tree.Status(), got.Copy().Seq())
		}
		if err := got.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := other.Resume("far"); err == nil {
		t.Error("the copy of a host can be driven")
	}
}
