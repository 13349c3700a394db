package journal

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3"
	"golang.org/x/sys/unix"
)

// probeSize is about what a transaction needs.
const probeSize = 64 << 10

// unwritten types an error of a database's write. The driver loses the
// system's own number for it on the way up, so the disk is asked again.
func (d disk) unwritten(op, path string, err error) error {
	if errors.Is(err, sqlite3.IOERR) && !isFull(err) {
		room := d.room
		if room == nil {
			room = roomAt
		}
		if cause := room(path); isFull(cause) {
			err = errors.Join(err, cause)
		}
	}
	return unwritten(op, path, err)
}

// roomAt says what the system says when a database wants to grow.
func roomAt(path string) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err == nil {
		for _, name := range []string{path, path + "-wal"} {
			if info, err := os.Stat(name); err == nil && uint64(info.Size())+probeSize > limit.Cur {
				return unix.EFBIG
			}
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".room-*")
	if err != nil {
		return nameless(err)
	}
	_, err = f.Write(make([]byte, probeSize))
	if err == nil {
		err = f.Sync()
	}
	return nameless(errors.Join(err, f.Close(), os.Remove(f.Name())))
}

// nameless is what the system says of a file that has another name at each try: the same
// trouble has to read the same each time.
func nameless(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// Full tells whether the disk of the state directory has no room for what a run writes
// when it goes on. One that cannot be asked has other troubles.
func (s *State) Full() bool {
	var is unix.Statfs_t
	if s.still != nil || unix.Statfs(s.dir, &is) != nil || is.Blocks == 0 {
		return false
	}
	free := is.Bavail
	if os.Geteuid() == 0 { // who may use what is kept back for root
		free = is.Bfree
	}
	return uint64(free)*uint64(is.Bsize) < probeSize || is.Files > 0 && is.Ffree == 0 //nolint:gosec,unconvert // its type differs by system, and it is never negative
}
