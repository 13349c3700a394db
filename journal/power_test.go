package journal

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
)

// life drives a run through two drivers and some checkpoints on a tape.
func life(t *testing.T, tp *tape, d disk, pragma string) {
	t.Helper()
	s := newState(t)
	s.disk = d
	r, err := s.Create("")
	must(t, err)
	rng := rand.New(rand.NewPCG(7, 7))
	for driver := range 3 {
		if driver > 0 {
			r, err = s.Open(r.ID)
			must(t, err)
			_, err = r.Load()
			must(t, err)
		}
		must(t, r.SetEpoch(int64(driver+1)))
		for n := range 14 {
			if n == 1 { // the first append sets its own
				must(t, r.conn.Exec("PRAGMA wal_autocheckpoint=12; "+pragma))
			}
			recs := make([]event.Record, 1+rng.IntN(20))
			for i := range recs {
				recs[i] = event.Record{Run: r.ID, Event: event.RunStopped{By: strings.Repeat("x", rng.IntN(700))}}
			}
			out, err := r.Append(recs)
			must(t, err)
			tp.note(op{kind: opAck, off: out[len(out)-1].Seq})
		}
		if driver == 1 { // this one is killed: its log stays
			crash(t, r)
			continue
		}
		must(t, r.Close())
	}
}

// crash lets go of a run as the death of the process would.
func crash(t *testing.T, r *Run) {
	t.Helper()
	r.write.Lock()
	r.loaded = false // so that nothing is tidied up
	r.write.Unlock()
	must(t, r.Close())
}

type outcome struct{ cuts, lost, unreadable int }

// cuts plays a power cut behind every operation of the tape, or every step-th.
func cuts(t *testing.T, tp *tape, step int) outcome {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "image")
	rng := rand.New(rand.NewPCG(3, 9))
	var o outcome
	whole := map[int64]bool{0: true} // the ends of transactions
	for _, op := range tp.ops {
		if op.kind == opAck {
			whole[op.off] = true
		}
	}
	for n := step; n <= len(tp.ops); n += step {
		h := harm(n / step % int(harms))
		files, acked := tp.cut(n, h, rng)
		if acked == 0 {
			continue // nothing was promised yet
		}
		o.cuts++
		recs, err := viewLoad(put(t, dir, files, 0))
		if err == nil && !whole[int64(len(recs))] {
			t.Errorf("cut %d: %d records: a part of a transaction is there", n, len(recs))
		}
		if err == nil && int64(len(recs)) < acked {
			o.lost++
			// The same with the beat that was written meanwhile: found, not missed.
			if _, err := viewLoad(put(t, dir, files, acked)); exit.Code(err) != exit.Damaged {
				t.Errorf("cut %d: %d of %d records left and the beat did not tell: %v", n, len(recs), acked, err)
			}
			continue
		}
		if err != nil {
			o.unreadable++
			continue
		}
		if _, err := viewLoad(put(t, dir, files, acked)); err != nil {
			t.Errorf("cut %d: everything is there and the beat speaks against it: %v", n, err)
		}
	}
	return o
}

func TestPowerCuts(t *testing.T) {
	t.Parallel()
	tp, d := newTape(t)
	life(t, tp, d, "")
	o := cuts(t, tp, 1)
	t.Logf("%d operations, %+v", len(tp.ops), o)
	if o.lost+o.unreadable > 0 {
		t.Errorf("acknowledged records were lost: %+v", o)
	}
	if o.cuts < 300 {
		t.Errorf("only %d cuts", o.cuts)
	}
	resume(t, tp)
}

// resume drives the run on after some cuts: what is left can be lived with.
func resume(t *testing.T, tp *tape) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 5))
	for n := 60; n < len(tp.ops); n += len(tp.ops) / 20 {
		files, acked := tp.cut(n, harmTear, rng)
		if acked == 0 {
			continue
		}
		f := put(t, filepath.Join(t.TempDir(), "image"), files, acked)
		l, err := takeLock("x", f.in(lockName), self(t))
		must(t, err)
		r, err := openRun("x", f, l, self(t), disk{})
		must(t, err)
		recs, err := r.Load()
		must(t, err)
		out, err := r.Append([]event.Record{nth("x", 1)})
		must(t, err)
		if out[0].Seq != int64(len(recs)+1) || out[0].Seq <= acked {
			t.Errorf("cut %d: %d records, %d acknowledged, the next one is %d", n, len(recs), acked, out[0].Seq)
		}
		must(t, r.Close())
	}
}

// The harness must see the losses that are there when a promise is taken away.
func TestPowerCutsHaveTeeth(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pragma string
		lying  bool
		dirs   bool // names are never synced
	}{
		"normal":   {pragma: "PRAGMA synchronous=NORMAL"},
		"off":      {pragma: "PRAGMA synchronous=OFF"},
		"lying":    {lying: true},
		"no names": {dirs: true},
	} {
		t.Run(name, func(t *testing.T) {
			tp, d := newTape(t)
			tp.lying = c.lying
			if c.dirs {
				d.sync = func(string) error { return nil }
			}
			life(t, tp, d, c.pragma)
			o := cuts(t, tp, 5)
			t.Logf("%+v", o)
			if o.lost+o.unreadable == 0 {
				t.Errorf("nothing was lost in %d cuts: the harness sees nothing", o.cuts)
			}
		})
	}
}

// The same seed gives the same disk; otherwise no cut could be repeated.
func TestCutsRepeat(t *testing.T) {
	t.Parallel()
	tp, d := newTape(t)
	life(t, tp, d, "")
	for n := 0; n < len(tp.ops); n += 50 {
		a, _ := tp.cut(n, harmTear, rand.New(rand.NewPCG(1, uint64(n))))
		b, _ := tp.cut(n, harmTear, rand.New(rand.NewPCG(1, uint64(n))))
		for name := range a {
			if !bytes.Equal(a[name], b[name]) {
				t.Fatalf("cut %d: %s differs", n, name)
			}
		}
	}
}
