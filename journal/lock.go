package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/proc"
)

// lock is the right to drive a run. The kernel holds it for as long as this
// process lives, stopped or not, and gives it back at its death; the file is
// unlinked only with the folder of a run that never began, by who holds it.
type lock struct{ file *os.File }

func takeLock(run belay.RunID, path string, self proc.Identity) (*lock, error) {
	f, by, err := claim("lock run", path)
	if by != nil {
		return nil, exit.New(exit.Busy, "lock run", &Busy{Run: run, Holder: *by},
			fmt.Sprintf("follow it with belay logs %s, or end it with belay stop %s", run, run))
	}
	if err != nil {
		return nil, err
	}
	writeHolder(f, self)
	return &lock{file: f}, nil
}

// claim locks a file; by is who has it, when another process does.
func claim(op, path string) (f *os.File, by *proc.Identity, err error) {
	f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, fileMode)
	if err != nil {
		return nil, nil, unwritten(op, path, err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	for until := time.Now().Add(heirLeaves); errors.Is(err, unix.EWOULDBLOCK) && inherited(f) && time.Now().Before(until); {
		time.Sleep(copyPause)
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		holder := readHolder(f)
		f.Close() // opened to be locked, and it was not
		return nil, &holder, nil
	case err != nil:
		f.Close() // opened to be locked, and it was not
		return nil, nil, unwritten(op, path, err)
	}
	if !named(f, path) {
		f.Close() // its folder was removed meanwhile
		return nil, nil, unwritten(op, path, errors.New("it was removed just now"))
	}
	return f, nil, nil
}

// heirLeaves is how long a lock is waited for whose holder is dead.
const heirLeaves = 2 * time.Second

// inherited tells whether who holds a lock is dead: then a child that it was just forking has
// the lock, until that comes to its exec.
func inherited(f *os.File) bool {
	holder := readHolder(f)
	return holder.Pid != 0 && !holder.Alive()
}

// named tells whether a file still has its name.
func named(f *os.File, path string) bool {
	have, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(have, there)
}

// release gives the lock back. Closing alone would leave it to a child that is
// just being forked, for as long as that has not come to its exec.
func (l *lock) release() error {
	return first(unix.Flock(int(l.file.Fd()), unix.LOCK_UN), l.file.Close())
}

// writeHolder leaves a note for people; the lock itself is the kernel's.
func writeHolder(f *os.File, self proc.Identity) {
	b, err := json.Marshal(self)
	if err != nil {
		return // an identity always marshals; the note is for people only
	}
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt(append(b, '\n'), 0) // a missing note costs a name in a message
	}
}

// holderOf is who holds a lock by the note in it; nobody when that cannot be read.
func holderOf(path string) proc.Identity {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return proc.Identity{}
	}
	defer func() { _ = f.Close() }() // read only: nothing to lose
	return readHolder(f)
}

func readHolder(f *os.File) proc.Identity {
	var id proc.Identity
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 4096))
	if err != nil || json.Unmarshal(b, &id) != nil {
		return proc.Identity{} // half written or empty: the holder is just taking it
	}
	return id
}
