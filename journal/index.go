package journal

import (
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/ledger"
	"github.com/belay-run/belay/proc"
)

const indexSchema = `
	CREATE TABLE runs (
		id TEXT PRIMARY KEY, name TEXT NOT NULL, dir TEXT NOT NULL,
		status TEXT NOT NULL, code INTEGER NOT NULL, reason TEXT NOT NULL,
		started INTEGER NOT NULL, updated INTEGER NOT NULL, ended INTEGER NOT NULL,
		pid INTEGER NOT NULL, start INTEGER NOT NULL, boot TEXT NOT NULL
	) STRICT`

// indexSteps lead the index from one schema number to the next. The last one
// fills a new one from the journals: a missing index is a rebuilt one.
func (s *State) indexSteps() []step {
	return []step{sql(indexSchema + ";" + ledger.SessionSchema), sql(ledger.ServiceSchema), sql("DROP TABLE IF EXISTS stays"), sql(ledger.LeaseSchema), sql(ledger.WatchSchema), sql(ledger.NoticeSchema), s.tellOpen, sql(ledger.LimitSchema)} // the third held who worked where; nobody asks for that any more
}

// Summary is a run in one line.
type Summary struct {
	ID      belay.RunID
	Name    string
	Dir     string
	Work    string // what it was asked for: with name and directory, what it does; "" of an older Belay
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
	Times   int    // in a list of what is open: how many runs in a row it stands for; not stored
	seen    bool   // a person wants to hear no more of it, as its journal has it

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

// note is change for what is about processes only: who drives, keeps and has
// left. A power cut ends all of them, so nobody waits for the disk; a later change
// that does takes it along.
func (s *State) note(op string, do func(c *sqlite3.Conn) error) error {
	if s.still != nil {
		return s.still
	}
	return s.inIndex(op, func(c *sqlite3.Conn) error {
		if err := c.Exec("PRAGMA synchronous=NORMAL"); err != nil {
			return err
		}
		err := transact(c, func() error { return do(c) })
		return errors.Join(err, c.Exec("PRAGMA synchronous=FULL"))
	})
}

func (s *State) indexError(op string, err error) error {
	var typed *exit.Error
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
	s.index = conn // whose log stays when it is closed: it is short, and the next one goes on with it
	return nil
}

func (s *State) prepareIndex(c *sqlite3.Conn) error {
	steps := s.indexSteps()
	at, err := version(c, s.indexPath(), len(steps))
	if err != nil {
		return err
	}
	if fileSize(s.indexPath()) == 0 { // nothing was promised yet, so there is nothing to roll back
		if err := c.Exec("PRAGMA journal_mode=MEMORY"); err != nil {
			return err
		}
	}
	if err := durable(c, s.indexPath()); err != nil {
		return err
	}
	// A log with something in it is of somebody who came here before: it has its name.
	if fileSize(s.indexPath()+"-wal") > 0 {
		return migrate(c, at, steps)
	}
	if err := s.disk.syncDir(s.dir); err != nil {
		return err
	}
	return startLog(c, func() error { return migrate(c, at, steps) })
}

// NoteRun keeps a run's line: at its start, hold, stop and end.
func (s *State) NoteRun(sum Summary) error {
	return s.inIndex("note run", func(c *sqlite3.Conn) error { return putRun(c, sum) })
}

func putRun(c *sqlite3.Conn, sum Summary) error {
	open := 0
	if sum.open() {
		open = 1
	}
	err := run(c, `INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (id) DO UPDATE SET
		open = CASE WHEN status = excluded.status AND excluded.ended != 0 THEN min(open, excluded.open) ELSE excluded.open END,
		name = excluded.name, dir = excluded.dir, status = excluded.status, code = excluded.code,
		reason = excluded.reason, started = excluded.started, updated = excluded.updated,
		ended = excluded.ended, pid = excluded.pid, start = excluded.start, boot = excluded.boot, work = excluded.work`,
		sum.ID, sum.Name, sum.Dir, string(sum.Status), sum.Code, sum.Reason,
		sum.Started, sum.Updated, sum.Ended, sum.Driver.Pid, sum.Driver.Start, sum.Driver.Boot, sum.Work, open)
	if err == nil && sum.Status == belay.Achieved {
		err = settle(c, sum)
	}
	return err
}

// Runs lists the runs, the newest first, with what their beats say: all, or
// those that have one of these statuses in the index. It opens no journal but of
// those that could not be read before, and no file of a run that it does not list.
func (s *State) Runs(of ...belay.Status) ([]Summary, error) {
	if len(of) == 0 {
		return s.list("")
	}
	args := make([]any, len(of))
	for i, status := range of {
		args[i] = string(status)
	}
	return s.list("status", args...)
}

// RunsIn lists the runs that work in a directory, the newest first, as Runs does, by
// whatever name each of them was started there.
func (s *State) RunsIn(dir string) ([]Summary, error) {
	var known []string
	err := s.inIndex("list directories", func(c *sqlite3.Conn) error {
		return each(c, "SELECT DISTINCT dir FROM runs", nil, func(q *sqlite3.Stmt) { known = append(known, q.ColumnText(0)) })
	})
	if err != nil {
		return nil, err
	}
	is, names := InDir(dir), []any{dir}
	for _, name := range known {
		if name != dir && is(name) {
			names = append(names, name)
		}
	}
	return s.list("dir", names...)
}

// InDir tells of the directories of runs whether they are this one. One that is reached
// through a link is the same; one that is gone is known by its name.
func InDir(dir string) func(name string) bool {
	own, err := os.Stat(dir)
	known := map[string]bool{dir: true}
	return func(name string) bool {
		is, looked := known[name]
		if !looked && err == nil {
			info, gone := os.Stat(name)
			is = gone == nil && os.SameFile(own, info)
			known[name] = is
		}
		return is
	}
}

// RunsNamed lists those of the runs that are there, the newest first, as Runs does.
func (s *State) RunsNamed(ids ...belay.RunID) (sums []Summary, err error) {
	for chunk := range slices.Chunk(ids, maxNamed) {
		args := make([]any, len(chunk))
		for i, id := range chunk {
			args[i] = string(id)
		}
		some, err := s.list("id", args...)
		if err != nil {
			return nil, err
		}
		sums = append(sums, some...)
	}
	return sums, nil
}

// maxNamed is how many runs are asked for at once.
const maxNamed = 500

// list are the runs of which a column has one of the values, or all.
func (s *State) list(column string, args ...any) ([]Summary, error) {
	where := ""
	if column != "" {
		where = " WHERE " + column + oneOf(len(args))
	}
	sums, err := s.lines(where, args...)
	return s.looked(sums, err)
}

// oneOf is a condition for so many values.
func oneOf(n int) string { return " IN (?" + strings.Repeat(",?", n-1) + ")" }

// lines are lines of the index, the newest first.
func (s *State) lines(where string, args ...any) (sums []Summary, err error) {
	err = s.inIndex("list runs", func(c *sqlite3.Conn) error {
		return each(c, "SELECT * FROM runs"+where+" ORDER BY started DESC, id", args, func(q *sqlite3.Stmt) {
			sums = append(sums, Summary{
				ID: belay.RunID(q.ColumnText(0)), Name: q.ColumnText(1), Dir: q.ColumnText(2), Work: q.ColumnText(12),
				Status: belay.Status(q.ColumnText(3)), Code: q.ColumnInt(4), Reason: q.ColumnText(5),
				Started: fromNanos(q.ColumnInt64(6)), Updated: fromNanos(q.ColumnInt64(7)),
				Ended: fromNanos(q.ColumnInt64(8)), Driver: identityAt(q, 9),
			})
		})
	})
	return sums, err
}

// looked adds what the folders of runs tell.
func (s *State) looked(sums []Summary, err error) ([]Summary, error) {
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
