package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
)

func TestWhatIsAppendedIsLoaded(t *testing.T) {
	t.Parallel()
	s := newState(t)
	r := newRun(t, s, 0)
	must(t, r.SetEpoch(1))
	at := time.Date(2030, 1, 2, 3, 4, 5, 6, time.UTC)
	var want []event.Record
	for _, n := range []int{1, 3, maxRows, 2*maxRows + 5, 3, 2 * batch} {
		recs := make([]event.Record, n)
		for i := range recs {
			recs[i] = nth(r.ID, i)
			recs[i].At = at
		}
		recs[0] = event.Record{Run: r.ID.Child("build", 1), At: at, Event: event.RunHeld{Items: []string{"a", "ä\x00"}}}
		got, err := r.Append(recs)
		must(t, err)
		want = append(want, got...)
	}
	for i, rec := range want {
		if rec.Seq != int64(i+1) || rec.Epoch != 1 || !rec.At.Equal(at) {
			t.Fatalf("record %d came back as %+v", i, rec)
		}
	}
	must(t, r.Close())

	r, err := s.Open(r.ID)
	must(t, err)
	got, err := r.Load()
	must(t, err)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("loaded %v\nwant %v", got, want)
	}
	if r.Epoch() != 1 || r.Seq() != int64(len(want)) {
		t.Errorf("epoch %d, seq %d", r.Epoch(), r.Seq())
	}
	var sizes []int
	got = nil
	must(t, r.LoadEach(func(some []event.Record) { sizes, got = append(sizes, len(some)), append(got, some...) }))
	if rest := len(want) - 1 - 2*batch; !reflect.DeepEqual(sizes, []int{1, batch, batch, rest}) || !reflect.DeepEqual(got, want) {
		t.Errorf("told of %v records, %d of %d", sizes, len(got), len(want))
	}
	more, err := r.Append([]event.Record{nth(r.ID, 0)})
	must(t, err)
	if more[0].Seq != int64(len(want)+1) || more[0].At.IsZero() {
		t.Errorf("after a load: %+v", more[0])
	}
	must(t, r.Close())
	must(t, r.Close()) // twice is once
}

// Whoever takes the files away under a driver stops it.
func TestFilesTakenAway(t *testing.T) {
	t.Parallel()
	s := newState(t)
	for _, name := range []string{journalName, journalName + "-wal", lockName} {
		for _, how := range []string{"removed", "replaced"} {
			r := newRun(t, s, 2)
			path := r.in(name)
			must(t, os.Rename(path, path+".away"))
			if how == "replaced" {
				must(t, os.WriteFile(path, nil, 0o600))
			}
			var lost *Unwritten
			if _, err := r.Append([]event.Record{nth(r.ID, 3)}); !errors.As(err, &lost) {
				t.Errorf("%s %s: %v", name, how, err)
			}
			must(t, os.Rename(path+".away", path))
			if _, err := r.Append([]event.Record{nth(r.ID, 3)}); err == nil {
				t.Errorf("%s %s: the driver went on", name, how)
			}
		}
	}
}

// A driver that died before its first record left a run that never began, which
// is no damage; what a beat remembers and is not there is.
func TestNeverBegan(t *testing.T) {
	t.Parallel()
	s := newState(t)
	r, err := s.Create("")
	must(t, err)
	must(t, r.Close())
	var never *Unbegun
	if recs, err := driverLoad(t, copyDir(t, r.Folder)); len(recs) > 0 || !errors.As(err, &never) {
		t.Errorf("a run without records: %v, %v", recs, err)
	}
	r, err = s.Open(r.ID)
	must(t, err)
	defer r.Close()
	if _, err = r.Load(); !errors.As(err, &never) {
		t.Errorf("a run without records: %v", err)
	}
	// An older Belay left the table behind, without a record in it.
	tamper(t, r.Folder, "CREATE TABLE records (seq INTEGER PRIMARY KEY, epoch, at, run, kind, body, hash); PRAGMA user_version = 1")
	_, err = r.Load()
	must(t, err)
	fillRun(t, r, 2)
}

