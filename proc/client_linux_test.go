package proc

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/fault"
)

// A driver may ask for everything before it listens to anything: neither end
// waits for the other to read.
func TestSpawnNeverWaitsForItsEvents(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	const many = 5000
	asked := make(chan error, 1)
	go func() {
		for i := range many {
			s := r.bash("s"+itoa(i), `true`)
			s.Dir = r.file("none")
			if err := k.Spawn(s); err != nil {
				asked <- err
				return
			}
		}
		asked <- nil
	}()
	select {
	case err := <-asked:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(30 * time.Second):
		_ = k.hangUp() // lets the other goroutine go
		t.Fatalf("driver and keeper wait for each other: %v", <-asked)
	}
	seen := map[belay.Key]bool{}
	late := time.After(30 * time.Second)
	for len(seen) < many {
		select {
		case e := <-k.Events():
			if e.Exit == nil || e.Exit.Fault != fault.Dir || seen[e.Exit.Key] {
				t.Fatalf("after %d: %+v", len(seen), e)
			}
			seen[e.Exit.Key] = true
		case <-late:
			t.Fatalf("%d of %d exits", len(seen), many)
		}
	}
	r.close(k)
}

// Events that wait keep their order, the last one included.
func TestEventsWaitInOrder(t *testing.T) {
	t.Parallel()
	k := newClient(nil, Options{})
	const many = 3 * eventRoom
	k.reader.Go(func() {
		defer close(k.events)
		for i := range many {
			k.say(Event{Exit: &Exit{Code: i}})
		}
		k.say(Event{Gone: ErrKeeperGone})
		k.deliverer.Wait()
	})
	for i := range many {
		if e := <-k.Events(); e.Exit == nil || e.Exit.Code != i {
			t.Fatalf("event %d: %+v", i, e)
		}
	}
	if e := <-k.Events(); !errors.Is(e.Gone, ErrKeeperGone) {
		t.Errorf("%+v", e)
	}
	if e, more := <-k.Events(); more {
		t.Errorf("after Gone: %+v", e)
	}
	k.reader.Wait()
}

// An attempt that does not fit into a frame is told from a broken connection,
// and the keeper never hears of it.
func TestSpawnTooBig(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k, _ := r.attach()
	s := r.bash("big", `true`)
	s.Env = []string{"A=" + strings.Repeat("x", maxFrame)}
	var big *TooBig
	if err := k.Spawn(s); !errors.As(err, &big) || big.Size <= maxFrame || big.Limit != maxFrame {
		t.Errorf("%v", err)
	}
	if e := r.do(k, r.bash("next", `exit 4`)); e.Code != 4 {
		t.Errorf("the connection is of no use any more: %+v", e)
	}
	if strings.Contains(r.text(ledgerName), string(s.Key)) {
		t.Error("the keeper heard of it")
	}
	r.close(k)
}
