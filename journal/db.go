package journal

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"golang.org/x/sys/unix"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
)

// busyFor is how long a connection waits for another one before it gives up.
const busyFor = 10 * time.Second

// tidyFor is how long it waits for others only to leave less behind.
const tidyFor = 100 * time.Millisecond

// disk is how databases reach the disk; the zero value is the real one.
type disk struct {
	vfs  string                  // the name of a registered VFS; "" is the system's
	sync func(path string) error // of a folder or a file; nil is syncDir
	room func(path string) error // nil is roomAt
}

func (d disk) syncDir(path string) error {
	if d.sync != nil {
		return d.sync(path)
	}
	return syncDir(path)
}

// syncFile makes the bytes of a file durable.
func (d disk) syncFile(path string) error { return d.syncDir(path) }

func (d disk) uri(path string) string {
	q := url.Values{"modeof": {path}} // for a log that SQLite makes anew
	if d.vfs != "" {
		q.Set("vfs", d.vfs)
	}
	// SQLite takes a plus for a plus.
	u := url.URL{Scheme: "file", Path: path, RawQuery: strings.ReplaceAll(q.Encode(), "+", "%20")}
	return u.String()
}

// write opens a database for writing. It leaves the file as it is until
// durable is called, so that a damaged one is not touched.
func (d disk) write(path string) (*sqlite3.Conn, error) {
	if err := touch(path); err != nil {
		return nil, err
	}
	return d.open(path, sqlite3.OPEN_READWRITE)
}

// read opens a database for reading only.
func (d disk) read(path string) (*sqlite3.Conn, error) {
	if closedIn(path) {
		return d.readStill(path)
	}
	return d.open(path, sqlite3.OPEN_READONLY)
}

func (d disk) open(path string, how sqlite3.OpenFlag) (*sqlite3.Conn, error) {
	// Made here first, because SQLite would make them with the umask's mode; but the
	// log of a database that is empty it would remove first.
	for _, side := range []string{"-wal", "-shm"} {
		if side == "-wal" && fileSize(path) == 0 {
			continue
		}
		if err := touch(path + side); err != nil && how != sqlite3.OPEN_READONLY {
			return nil, err
		}
	}
	return d.connect(d.uri(path), how)
}

func (d disk) connect(uri string, how sqlite3.OpenFlag) (*sqlite3.Conn, error) {
	c, err := sqlite3.OpenFlags(uri, how|sqlite3.OPEN_URI)
	if err != nil {
		return nil, err
	}
	if err := c.BusyTimeout(busyFor); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	// A file that turns out to be damaged must not be checkpointed by the mere
	// closing of it; who has seen that it is sound switches this back.
	if _, err := c.Config(sqlite3.DBCONFIG_NO_CKPT_ON_CLOSE, true); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// touch makes a private file where there is none.
func touch(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, fileMode)
	if err != nil {
		return err
	}
	return f.Close()
}

// autoCheckpoint keeps the log short: one that is soon written over instead of
// growing syncs faster.
const autoCheckpoint = "wal_autocheckpoint=64"

// durable switches on what an acknowledged write depends on, and believes it
// only after reading it back.
func durable(c *sqlite3.Conn, path string) error {
	wanted := []struct{ pragma, value string }{
		{"journal_mode=WAL", "wal"},
		{"synchronous=FULL", "2"},
		{autoCheckpoint, "64"},
		{"fullfsync=ON", "1"},
		{"checkpoint_fullfsync=ON", "1"},
	}
	for _, w := range wanted {
		if err := c.Exec("PRAGMA " + w.pragma); err != nil {
			return err
		}
		name, _, _ := strings.Cut(w.pragma, "=")
		got, err := ask(c, "PRAGMA "+name)
		if err != nil {
			return err
		}
		if got != w.value {
			return refused("open database", path, fmt.Sprintf("did not take %s: it says %q", w.pragma, got),
				"use a state directory on a local disk with file locks (BELAY_STATE)", nil)
		}
	}
	return nil
}

// startLog does the first write into a log that is new, and waits for no disk: what a
// power cut leaves of it is a part that the log's own sums refuse, so all of it or
// nothing. It is on disk with the next write that waits, or with syncFile. The
// database itself is not written meanwhile, since nobody would wait for that.
func startLog(c *sqlite3.Conn, do func() error) error {
	err := c.Exec("PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=0")
	if err == nil {
		err = do()
	}
	return errors.Join(err, c.Exec("PRAGMA synchronous=FULL; PRAGMA "+autoCheckpoint))
}

