package journal

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
)

func playHold(s *State, id belay.RunID) error {
	r, err := s.Open(id)
	if err != nil {
		return err
	}
	fmt.Println("held", os.Getpid())
	waitForRelease()
	return r.Close()
}

// playWrite appends a record for each line that it is told.
func playWrite(s *State, id belay.RunID) error {
	r, err := s.Open(id)
	if err != nil {
		return err
	}
	if _, err := r.Load(); err != nil {
		return err
	}
	fmt.Println("loaded")
	for i := 0; ; i++ {
		var word string
		if _, err := fmt.Scanln(&word); err != nil {
			return r.Close()
		}
		if _, err := r.Append([]event.Record{nth(id, i), nth(id, i)}); err != nil {
			return err
		}
	}
}

// promise: X9
func TestOneDriver(t *testing.T) {
	s := newState(t)
	id, _ := closed(t, s, 2)
	c := start(t, "hold", s.Dir(), string(id))
	c.line()
	busy := func(when string) {
		t.Helper()
		var b *Busy
		_, err := s.Open(id)
		if !errors.As(err, &b) || exit.Code(err) != exit.Busy {
			t.Fatalf("%s: open gave %v", when, err)
		}
		if b.Holder.Pid != c.cmd.Process.Pid || !b.Holder.Alive() || b.Run != id {
			t.Errorf("%s: the holder is %+v, want pid %d", when, b.Holder, c.cmd.Process.Pid)
		}
	}
	busy("held")
	must(t, c.cmd.Process.Signal(syscall.SIGSTOP))
	busy("stopped")
	must(t, c.cmd.Process.Signal(syscall.SIGCONT))
	busy("continued")
	// Others can read all the time.
	v, err := s.View(id)
	must(t, err)
	recs, err := v.Load()
	if err != nil || len(recs) != 2 {
		t.Errorf("view beside a driver: %v, %v", recs, err)
	}
	must(t, v.Close())
	c.kill()
	r, err := s.Open(id)
	must(t, err)
	if _, err := s.Open(id); exit.Code(err) != exit.Busy {
		t.Errorf("the same process took the lock twice: %v", err)
	}
	must(t, r.Close())
	r, err = s.Open(id)
	must(t, err)
	must(t, r.Close())
}

func TestCreateTakesTheLock(t *testing.T) {
	s := newState(t)
	r := newRun(t, s, 1)
	if _, err := s.Open(r.ID); exit.Code(err) != exit.Busy {
		t.Errorf("open of a run that was just made: %v", err)
	}
}

func TestFollowAnotherProcess(t *testing.T) {
	s := newState(t)
	id, _ := closed(t, s, 3)
	v, err := s.View(id)
	must(t, err)
	defer v.Close()
	c := start(t, "write", s.Dir(), string(id))
	c.line()
	stop := errors.New("seen enough")
	var seqs []int64
	last := func() int64 {
		if len(seqs) == 0 {
			return 1
		}
		return seqs[len(seqs)-1]
	}
	err = v.Follow(deadline(t), 1, time.Millisecond, func(recs []event.Record) error {
		for _, rec := range recs {
			if rec.Seq != last()+1 {
				return fmt.Errorf("record %d came after %d", rec.Seq, last())
			}
			seqs = append(seqs, rec.Seq)
		}
		if last() >= 9 {
			return stop
		}
		_, err := fmt.Fprintln(c.in, "more") // the next ones are written because these were seen
		return err
	})
	if !errors.Is(err, stop) || last() != 9 {
		t.Errorf("followed to %v: %v", seqs, err)
	}
	c.release()
}

func TestFollowEnds(t *testing.T) {
	s := newState(t)
	id, _ := closed(t, s, 2)
	v, err := s.View(id)
	must(t, err)
	defer v.Close()
	ctx := deadline(t)
	if err := v.Follow(ctx, 5, time.Millisecond, nil); exit.Code(err) != exit.Damaged {
		t.Errorf("follow after a record that is not there: %v", err)
	}
	ctx, cancel := cancelled(ctx)
	err = v.Follow(ctx, 0, time.Millisecond, func(recs []event.Record) error {
		if len(recs) != 2 {
			t.Errorf("saw %v", recs)
		}
		cancel(errStopped)
		return nil
	})
	if !errors.Is(err, errStopped) {
		t.Errorf("follow ended with %v", err)
	}
}
