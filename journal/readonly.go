package journal

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/ncruces/go-sqlite3"
	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/proc"
)

// LookState opens a state directory for who only looks: as OpenState does, and
// where nothing can be written, without a lock and without making anything. A
// list of runs that is not there, or of an older Belay, is then made in memory.
// It still refuses what it cannot trust.
func LookState(dir string) (*State, error) {
	s, err := OpenState(dir)
	if err == nil || !barred(err) {
		return s, err
	}
	dir, absErr := filepath.Abs(dir)
	if absErr != nil || !isDir(filepath.Join(dir, runsName)) {
		return nil, err // nothing is there to be looked at
	}
	for _, d := range []string{dir, filepath.Join(dir, runsName)} {
		if err := private(d, true); err != nil {
			return nil, err
		}
	}
	self, selfErr := proc.Self()
	if selfErr != nil {
		return nil, exit.New(exit.Infra, "open state", selfErr, "check that process information can be read")
	}
	return &State{dir: dir, self: self, dead: proven, still: err}, nil
}

// Still says why nothing can be written here; nil where it can.
func (s *State) Still() error { return s.still }

// barred tells whether the system lets nobody, or not us, write at a place.
func barred(err error) bool {
	return errors.Is(err, unix.EROFS) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM)
}

// openStill opens the index where nothing can be written.
func (s *State) openStill() error {
	if s.index != nil {
		return nil
	}
	conn, err := s.readIndex()
	if err != nil {
		conn, err = s.indexInMemory()
	}
	s.index = conn
	return err
}

func (s *State) readIndex() (*sqlite3.Conn, error) {
	if err := private(s.indexPath(), false); err != nil {
		return nil, err
	}
	conn, err := s.disk.read(s.indexPath())
	if err != nil {
		return nil, err
	}
	newest := len(s.indexSteps())
	at, err := version(conn, s.indexPath(), newest)
	if err == nil && at < newest {
		err = errors.New("the index is of an older belay")
	}
	if err != nil {
		return nil, first(err, conn.Close())
	}
	return conn, nil
}

func (s *State) indexInMemory() (*sqlite3.Conn, error) {
	conn, err := sqlite3.Open(":memory:")
	if err != nil {
		return nil, err
	}
	if err := migrate(conn, 0, s.indexSteps()); err != nil {
		return nil, first(err, conn.Close())
	}
	return conn, nil
}

// closedIn tells whether nothing can be made beside a file.
func closedIn(path string) bool {
	return barred(unix.Access(filepath.Dir(path), unix.W_OK|unix.X_OK))
}

// readStill opens a database beside which nothing can be made. Its file alone
// is read where it is all there is; with a log beside it, both are copied.
func (d disk) readStill(path string) (*sqlite3.Conn, error) {
	if fileSize(path+"-wal") > 0 {
		return d.readCopy(path)
	}
	return d.connect(d.uri(path)+"&immutable=1", sqlite3.OPEN_READONLY)
}

// A copy is made again when somebody wrote meanwhile; so often, and with a pause.
const (
	copyTries = 5
	copyPause = 20 * time.Millisecond
)

// errWritten is given for a copy that was never made in peace: it may be torn.
var errWritten = errors.New("somebody writes into it and it could not be copied: try again")

// readCopy opens a copy of a database and its log. The copy has no name any more
// when it returns.
func (d disk) readCopy(path string) (_ *sqlite3.Conn, err error) {
	dir, err := os.MkdirTemp("", "belay-look-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = first(err, os.RemoveAll(dir)) }()
	to := filepath.Join(dir, filepath.Base(path))
	if err := copyInPeace(to, path, copyBoth); err != nil {
		return nil, err
	}
	conn, err := d.open(to, sqlite3.OPEN_READWRITE)
	if err != nil {
		return nil, err
	}
	if _, err := askInt(conn, "PRAGMA user_version"); err != nil { // from here on its files are open
		return nil, first(err, conn.Close())
	}
	return conn, nil
}

// copyInPeace copies a database and its log at a time when nobody writes them.
func copyInPeace(to, path string, both func(to, path string) error) error {
	for range copyTries {
		before := stamps(path)
		if err := both(to, path); err != nil {
			return err
		}
		if before == stamps(path) {
			return nil
		}
		time.Sleep(copyPause)
	}
	return errWritten
}

// copyBoth copies a database and its log. The log goes when the last who wrote
// closes the database: then all is in the database.
func copyBoth(to, path string) error {
	if err := copyFile(to, path); err != nil {
		return err
	}
	err := copyFile(to+"-wal", path+"-wal")
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Remove(to + "-wal"); !errors.Is(err, os.ErrNotExist) {
		return err // of a copy before this one
	}
	return nil
}

// stamp is when a file was last written, and how big it was then.
type stamp struct {
	at   time.Time
	size int64
}

func stamps(path string) (both [2]stamp) {
	for i, side := range []string{"", "-wal"} {
		if info, err := os.Stat(path + side); err == nil { // else it is not there: no time, no size
			both[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return both
}

func copyFile(to, from string) error {
	src, err := os.OpenFile(from, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }() // read only: nothing to lose
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return first(err, dst.Close())
}
