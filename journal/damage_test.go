package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
)

// damageOf is what both a driver and a view say of a folder; they must agree,
// and nothing may have been written.
func damageOf(t *testing.T, f Folder) error {
	t.Helper()
	before, err := os.ReadFile(f.Journal())
	must(t, err)
	recsA, driver := driverLoad(t, f)
	recsB, view := viewLoad(f)
	after, err := os.ReadFile(f.Journal())
	must(t, err)
	if driver != nil && !bytes.Equal(before, after) {
		t.Errorf("a damaged journal was overwritten")
	}
	if (driver == nil) != (view == nil) || !reflect.DeepEqual(recsA, recsB) {
		t.Errorf("a driver says %v, a view %v", driver, view)
	}
	return driver
}

func driverLoad(t *testing.T, f Folder) ([]event.Record, error) {
	t.Helper()
	l, err := takeLock("x", f.in(lockName), self(t))
	must(t, err)
	r, err := openRun("x", f, l, self(t), disk{})
	if err != nil {
		must(t, l.release())
		return nil, err
	}
	recs, err := r.Load()
	if cerr := r.Close(); cerr != nil {
		t.Errorf("close: %v", cerr)
	}
	return recs, err
}

func viewLoad(f Folder) ([]event.Record, error) {
	v, err := OpenView(string(f))
	if err != nil {
		return nil, err
	}
	recs, err := v.Load()
	return recs, first(err, v.Close())
}

// tamper changes a journal behind Belay's back.
func tamper(t *testing.T, f Folder, statements ...string) {
	t.Helper()
	c, err := sqlite3.Open(f.Journal())
	must(t, err)
	for _, s := range statements {
		must(t, c.Exec(s))
	}
	must(t, c.Close())
}

// promise: X7
func TestDamageIsFound(t *testing.T) {
	t.Parallel()
	s := newState(t)
	_, whole := closed(t, s, 6)
	for name, c := range map[string]struct {
		seq int64
		sql []string
	}{
		"epoch":         {3, []string{"UPDATE records SET epoch = 1 WHERE seq = 3"}},
		"time":          {3, []string{"UPDATE records SET at = at + 1 WHERE seq = 3"}},
		"run":           {3, []string{"UPDATE records SET run = run || 'x' WHERE seq = 3"}},
		"kind":          {3, []string{"UPDATE records SET kind = 'step.refused' WHERE seq = 3"}},
		"kind to run":   {3, []string{"UPDATE records SET run = run || substr(kind,1,1), kind = substr(kind,2) WHERE seq = 3"}},
		"body":          {3, []string{"UPDATE records SET body = CAST('{}' AS BLOB) WHERE seq = 3"}},
		"empty body":    {3, []string{"UPDATE records SET body = x'' WHERE seq = 3"}},
		"hash":          {3, []string{"UPDATE records SET hash = zeroblob(32) WHERE seq = 3"}},
		"short hash":    {3, []string{"UPDATE records SET hash = substr(hash,1,31) WHERE seq = 3"}},
		"long hash":     {3, []string{"UPDATE records SET hash = CAST(hash || x'00' AS BLOB) WHERE seq = 3"}},
		"no hash":       {3, []string{"UPDATE records SET hash = x'' WHERE seq = 3"}},
		"dropped first": {1, []string{"DELETE FROM records WHERE seq = 1"}},
		"dropped":       {3, []string{"DELETE FROM records WHERE seq = 3"}},
		"dropped, closed up": {3, []string{"DELETE FROM records WHERE seq = 3",
			"UPDATE records SET seq = seq - 1 WHERE seq > 3"}},
		"cut at the end": {5, []string{"DELETE FROM records WHERE seq > 4"}},
		"all cut":        {1, []string{"DELETE FROM records"}},
		"swapped": {3, []string{"UPDATE records SET seq = 99 WHERE seq = 3",
			"UPDATE records SET seq = 3 WHERE seq = 4", "UPDATE records SET seq = 4 WHERE seq = 99"}},
		"swapped bodies": {3, []string{`UPDATE records SET body = (SELECT body FROM records r WHERE r.seq = 7 - records.seq)
			WHERE seq IN (3, 4)`}},
		"doubled":     {7, []string{"INSERT INTO records SELECT 7, epoch, at, run, kind, body, hash FROM records WHERE seq = 6"}},
		"added below": {-4, []string{"INSERT INTO records SELECT -4, epoch, at, run, kind, body, hash FROM records WHERE seq = 6"}},
		"no table":    {0, []string{"DROP TABLE records"}},
		"other table": {0, []string{"ALTER TABLE records RENAME COLUMN body TO text"}},
		"no version":  {0, []string{"PRAGMA user_version = 0"}},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			f := copyDir(t, whole)
			tamper(t, f, c.sql...)
			err := damageOf(t, f)
			var d *Damaged
			if !errors.As(err, &d) || exit.Code(err) != exit.Damaged {
				t.Fatalf("got %v", err)
			}
			if d.Seq != c.seq || d.Path != f.Journal() {
				t.Errorf("found at record %d of %s, want %d: %v", d.Seq, d.Path, c.seq, err)
			}
		})
	}
}

