package proc

import (
	"testing"
	"time"

	"github.com/belay-run/belay/fault"
)

// TestLease: a keeper ends what it holds when nobody renews its lease, whether its
// driver is there or gone, and starts nothing more; a lease that is renewed in time
// ends nothing.
func TestLease(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		r := newRig(t)
		k, _ := r.attach()
		one := r.bash("one", `echo up; sleep 300`)
		one.Deadline = time.Hour // the grace for a driver that is gone does not end it
		r.spawn(k, one)
		r.wait("it is up", func() bool { return r.text("one.log") == "up\n" })
		for range 50 { // longer than the lease, which a busy machine does not miss
			if err := k.Lease(2*time.Second, 100*time.Millisecond); err != nil {
				t.Fatal(err)
			}
			select {
			case e := <-k.Events():
				t.Fatalf("it was ended, and its lease was renewed: %+v", e)
			case <-time.After(50 * time.Millisecond):
			}
		}
		if !gone {
			if e := <-k.Events(); e.Exit == nil || e.Exit.Key != one.Key || e.Exit.KilledBy != fault.KilledLease {
				t.Errorf("with its driver there: %+v", e)
			}
			late := r.bash("late", `echo up`)
			r.spawn(k, late)
			if e := <-k.Events(); e.Exit == nil || e.Exit.Key != late.Key || e.Exit.KilledBy != fault.KilledLease || e.Exit.Began {
				t.Errorf("after the lease: %+v", e)
			}
			if err := k.Lease(time.Hour, 0); err != nil {
				t.Fatal(err)
			}
			again := r.bash("again", `exit 3`)
			r.spawn(k, again)
			if e := <-k.Events(); e.Exit == nil || e.Exit.Code != 3 {
				t.Errorf("after it was renewed: %+v", e)
			}
			r.close(k)
			continue
		}
		pid := k.pid
		if err := k.hangUp(); err != nil {
			t.Fatal(err)
		}
		r.wait("the keeper has left", func() bool {
			p, err := look(pid)
			return err != nil || p.zombie
		})
		k2, states := r.attach(one.Key)
		if s := states[one.Key]; s.Found != fault.Harvested || s.Exit.KilledBy != fault.KilledLease {
			t.Errorf("without a driver: %+v", s)
		}
		r.close(k2)
		r.close2(pid)
	}
}
