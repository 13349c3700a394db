package journal

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
)

// promise: X8
func TestDiskErrors(t *testing.T) {
	t.Parallel()
	full := func(err error) bool { var e *Full; return errors.As(err, &e) }
	other := func(err error) bool { var e *Unwritten; return errors.As(err, &e) }
	for name, c := range map[string]struct {
		at   opKind
		err  error
		want func(error) bool
	}{
		"no space":      {opWrite, vfs.SystemError(unix.ENOSPC, sqlite3.FULL), full},
		"quota":         {opWrite, unix.EDQUOT, full},
		"file too big":  {opWrite, unix.EFBIG, full},
		"write error":   {opWrite, unix.EIO, other},
		"sync error":    {opSync, unix.EIO, other},
		"sync no space": {opSync, unix.ENOSPC, full},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			for skip := 0; skip < 24; skip += 1 + skip/4 {
				failOnce(t, c.at, skip, c.err, c.want)
			}
		})
	}
}

// failOnce makes the disk refuse for ever after skip operations of a kind, and
// holds what is found afterwards against what was acknowledged.
func failOnce(t *testing.T, at opKind, skip int, refusal error, want func(error) bool) {
	t.Helper()
	tp, d := newTape(t)
	d.room = func(string) error { return refusal } // the disk stays as it is
	s := newState(t)
	s.disk = d
	r, err := s.Create("")
	must(t, err)
	must(t, r.conn.Exec("PRAGMA wal_autocheckpoint=12"))
	fillRun(t, r, 1)
	left := skip
	tp.fail = func(kind opKind) error {
		if kind == at {
			left--
		}
		if left < 0 && kind != opTruncate {
			return refusal
		}
		return nil
	}
	acked := int64(1)
	for err == nil {
		var out []event.Record
		out, err = r.Append([]event.Record{nth(r.ID, 1), nth(r.ID, 2)})
		if err == nil {
			acked = out[1].Seq
		}
	}
	var coded *exit.Error
	if !want(err) || exit.Code(err) != exit.Infra || !errors.As(err, &coded) || coded.Hint == "" {
		t.Fatalf("after %d operations: %v", skip, err)
	}
	tp.fail = nil
	if _, err := r.Append([]event.Record{nth(r.ID, 3)}); err == nil {
		t.Fatalf("after %d operations: an append after the failed one was accepted", skip)
	}
	must(t, r.Close())
	r, err = s.Open(r.ID)
	must(t, err)
	recs, err := r.Load()
	must(t, err)
	if n := int64(len(recs)); n != acked && n != acked+2 {
		t.Errorf("after %d operations: %d records, %d were acknowledged", skip, n, acked)
	}
	fillRun(t, r, 2)
	must(t, r.Close())
}

// playGrow appends until the file may not grow any more.
func playGrow(s *State) error {
	r, err := s.Create("big")
	if err != nil {
		return err
	}
	fillUp := unix.Rlimit{Cur: 96 << 10, Max: 96 << 10}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &fillUp); err != nil {
		return err
	}
	acked := int64(0)
	for {
		out, err := r.Append([]event.Record{{Run: r.ID, Event: event.RunStopped{By: strings.Repeat("x", 2000)}}})
		if err != nil {
			var full *Full
			fmt.Println(acked, errors.As(err, &full), exit.Code(err))
			return nil
		}
		acked = out[0].Seq
	}
}

// A file size limit of the real kernel.
func TestFileSizeLimit(t *testing.T) {
	s := newState(t)
	c := start(t, "grow", s.Dir())
	var acked int
	var full bool
	var code int
	line := c.line()
	if _, err := fmt.Sscan(line, &acked, &full, &code); err != nil || !full || code != exit.Infra || acked < 5 {
		t.Fatalf("the child said %q: %v", line, err)
	}
	c.release()
	r, err := s.Open("big")
	must(t, err)
	recs, err := r.Load()
	if err != nil || len(recs) != acked {
		t.Errorf("%d of %d records, %v", len(recs), acked, err)
	}
	fillRun(t, r, 3)
	must(t, r.Close())
}

// A folder without room for a journal is not left behind as a run.
func TestCreateWithoutRoom(t *testing.T) {
	tp, d := newTape(t)
	s := newState(t)
	d.room = func(string) error { return unix.ENOSPC }
	s.disk = d
	tp.fail = func(opKind) error { return unix.ENOSPC }
	_, err := s.Create("full")
	var full *Full
	if !errors.As(err, &full) {
		t.Fatalf("create on a full disk: %v", err)
	}
	if _, err := os.Lstat(string(s.Folder("full"))); err == nil {
		t.Error("the folder was left behind")
	}
	tp.fail = nil
	r, err := s.Create("full")
	must(t, err)
	must(t, r.Close())
}
