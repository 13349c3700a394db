package journal

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"golang.org/x/sys/unix"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/proc"
)

const indexSchema = `
	CREATE TABLE runs (
		id TEXT PRIMARY KEY, name TEXT NOT NULL, dir TEXT NOT NULL,
		status TEXT NOT NULL, code INTEGER NOT NULL, reason TEXT NOT NULL,
		started INTEGER NOT NULL, updated INTEGER NOT NULL, ended INTEGER NOT NULL,
		pid INTEGER NOT NULL, start INTEGER NOT NULL, boot TEXT NOT NULL
	) STRICT;
	CREATE TABLE sessions (
		run TEXT PRIMARY KEY, tree TEXT NOT NULL, parent TEXT NOT NULL, depth INTEGER NOT NULL,
		max_depth INTEGER NOT NULL, max_sessions INTEGER NOT NULL,
		pid INTEGER NOT NULL, start INTEGER NOT NULL, boot TEXT NOT NULL,
		keeper_pid INTEGER NOT NULL, keeper_start INTEGER NOT NULL, keeper_boot TEXT NOT NULL,
		state TEXT NOT NULL, started INTEGER NOT NULL, ended INTEGER NOT NULL
	) STRICT;
	CREATE INDEX sessions_tree ON sessions (tree);
	CREATE INDEX sessions_driver ON sessions (pid, start);
	CREATE INDEX sessions_keeper ON sessions (keeper_pid, keeper_start);
	CREATE TABLE caps (
		run TEXT NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (run, name)
	) STRICT`

// indexSteps lead the index from one schema number to the next. The first one
// fills it from the journals: a missing index is a rebuilt one.
func (s *State) indexSteps() []step {
	return []step{func(c *sqlite3.Conn) error {
		if err := c.Exec(indexSchema); err != nil {
			return err
		}
		return s.fill(c)
	}, sql(serviceSchema), sql("DROP TABLE IF EXISTS stays"), sql(leaseSchema)} // the third held who worked where; nobody asks for that any more
}

// Summary is a run in one line.
type Summary struct {
	ID      belay.RunID
	Name    string
	Dir     string
	Status  belay.Status
	Code    int
	Reason  string
	Started time.Time
	Updated time.Time
	Ended   time.Time
	Driver  proc.Identity
	Beat    Beat   // as the run's folder has it; not stored
	Gone    bool   // the run's folder is not there any more; not stored
	Cure    string // of one that cannot be read; not stored

	Beginning bool // its driver has not written the first record yet; not stored
}

// Unreadable is the status, in the list, of a run whose journal could not be
// read when the list was made. Its reason says why.
const Unreadable belay.Status = ""

// inIndex runs do with the index, which it opens at the first use. Processes
// take turns by a lock of their own: SQLite does not wait for others while it
// opens, closes or changes the mode of a file, and where it waits it is not fair.
func (s *State) inIndex(op string, do func(c *sqlite3.Conn) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.still != nil {
		err := s.openStill()
		if err == nil {
			err = do(s.index)
		}
		return s.indexError(op, err)
	}
	unlock, err := lockDir(s.dir)
	if err != nil {
		return err
	}
	defer unlock()
	if err = s.openIndex(); err == nil {
		err = do(s.index)
	}
	return s.indexError(op, err)
}

// change is inIndex in one transaction that no other process writes into.
func (s *State) change(op string, do func(c *sqlite3.Conn) error) error {
	if s.still != nil {
		return s.still
	}
	return s.inIndex(op, func(c *sqlite3.Conn) error {
		return transact(c, func() error { return do(c) })
	})
}

func (s *State) indexError(op string, err error) error {
	var typed *belay.Error
	switch {
	case err == nil || errors.As(err, &typed):
		return err
	case isCorrupt(err):
		return refused(op, s.indexPath(), "is damaged", "move it away (mv "+s.indexPath()+" "+
			s.indexPath()+".bad): it is rebuilt from the journals of the runs", err)
	}
	return s.disk.unwritten(op, s.indexPath(), err)
}

func (s *State) openIndex() error {
	if s.index != nil {
		return nil
	}
	if exists(s.indexPath()) {
		if err := private(s.indexPath(), false); err != nil {
			return err
		}
	}
	conn, err := s.disk.write(s.indexPath())
	if err != nil {
		return err
	}
	if err := s.prepareIndex(conn); err != nil {
		return first(err, conn.Close())
	}
	// A reader of a sound index may tidy up behind itself.
	if _, err := conn.Config(sqlite3.DBCONFIG_NO_CKPT_ON_CLOSE, false); err != nil {
		return first(err, conn.Close())
	}
	s.index = conn
	return nil
}

func (s *State) prepareIndex(c *sqlite3.Conn) error {
	steps := s.indexSteps()
	at, err := version(c, s.indexPath(), len(steps))
	if err != nil {
		return err
	}
	if err := durable(c, s.indexPath()); err != nil {
		return err
	}
	if err := migrate(c, at, steps); err != nil {
		return err
	}
	return s.disk.syncDir(s.dir)
}

// turnWithin is how long a process waits for its turn at the index. A turn
// takes a millisecond; whoever holds it that long is stopped.
const turnWithin = 30 * time.Second