func TestAppendNeedsLoad(t *testing.T) {
	t.Parallel()
	s := newState(t)
	id, _ := closed(t, s, 2)
	r, err := s.Open(id)
	must(t, err)
	defer r.Close()
	if _, err := r.Append([]event.Record{nth(id, 0)}); err == nil {
		t.Error("an append before the load was accepted: its place in the chain is not known")
	}
}

func TestEpochNeverFalls(t *testing.T) {
	t.Parallel()
	s := newState(t)
	r := newRun(t, s, 0)
	must(t, r.SetEpoch(4))
	var stale *Stale
	if err := r.SetEpoch(3); !errors.As(err, &stale) || stale.Want != 4 {
		t.Errorf("a lower epoch: %v", err)
	}
	rec := nth(r.ID, 0)
	rec.Epoch = 3
	if _, err := r.Append([]event.Record{rec}); !errors.As(err, &stale) {
		t.Errorf("a record of an older epoch: %v", err)
	}
}

type unwritable struct{}

func (unwritable) Kind() string                 { return "unwritable" }
func (unwritable) MarshalJSON() ([]byte, error) { return nil, errors.New("no") }

// After an error the caller's memory is ahead of the disk: nothing more goes in.
func TestErrorPoisons(t *testing.T) {
	t.Parallel()
	s := newState(t)
	r := newRun(t, s, 1)
	if _, err := r.Append([]event.Record{nth(r.ID, 1), {Run: r.ID, Event: unwritable{}}}); err == nil {
		t.Fatal("a record without a body was accepted")
	}
	if _, err := r.Append([]event.Record{nth(r.ID, 1)}); err == nil {
		t.Error("an append after a failed one was accepted")
	}
	recs, err := r.Load()
	if err != nil || len(recs) != 1 {
		t.Errorf("%d records, %v: half of a failed append was kept", len(recs), err)
	}
}

// Concurrent callers share transactions, keep their own order and get their
// own records; the chain stays whole.
func TestGroupCommit(t *testing.T) {
	t.Parallel()
	s := newState(t)
	r := newRun(t, s, 0)
	const writers, each = 64, 12
	var wg sync.WaitGroup
	got := make([][]event.Record, writers)
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				recs, err := r.Append([]event.Record{
					{Run: belay.RunID(fmt.Sprintf("w%d", w)), Event: event.RunStopped{By: fmt.Sprint(2 * i)}},
					{Run: belay.RunID(fmt.Sprintf("w%d", w)), Event: event.RunStopped{By: fmt.Sprint(2*i + 1)}},
				})
				if err != nil {
					t.Error(err)
					return
				}
				got[w] = append(got[w], recs...)
			}
		})
	}
	wg.Wait()
	all, err := r.Load()
	must(t, err)
	if len(all) != writers*each*2 {
		t.Fatalf("%d records", len(all))
	}
	for w := range writers {
		for i, rec := range got[w] {
			if !reflect.DeepEqual(all[rec.Seq-1], rec) {
				t.Fatalf("writer %d was given %+v, the journal has %+v", w, rec, all[rec.Seq-1])
			}
			if rec.Event.(event.RunStopped).By != fmt.Sprint(i) || i%2 == 1 && rec.Seq != got[w][i-1].Seq+1 {
				t.Fatalf("writer %d: record %d is %+v", w, i, rec)
			}
		}
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	s := newState(t)
	r, err := s.Create("")
	must(t, err)
	defer r.Close()
	if len(r.ID) != 5 || strings.Trim(string(r.ID), letters) != "" {
		t.Errorf("drew %q", r.ID)
	}
	given, err := s.Create("nightly-1_b")
	must(t, err)
	fillRun(t, given, 1)
	must(t, given.Close())
	if _, err := s.Create("nightly-1_b"); !errors.Is(err, ErrExists) || exit.Code(err) != exit.Usage {
		t.Errorf("a taken id: %v", err)
	}
	for _, bad := range []belay.RunID{"-a", "_a", "A", "a/b", "..", ".", "a.b", "ä", belay.RunID(strings.Repeat("a", 41))} {
		if _, err := s.Create(bad); exit.Code(err) != exit.Usage {
			t.Errorf("id %q: %v", bad, err)
		}
	}
}