// ask is the first column of a statement's first row, as text; "" for no row.
func ask(c *sqlite3.Conn, text string) (string, error) {
	var answer string
	err := each(c, text, nil, func(s *sqlite3.Stmt) { answer = s.ColumnText(0) })
	return answer, err
}

// askInt is ask for a number; 0 for no row.
func askInt(c *sqlite3.Conn, text string, args ...any) (int64, error) {
	var answer int64
	err := each(c, text, args, func(s *sqlite3.Stmt) { answer = s.ColumnInt64(0) })
	return answer, err
}

// run does one statement.
func run(c *sqlite3.Conn, text string, args ...any) error {
	return each(c, text, args, func(*sqlite3.Stmt) {})
}

// each does one statement and shows every row that it gives.
func each(c *sqlite3.Conn, text string, args []any, show func(*sqlite3.Stmt)) error {
	s, _, err := c.Prepare(text)
	if err != nil {
		return err
	}
	if err := bindAll(s, args); err != nil {
		return first(err, s.Close())
	}
	for s.Step() {
		show(s)
	}
	return first(s.Err(), s.Close())
}

func bindAll(s *sqlite3.Stmt, args []any) error {
	for i, a := range args {
		var err error
		switch a := a.(type) {
		case int:
			err = s.BindInt(i+1, a)
		case int64:
			err = s.BindInt64(i+1, a)
		case uint64: // a start time; the bits come back as they were
			err = s.BindInt64(i+1, int64(a))
		case string:
			err = s.BindText(i+1, a)
		case belay.RunID:
			err = s.BindText(i+1, string(a))
		case time.Time:
			err = s.BindInt64(i+1, nanos(a))
		default:
			err = fmt.Errorf("bind a %T", a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// nanos is a time as a column has it; no time is 0.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromNanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// closeSound closes a connection to a database that is as it should be:
// everything goes into the main file, and the files beside it go away when
// nobody else uses them.
func closeSound(c *sqlite3.Conn) error {
	if err := c.BusyTimeout(tidyFor); err != nil {
		return first(err, c.Close())
	}
	_, _, err := c.WALCheckpoint("main", sqlite3.CHECKPOINT_TRUNCATE)
	if errors.Is(err, sqlite3.BUSY) {
		err = nil // a reader is in the way; the next writer's close will do it
	}
	if err == nil {
		_, err = c.Config(sqlite3.DBCONFIG_NO_CKPT_ON_CLOSE, false)
	}
	return first(err, c.Close())
}

// step leads a database from one schema number to the next.
type step func(c *sqlite3.Conn) error

// sql is a step that only runs statements.
func sql(text string) step {
	return func(c *sqlite3.Conn) error { return c.Exec(text) }
}

// version reads the schema number of a file, and refuses one above the newest.
func version(c *sqlite3.Conn, path string, newest int) (int, error) {
	v, err := askInt(c, "PRAGMA user_version")
	if err != nil {
		return 0, err
	}
	if v > int64(newest) {
		return 0, exit.New(exit.Infra, "open database",
			&TooNew{Path: path, Have: int(v), Know: newest}, "use the belay that wrote it, or a newer one")
	}
	return int(v), nil
}

// migrate brings a database from schema number at to the newest one in one
// transaction.
func migrate(c *sqlite3.Conn, at int, steps []step) error {
	if max(at, 0) >= len(steps) {
		return nil
	}
	return transact(c, func() error {
		now, err := askInt(c, "PRAGMA user_version") // another process may have been faster
		if err != nil {
			return err
		}
		return upgrade(c, int(now), steps)
	})
}

// upgrade is migrate inside of a transaction: steps[n] leads from n to n+1.
func upgrade(c *sqlite3.Conn, at int, steps []step) error {
	for n := max(at, 0); n < len(steps); n++ {
		err := steps[n](c)
		if err == nil {
			err = c.Exec(fmt.Sprintf("PRAGMA user_version=%d", n+1))
		}
		if err != nil {
			return fmt.Errorf("migrate to schema %d: %w", n+1, err)
		}
	}
	return nil
}

// transact runs do between BEGIN IMMEDIATE and COMMIT; an error rolls back.
func transact(c *sqlite3.Conn, do func() error) error {
	if err := c.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := do()
	if err == nil {
		err = c.Exec("COMMIT")
	}
	if err != nil && !c.GetAutocommit() {
		return errors.Join(err, c.Exec("ROLLBACK"))
	}
	return err
}
