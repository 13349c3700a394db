package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/ncruces/go-sqlite3"
	"golang.org/x/sys/unix"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/failpoint"
	"github.com/belay-run/belay/proc"
)

// Run is a run that this process drives: it holds the lock and alone may
// append.
type Run struct {
	ID belay.RunID
	Folder

	disk disk
	lock *lock
	self proc.Identity

	queue struct { // those who wait to be written; see Append
		sync.Mutex
		calls []*call
	}
	write  sync.Mutex // owns everything below
	conn   *sqlite3.Conn
	insert [maxRows + 1]*sqlite3.Stmt // by number of rows
	buf    []byte
	end    tip
	epoch  int64
	blank  bool  // it has no table yet: that comes with the first record
	loaded bool  // end is known
	broken error // why nothing may be appended any more
	beats  *os.File
	last   Beat
	files  []held
}

// held is a file that a driver depends on, as it was when it was opened.
type held struct {
	path string
	info os.FileInfo
}

// openRun joins the lock and the journal of a folder.
func openRun(id belay.RunID, f Folder, l *lock, self proc.Identity, d disk) (*Run, error) {
	conn, err := d.write(f.Journal())
	if err != nil {
		return nil, unreadable(f.Journal(), err)
	}
	return &Run{ID: id, Folder: f, disk: d, lock: l, self: self, conn: conn, last: readBeat(f)}, nil
}

// begin prepares an empty journal.
func (r *Run) begin() error {
	// Until the log is there nothing was promised: a crash in between leaves a
	// folder without records, and needs no file to roll it back.
	if err := r.conn.Exec("PRAGMA journal_mode=MEMORY"); err != nil {
		return unreadable(r.Journal(), err)
	}
	if err := r.arm(len(recordSteps)); err != nil {
		return err
	}
	r.blank, r.loaded = true, true
	return nil
}

// arm makes the journal ready for writing, once it is known to be sound.
func (r *Run) arm(at int) error {
	err := durable(r.conn, r.Journal())
	failpoint.Hit("create.durable")
	if err == nil {
		_, err = askInt(r.conn, "PRAGMA user_version") // which makes the log, if there is none
	}
	if err == nil {
		err = migrate(r.conn, at, recordSteps)
	}
	var typed *exit.Error
	switch {
	case err == nil:
	case errors.As(err, &typed):
		return err
	case isCorrupt(err):
		return unreadable(r.Journal(), err)
	default:
		return r.disk.unwritten("open journal", r.Journal(), err)
	}
	// The names of the files beside the database are as important as their
	// content, and SQLite's driver does not sync them.
	if err := r.disk.syncDir(string(r.Folder)); err != nil {
		return err
	}
	f, err := os.OpenFile(r.in(beatName), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, fileMode)
	if err != nil {
		return unwritten("open beat", r.in(beatName), err)
	}
	r.beats = f
	return r.hold()
}

// hold remembers which files this driver writes and which one is its lock.
func (r *Run) hold() error {
	for _, path := range []string{r.Journal(), r.Journal() + "-wal", r.in(lockName)} {
		info, err := os.Lstat(path)
		if err != nil {
			return unwritten("open journal", path, err)
		}
		r.files = append(r.files, held{path, info})
	}
	return nil
}

// inPlace tells whether those files still have their names. Who writes into a
// file that was removed or moved away is told that all is well, and who holds a
// lock that was removed is not alone.
func (r *Run) inPlace() error {
	for _, h := range r.files {
		info, err := os.Lstat(h.path)
		if err != nil {
			return err
		}
		if !os.SameFile(info, h.info) {
			return fmt.Errorf("%s was replaced by another file", h.path)
		}
	}
	return nil
}

// Load reads and proves all records. Where one is changed, missing, swapped or
// cut off it is a *Damaged error and nothing has been written. A run whose driver
// died before it wrote the first one is *Unbegun; one of an older Belay has no
// records and no error.
func (r *Run) Load() (recs []event.Record, err error) {
	if err := r.LoadEach(func(some []event.Record) { recs = append(recs, some...) }); err != nil {
		return nil, err
	}
	return recs, nil
}

// LoadEach is Load that tells of records while it reads, some at a time and the
// first one by itself. Whoever is told must wait for the end before he believes
// them: only then it is known that none is missing.
func (r *Run) LoadEach(tell func([]event.Record)) error {
	r.write.Lock()
	defer r.write.Unlock()
	at, err := soundVersion(r.conn, r.Folder)
	if err != nil {
		return err
	}
	rd := reader{conn: r.conn, path: r.Journal()}
	end, err := rd.whole(r.Folder, tell)
	if err != nil {
		return err
	}
	if !r.loaded {
		if err := r.arm(at); err != nil {
			return err
		}
	}
	r.end, r.loaded = end, true
	r.epoch = max(r.epoch, end.epoch)
	return nil
}

// soundVersion is the schema number of a journal that has records. A driver may
// begin the run while it is looked at: what comes after the first record is looked
// for before the number is read again.
func soundVersion(c *sqlite3.Conn, f Folder) (int, error) {
	path, began := f.Journal(), true
	for look := range 2 {
		at, err := version(c, path, len(recordSteps))
		if err != nil {
			return 0, unreadable(path, err)
		}
		if at >= 1 {
			return at, nil
		}
		if look == 0 {
			began = !blank(c) || f.traces()
		}
	}
	if !began {
		return 0, NeverBegan(belay.RunID(filepath.Base(string(f))))
	}
	return 0, damaged(path, 0, "it is empty: its records are gone, or it was never begun", nil)
}

// Epoch is the highest epoch that the journal has seen or was set to.
func (r *Run) Epoch() int64 {
	r.write.Lock()
	defer r.write.Unlock()
	return r.epoch
}

// SetEpoch sets the epoch of the records to come. It cannot fall.
func (r *Run) SetEpoch(n int64) error {
	r.write.Lock()
	defer r.write.Unlock()
	if n < r.epoch {
		return fmt.Errorf("set epoch: %w", &Stale{Have: n, Want: r.epoch})
	}
	r.epoch = n
	return nil
}

// Seq is the number of the last record.
func (r *Run) Seq() int64 {
	r.write.Lock()
	defer r.write.Unlock()
	return r.end.seq
}

// Close writes everything into one file, closes it and gives the lock back. It
// may be called twice.
func (r *Run) Close() error {
	r.write.Lock()
	defer r.write.Unlock()
	if r.conn == nil {
		return nil
	}
	if r.loaded && r.last.Seq != r.end.seq {
		r.beat(r.last.sign()) // so that a cut at the end will show
	}
	return first(r.closeFiles(), r.lock.release())
}

// closeFiles closes everything but the lock.
func (r *Run) closeFiles() error {
	err := r.closeConn()
	if r.beats != nil {
		err = first(err, r.beats.Close())
	}
	return err
}

func (r *Run) closeConn() error {
	var err error
	for _, s := range r.insert {
		if s != nil {
			_ = s.Close() // repeats the error that its last use already gave
		}
	}
	if r.loaded && r.broken == nil {
		err = closeSound(r.conn)
	} else {
		err = r.conn.Close()
	}
	r.conn = nil
	if err != nil {
		return r.disk.unwritten("close journal", r.Journal(), err)
	}
	return nil
}

// first is the error that came first: what follows it is mostly its echo.
func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
