package journal

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/belay-run/belay/event"
)

// benchRecord has a body of about 200 bytes.
func benchRecord() []event.Record {
	return []event.Record{{Run: "k3f9q", Event: event.StepSkipped{Path: "build", By: "me", Why: strings.Repeat("x", 160)}}}
}

// BenchmarkAppend1 is one writer, one record per commit.
func BenchmarkAppend1(b *testing.B) {
	r := newRun(b, newState(b), 0)
	rec := benchRecord()
	for b.Loop() {
		if _, err := r.Append(rec); err != nil {
			b.Fatal(err)
		}
	}
	perSecond(b)
}

// BenchmarkAppend3 is what a sequential step costs: three records per commit.
func BenchmarkAppend3(b *testing.B) {
	r := newRun(b, newState(b), 0)
	rec := benchRecord()
	recs := []event.Record{rec[0], rec[0], rec[0]}
	for b.Loop() {
		if _, err := r.Append(recs); err != nil {
			b.Fatal(err)
		}
	}
	perSecond(b)
}

// BenchmarkAppend64 is 64 writers that share commits.
func BenchmarkAppend64(b *testing.B) {
	r := newRun(b, newState(b), 0)
	rec := benchRecord()
	var wg sync.WaitGroup
	work := make(chan struct{}, b.N)
	for range b.N {
		work <- struct{}{}
	}
	close(work)
	b.ResetTimer()
	for range 64 {
		wg.Go(func() {
			for range work {
				if _, err := r.Append(rec); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	perSecond(b)
}

// BenchmarkDriverAlone is the floor of the database: the same row, prepared,
// without chain, encoding and bookkeeping.
func BenchmarkDriverAlone(b *testing.B) {
	r := newRun(b, newState(b), 0)
	s, _, err := r.conn.Prepare("INSERT INTO records VALUES (?,?,?,?,?,?,?)")
	must(b, err)
	defer s.Close()
	w := row{at: 1, run: "k3f9q", kind: "step.skipped", body: []byte(strings.Repeat("x", 200))}
	for b.Loop() {
		w.seq++
		if err := bind(s, 0, &w); err != nil {
			b.Fatal(err)
		}
		if err := s.Exec(); err != nil {
			b.Fatal(err)
		}
	}
	perSecond(b)
}

// BenchmarkFsync is the floor of the disk: 200 bytes appended and synced.
func BenchmarkFsync(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "f"))
	must(b, err)
	defer f.Close()
	buf := []byte(strings.Repeat("x", 200))
	for b.Loop() {
		if _, err := f.Write(buf); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	perSecond(b)
}

// BenchmarkLoad reads and proves 2,000 records.
func BenchmarkLoad(b *testing.B) {
	r := newRun(b, newState(b), 0)
	recs := make([]event.Record, 2000)
	for i := range recs {
		recs[i] = benchRecord()[0]
	}
	_, err := r.Append(recs)
	must(b, err)
	for b.Loop() {
		if _, err := r.Load(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBeat is a driver's sign of life.
func BenchmarkBeat(b *testing.B) {
	r := newRun(b, newState(b), 1)
	for b.Loop() {
		r.Beat(Sign{Phase: "running", Done: 7})
	}
}

// BenchmarkCreate is a new run until it is closed.
func BenchmarkCreate(b *testing.B) {
	s := newState(b)
	for b.Loop() {
		r, err := s.Create("")
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func perSecond(b *testing.B) {
	b.Helper()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
}