// A row with a right hash and a wrong body was written by a bug; it is no fact.
func TestBodyMustDecode(t *testing.T) {
	t.Parallel()
	s := newState(t)
	for name, w := range map[string]row{
		"not JSON":         {kind: "run.stopped", body: []byte(`{"by":`)},
		"wrong type":       {kind: "run.stopped", body: []byte(`{"by":7}`)},
		"unknown, no JSON": {kind: "star.fell", body: []byte(`{`)},
	} {
		r := newRun(t, s, 2)
		seal(t, r, w)
		var d *Damaged
		if err := damageOf(t, copyDir(t, r.Folder)); !errors.As(err, &d) || d.Seq != 3 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A kind of a newer Belay is refused by a driver and shown by a view.
func TestUnknownKind(t *testing.T) {
	t.Parallel()
	s := newState(t)
	r := newRun(t, s, 1)
	seal(t, r, row{kind: "star.fell", body: []byte(`{"where":"sea"}`)})
	var unknown *event.UnknownKind
	if _, err := r.Load(); !errors.As(err, &unknown) || exit.Code(err) != exit.Infra {
		t.Errorf("a driver: %v", err)
	}
	recs, err := viewLoad(r.Folder)
	must(t, err)
	u, ok := recs[1].Event.(Unread)
	if !ok || u.Kind() != "star.fell" {
		t.Fatalf("a view: %+v", recs[1])
	}
	line, err := recs[1].MarshalJSON()
	if err != nil || !strings.Contains(string(line), `"where":"sea"`) {
		t.Errorf("as JSON: %s, %v", line, err)
	}
}

// seal appends a row as Append would, whatever is in it.
func seal(t *testing.T, r *Run, w row) {
	t.Helper()
	w.seq, w.run = r.end.seq+1, string(r.ID)
	w.hash, _ = w.link(r.end.hash, nil)
	must(t, r.store([]row{w}))
}

func TestFallenEpochIsDamage(t *testing.T) {
	t.Parallel()
	s := newState(t)
	r := newRun(t, s, 0)
	must(t, r.SetEpoch(2))
	fillRun(t, r, 1)
	seal(t, r, row{epoch: 1, kind: "run.stopped", body: []byte(`{}`)})
	var d *Damaged
	if _, err := r.Load(); !errors.As(err, &d) || d.Seq != 2 {
		t.Errorf("an older driver's row: %v", err)
	}
}

func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	s := newState(t)
	_, whole := closed(t, s, 40)
	live := newRun(t, s, 5) // its rows are in the log, not in the main file
	for name, c := range map[string]struct {
		from Folder
		do   func(f Folder) error
	}{
		"empty":     {whole, func(f Folder) error { return os.Truncate(f.Journal(), 0) }},
		"not a db":  {whole, func(f Folder) error { return os.WriteFile(f.Journal(), []byte(strings.Repeat("hello ", 2000)), 0o600) }},
		"short":     {whole, func(f Folder) error { return os.Truncate(f.Journal(), 4096) }},
		"half page": {whole, func(f Folder) error { return os.Truncate(f.Journal(), 5000) }},
		"tiny":      {whole, func(f Folder) error { return os.Truncate(f.Journal(), 50) }},
		"log gone":  {live.Folder, func(f Folder) error { return os.Remove(f.Journal() + "-wal") }},
		"log empty": {live.Folder, func(f Folder) error { return os.Truncate(f.Journal()+"-wal", 0) }},
		"log cut": {live.Folder, func(f Folder) error {
			info, err := os.Stat(f.Journal() + "-wal")
			return errors.Join(err, os.Truncate(f.Journal()+"-wal", info.Size()-100))
		}},
	} {
		f := copyDir(t, c.from)
		must(t, c.do(f))
		var d *Damaged
		if err := damageOf(t, f); !errors.As(err, &d) || exit.Code(err) != exit.Damaged {
			t.Errorf("%s: %v", name, err)
		}
	}
	gone := copyDir(t, whole)
	must(t, os.Remove(gone.Journal()))
	if _, err := viewLoad(gone); exit.Code(err) != exit.Damaged {
		t.Errorf("journal gone: %v", err)
	}
	if exists(gone.Journal()) {
		t.Error("a missing journal was made anew")
	}
}

// Whatever single byte of the file changes: the load gives an error or exactly
// what was written, never something else.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	s := newState(t)
	_, whole := closed(t, s, 12)
	f := copyDir(t, whole)
	want, err := viewLoad(f)
	must(t, err)
	file, err := os.ReadFile(f.Journal())
	must(t, err)
	rng := rand.New(rand.NewPCG(1, 2))
	found, harmless := 0, 0
	for at := rng.IntN(11); at < len(file); at += 1 + rng.IntN(11) {
		if file[at] == 0 && rng.IntN(8) > 0 {
			continue // mostly free space
		}
		bad := bytes.Clone(file)
		bad[at] ^= 1 << rng.IntN(8)
		must(t, os.WriteFile(f.Journal(), bad, 0o600))
		got, err := viewLoad(f)
		switch {
		case err != nil:
			var newer *TooNew // the number of the schema is a byte of the file too
			if exit.Code(err) != exit.Damaged && !errors.As(err, &newer) {
				t.Errorf("byte %d changed: not called damage: %v", at, err)
			}
			found++
		case reflect.DeepEqual(got, want):
			harmless++
		default:
			t.Fatalf("byte %d changed and the load gave other records: %v", at, got)
		}
	}
	t.Logf("%d changes found, %d in bytes that mean nothing", found, harmless)
	if found < 100 {
		t.Errorf("only %d changes were found: the test has no teeth", found)
	}
}