func TestEverythingIsPrivate(t *testing.T) {
	t.Parallel()
	s := newState(t)
	r := newRun(t, s, 3)
	_, err := r.PutBlob([]byte("x"))
	must(t, err)
	must(t, s.NoteRun(Summary{ID: r.ID}))
	_, err = s.Put(event.Request{Run: r.ID})
	must(t, err)
	v, err := s.View(r.ID)
	must(t, err)
	defer v.Close()
	_, err = v.Load()
	must(t, err)
	seen := map[string]bool{}
	must(t, filepath.Walk(s.Dir(), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		seen[filepath.Base(path)] = true
		return err
	}))
	for _, name := range []string{"journal.db", "journal.db-wal", "journal.db-shm", "index.db", "index.db-wal", "index.db-shm", "lock", "beat"} {
		if !seen[name] {
			t.Errorf("there is no %s to look at", name)
		}
	}
}

// A copy of the folder alone is the whole story, closed or torn from a run
// that is still being written.
func TestCopiedFolder(t *testing.T) {
	t.Parallel()
	s := newState(t)
	r := newRun(t, s, 5)
	live := copyDir(t, r.Folder)
	must(t, r.Close())
	for name, f := range map[string]Folder{"live": live, "closed": copyDir(t, r.Folder)} {
		v, err := OpenView(string(f))
		must(t, err)
		recs, err := v.Load()
		if err != nil || numbers(recs) != "1 2 3 4 5" {
			t.Errorf("%s copy: %v, %v", name, recs, err)
		}
		if b := v.Beat(); b.Seq != 5 || b.Phase != "test" || b.Done != 5 || b.Driver() != s.self {
			t.Errorf("%s copy: beat %+v", name, b)
		}
		must(t, v.Close())
	}
}

func TestOddStateName(t *testing.T) {
	t.Parallel()
	s, err := OpenState(filepath.Join(t.TempDir(), "a b+c%41?d=e&f#g'h", "ü"))
	must(t, err)
	r := newRun(t, s, 2)
	must(t, s.NoteRun(Summary{ID: r.ID}))
	if _, err := r.Load(); err != nil || !exists(r.Journal()) {
		t.Errorf("load: %v", err)
	}
	must(t, s.Close())
}

func TestCloseLeavesOneFile(t *testing.T) {
	t.Parallel()
	s := newState(t)
	_, f := closed(t, s, 5)
	for _, side := range []string{"-wal", "-shm"} {
		if exists(f.Journal() + side) {
			t.Errorf("%s is left behind", f.Journal()+side)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	s := newState(t)
	for _, id := range []belay.RunID{"abc", "abcd", "abx", "k3f9q"} {
		r, err := s.Create(id)
		must(t, err)
		must(t, r.Close())
	}
	for prefix, want := range map[string]belay.RunID{
		"abc": "abc", "abcd": "abcd", "abx": "abx", "k": "k3f9q", "k3/build.1": "k3f9q/build.1",
	} {
		if got, err := s.Resolve(prefix); got != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", prefix, got, err, want)
		}
	}
	var none *Unknown
	for _, prefix := range []string{"", "z", "abcde", "../runs", "ABC"} {
		if got, err := s.Resolve(prefix); !errors.As(err, &none) {
			t.Errorf("%q: %q, %v", prefix, got, err)
		}
	}
	var several *Ambiguous
	if _, err := s.Resolve("ab"); !errors.As(err, &several) || fmt.Sprint(several.IDs) != "[abc abcd abx]" {
		t.Errorf("ab: %v", err)
	}
	if _, err := s.Open("nosuch"); !errors.As(err, &none) {
		t.Errorf("open of no run: %v", err)
	}
	if _, err := s.View("../../etc"); !errors.As(err, &none) {
		t.Errorf("view of a path: %v", err)
	}
}

// A child's id opens its root's journal.
func TestChildIsInItsRoot(t *testing.T) {
	t.Parallel()
	s := newState(t)
	id, _ := closed(t, s, 2)
	v, err := s.View(id.Child("build", 1))
	must(t, err)
	defer v.Close()
	recs, err := v.Load()
	if err != nil || len(recs) != 2 {
		t.Errorf("%v, %v", recs, err)
	}
}
