package engine

import (
	"testing"

	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/proc"
)

// An attempt that its keeper ended because the host could be taken for lost is lost, and
// counted so; how it left is no end of it. Any other end is one.
//
// promise: K1, K4
func TestEndOfALeaseIsALostAttempt(t *testing.T) {
	t.Parallel()
	o, err := localState(t).Create(oneStep(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }() // nothing of it is read again
	if _, err := o.Write(); err != nil {
		t.Fatal(err)
	}
	job := effect.Job{Key: "far:a.1", Run: "far", Path: "a"}
	for by, want := range map[fault.KilledBy]fault.Found{fault.KilledLease: fault.Lost, fault.KilledGrace: fault.Harvested, fault.KilledNot: fault.Harvested} {
		st := proc.State{Found: fault.Harvested, Exit: &proc.Exit{Key: job.Key, Began: true, Code: 1, KilledBy: by}}
		facts, err := o.Site().Found(job, 0, st)
		if err != nil {
			t.Fatal(err)
		}
		found, _ := facts[0].Event.(event.AttemptFound)
		if found.How != want || (len(facts) == 1) != (want == fault.Lost) || (found.Count == 1) != (want == fault.Lost) {
			t.Errorf("ended by %q: %+v", by, facts)
		}
	}
}