// The chain by itself: every byte of every field counts.
func TestChainCoversEveryByte(t *testing.T) {
	t.Parallel()
	base := row{seq: 3, epoch: 2, at: 1234567890123456789, run: "k3f9q/build.1", kind: "run.stopped", body: []byte(`{"by":"me"}`)}
	prev := digest{1, 2, 3}
	want, _ := base.link(prev, nil)
	try := func(what string, prev digest, w row) {
		t.Helper()
		if got, _ := w.link(prev, nil); got == want {
			t.Errorf("%s changed and the hash did not", what)
		}
	}
	for bit := range 64 {
		a, b, c := base, base, base
		a.seq ^= 1 << bit
		b.epoch ^= 1 << bit
		c.at ^= 1 << bit
		try("seq", prev, a)
		try("epoch", prev, b)
		try("at", prev, c)
	}
	flip := func(s string, i int) string { return s[:i] + string(rune(s[i]^1)) + s[i+1:] }
	for i := range base.run {
		w := base
		w.run = flip(base.run, i)
		try(fmt.Sprintf("run[%d]", i), prev, w)
	}
	for i := range base.kind {
		w := base
		w.kind = flip(base.kind, i)
		try(fmt.Sprintf("kind[%d]", i), prev, w)
	}
	for i := range base.body {
		w := base
		w.body = []byte(flip(string(base.body), i))
		try(fmt.Sprintf("body[%d]", i), prev, w)
	}
	for i := range prev {
		p := prev
		p[i] ^= 0x80
		try("previous hash", p, base)
	}
	moved := base
	moved.run, moved.kind = base.run+"r", base.kind[1:]
	try("border of run and kind", prev, moved)
	crafted, other := base, base // the length of the kind as part of the run
	crafted.run, crafted.kind = "x", "kk\x00\x00\x00\x01z"
	other.run, other.kind = "x\x00\x00\x00\x07kk", "z"
	a, _ := crafted.link(prev, nil)
	if b, _ := other.link(prev, nil); a == b {
		t.Error("two different rows have the same hash")
	}
	moved = base
	moved.kind, moved.body = base.kind+"{", base.body[1:]
	try("border of kind and body", prev, moved)
}
