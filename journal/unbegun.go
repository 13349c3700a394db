package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ncruces/go-sqlite3"
	"golang.org/x/sys/unix"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/proc"
)

// Unbegun says that a run has no record and never had one: its driver died
// before the first.
type Unbegun struct{ Run belay.RunID }

func (e *Unbegun) Error() string { return fmt.Sprintf("run %s never began", e.Run) }

// NeverBegan is that error, with what can be done about it.
func NeverBegan(id belay.RunID) error {
	return exit.New(exit.Invalid, "read journal", &Unbegun{Run: id}, fmt.Sprintf(
		"it was killed before its first record: start it again with belay run RECIPE --id %s, or remove it with belay gc --yes", id))
}

// Begun tells whether a run has a record, or may have had one. What cannot be
// looked at counts as begun.
func (s *State) Begun(id belay.RunID) bool {
	f := s.Folder(id)
	if private(string(f), true) != nil || f.traces() {
		return true
	}
	if !exists(f.Journal()) || fileSize(f.Journal()) == 0 {
		return fileSize(f.Journal()+"-wal") > 0
	}
	v, err := openView(f, s.disk)
	if err != nil {
		return true
	}
	recs, err := v.Load()
	if v.Close() != nil {
		return true
	}
	var unbegun *Unbegun
	return len(recs) > 0 || err != nil && !errors.As(err, &unbegun)
}

// traces tells whether there is something in the folder that only comes after a
// first record: a beat, or what the keeper writes about attempts. That a keeper
// was there is none: it is greeted before the first record is written.
func (f Folder) traces() bool {
	logs, err := os.ReadDir(f.Logs())
	return err != nil && !errors.Is(err, fs.ErrNotExist) || len(logs) > 0 ||
		fileSize(f.in(beatName)) > 0 || proc.Worked(string(f))
}

// untouched tells whether a journal is as it was made, without opening it: with a
// table it would have a second page, or something in its log.
func (f Folder) untouched() bool {
	return fileSize(f.Journal()) <= pageSize && fileSize(f.Journal()+"-wal") == 0 && !f.traces()
}

// pageSize is that of all databases: SQLite's own.
const pageSize = 4096

// fileSize is the size of a file; of none it is 0.
func fileSize(path string) int64 {
	info, err := os.Lstat(path)
	switch {
	case err == nil:
		return info.Size()
	case errors.Is(err, fs.ErrNotExist):
		return 0
	}
	return 1 // it cannot be looked at: something is there
}

// blank tells whether a database is as it was made: not even a table is in it.
func blank(c *sqlite3.Conn) bool {
	n, err := askInt(c, "SELECT count(*) FROM sqlite_schema")
	return err == nil && n == 0
}

// Empties are the runs that never began and that nobody drives.
func (s *State) Empties() ([]belay.RunID, error) {
	unlock, err := s.lockRuns()
	if err != nil {
		return nil, err
	}
	defer unlock()
	ids, err := s.ids()
	if err != nil {
		return nil, err
	}
	var list []belay.RunID
	for _, id := range ids {
		if !s.deserted(id) {
			continue
		}
		rested, err := s.rested(id)
		if err != nil {
			return nil, err
		}
		if !rested {
			list = append(list, id)
		}
	}
	return list, nil
}

// Clear removes what is left of a run that never began. It refuses one that has
// a record or may have had one, and one that somebody drives.
func (s *State) Clear(id belay.RunID) error {
	unlock, err := s.lockRuns()
	if err != nil {
		return err
	}
	defer unlock()
	return s.vacate(id)
}

// lockRuns waits for the folder of all runs: who makes or removes one in it has
// it, so that a folder that is just made is never seen without its lock.
func (s *State) lockRuns() (unlock func(), err error) {
	return lockDir(filepath.Join(s.dir, runsName))
}

// deserted tells whether a run never began and nobody drives it.
func (s *State) deserted(id belay.RunID) bool {
	f := s.Folder(id)
	return !s.Begun(id) && free(f.in(lockName)) && free(f.KeeperLock())
}

// forsaken waits for the keeper of a run that never began and whose driver is
// gone: it leaves by itself, a moment later.
func (s *State) forsaken(id belay.RunID) bool {
	f := s.Folder(id)
	return !s.Begun(id) && free(f.in(lockName)) && keeperLeft(f)
}

// keeperLeft waits a moment for a keeper that has no driver.
func keeperLeft(f Folder) bool {
	for until := time.Now().Add(keeperLeaves); time.Now().Before(until); time.Sleep(copyPause) {
		if free(f.KeeperLock()) {
			return true
		}
	}
	return false
}

// keeperLeaves is how long a keeper without a driver may take to leave.
const keeperLeaves = 3 * time.Second

// vacate is Clear for who has the folder of all runs.
func (s *State) vacate(id belay.RunID) error {
	if !exists(string(s.Folder(id))) {
		return unknown(string(id))
	}
	if !s.deserted(id) && !(s.forsaken(id) && s.deserted(id)) {
		return taken(id)
	}
	if rested, err := s.rested(id); err != nil || rested {
		return first(err, taken(id))
	}
	if err := s.empty(id); err != nil {
		return err
	}
	if err := os.Remove(s.Socket(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unwritten("clear run", s.Socket(id), err)
	}
	return s.unlist(id)
}

// unlist takes a run out of the index.
func (s *State) unlist(id belay.RunID) error {
	return s.change("clear run", func(c *sqlite3.Conn) error {
		return first(run(c, "DELETE FROM runs WHERE id = ?", id), run(c, "DELETE FROM sessions WHERE run = ?", id))
	})
}

// rested tells whether the index saw a run come to rest, so that it had records
// whatever its folder says.
func (s *State) rested(id belay.RunID) (bool, error) {
	var n int64
	err := s.inIndex("find run", func(c *sqlite3.Conn) (err error) {
		n, err = askInt(c, "SELECT count(*) FROM runs WHERE id = ? AND status NOT IN ('', ?)", id, string(belay.Running))
		return err
	})
	return n > 0, err
}

// empty removes the folder of a run that never began, with its lock in hand.
func (s *State) empty(id belay.RunID) error {
	f := s.Folder(id)
	l, err := takeLock(id, f.in(lockName), s.self)
	if err != nil {
		return err
	}
	if s.Begun(id) || !free(f.KeeperLock()) {
		return first(taken(id), l.release())
	}
	if err := f.remove(); err != nil {
		return first(unwritten("clear run", string(f), err), l.release())
	}
	return l.release()
}

// free tells whether nobody holds a lock. One that is not there is free.
func free(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer func() { _ = f.Close() }() // nothing was written
	if unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil {
		return false
	}
	return unix.Flock(int(f.Fd()), unix.LOCK_UN) == nil
}

func taken(id belay.RunID) error {
	return exit.New(exit.Usage, "create run "+string(id), ErrExists,
		"choose another id, or resume it with belay resume "+string(id))
}