// lockDir waits for the directory itself, so that no lock file is needed.
func lockDir(dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, unwritten("lock state directory", dir, err)
	}
	pause := 100 * time.Microsecond
	for end := time.Now().Add(turnWithin); ; {
		err = unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = d.Close() /* opened for its lock only */ }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return nil, first(unwritten("lock state directory", dir, err), d.Close())
		}
		if time.Now().After(end) {
			return nil, first(belay.Exit(belay.ExitInfra, "lock state directory",
				fmt.Errorf("another process has held %s for %s", dir, turnWithin),
				"look for a stopped belay process (kill -CONT it, or end it), then try again"), d.Close())
		}
		time.Sleep(pause)
		pause = min(2*pause, 5*time.Millisecond)
	}
}

// NoteRun keeps a run's line: at its start, hold, stop and end.
func (s *State) NoteRun(sum Summary) error {
	return s.inIndex("note run", func(c *sqlite3.Conn) error { return putRun(c, sum) })
}

func putRun(c *sqlite3.Conn, sum Summary) error {
	return run(c, `INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (id) DO UPDATE SET
		name = excluded.name, dir = excluded.dir, status = excluded.status, code = excluded.code,
		reason = excluded.reason, started = excluded.started, updated = excluded.updated,
		ended = excluded.ended, pid = excluded.pid, start = excluded.start, boot = excluded.boot`,
		sum.ID, sum.Name, sum.Dir, string(sum.Status), sum.Code, sum.Reason,
		sum.Started, sum.Updated, sum.Ended, sum.Driver.Pid, sum.Driver.Start, sum.Driver.Boot)
}

// Runs lists the runs, the newest first, with what their beats say: all, or
// those that have one of these statuses in the index. It opens no journal but of
// those that could not be read before, and no file of a run that it does not list.
func (s *State) Runs(of ...belay.Status) ([]Summary, error) {
	query, args := "SELECT * FROM runs", []any{}
	if len(of) > 0 {
		query += " WHERE status IN (?" + strings.Repeat(",?", len(of)-1) + ")"
	}
	for _, status := range of {
		args = append(args, string(status))
	}
	var sums []Summary
	err := s.inIndex("list runs", func(c *sqlite3.Conn) error {
		return each(c, query+" ORDER BY started DESC, id", args, func(q *sqlite3.Stmt) {
			sums = append(sums, Summary{
				ID: belay.RunID(q.ColumnText(0)), Name: q.ColumnText(1), Dir: q.ColumnText(2),
				Status: belay.Status(q.ColumnText(3)), Code: q.ColumnInt(4), Reason: q.ColumnText(5),
				Started: fromNanos(q.ColumnInt64(6)), Updated: fromNanos(q.ColumnInt64(7)),
				Ended: fromNanos(q.ColumnInt64(8)), Driver: identityAt(q, 9),
			})
		})
	})
	for i := range sums {
		f := s.Folder(sums[i].ID)
		sums[i].Beat = readBeat(f)
		sums[i].Gone = !exists(string(f))
		if err == nil && !sums[i].Gone && (sums[i].Status == Unreadable || s.cutOff(sums[i])) {
			err = s.retry(&sums[i])
		}
	}
	return sums, err
}

// cutOff tells whether the driver of a run died before the first record: the
// list has the run, and nothing else does.
func (s *State) cutOff(sum Summary) bool {
	return sum.Status == belay.Running && sum.Beat.Pid == 0 && s.dead(sum.Driver) && !s.Begun(sum.ID)
}

func identityAt(q *sqlite3.Stmt, col int) proc.Identity {
	return proc.Identity{Pid: q.ColumnInt(col), Start: uint64(q.ColumnInt64(col + 1)), Boot: q.ColumnText(col + 2)}
}

// RaiseCap keeps the highest count that was ever given for a cap of a run and
// returns it. It is durable when it returns, so a caller that raises before it
// acts cannot forget an act. The caps of a lost index are lost with it; a
// driver goes by the larger of the cap and its own count.
func (s *State) RaiseCap(id belay.RunID, name string, n int64) (int64, error) {
	var count int64
	err := s.inIndex("raise cap", func(c *sqlite3.Conn) error {
		var err error
		count, err = askInt(c, `INSERT INTO caps VALUES (?,?,?) ON CONFLICT (run, name)
			DO UPDATE SET count = max(count, excluded.count) RETURNING count`, id, name, n)
		return err
	})
	return count, err
}

// ClearCaps forgets the caps of a run whose names begin so, or the one that is
// named so exactly.
func (s *State) ClearCaps(id belay.RunID, name string, exactly bool) error {
	return s.change("clear caps", func(c *sqlite3.Conn) error {
		if exactly {
			return run(c, "DELETE FROM caps WHERE run = ? AND name = ?", id, name)
		}
		return run(c, "DELETE FROM caps WHERE run = ? AND substr(name, 1, ?) = ?", id, len(name), name)
	})
}

// Cap is the highest count of a cap of a run; 0 when none was given.
func (s *State) Cap(id belay.RunID, name string) (int64, error) {
	var count int64
	err := s.inIndex("read cap", func(c *sqlite3.Conn) error {
		var err error
		count, err = askInt(c, "SELECT count FROM caps WHERE run = ? AND name = ?", id, name)
		return err
	})
	return count, err
}
