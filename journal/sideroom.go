package journal

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lookName is the folder of the folders that somebody uses for a moment. It is one
// of its own, so that nobody who makes one has to look through all archives.
const lookName = "look"

// sideRoom is a private folder for a moment. Who uses it holds its lock, so that
// the next one knows which were left behind by a process that was killed.
type sideRoom struct {
	dir  string
	file *os.File
}

// newRoom makes one in the state directory, and removes those that nobody uses
// any more. Where nothing can be written it lies elsewhere.
func (s *State) newRoom() (*sideRoom, error) {
	if s.still != nil {
		dir, err := os.MkdirTemp("", "belay-look-*")
		if err != nil {
			return nil, unwritten("open archive", os.TempDir(), err)
		}
		return &sideRoom{dir: dir}, nil
	}
	if err := makeDirs(s.dir, lookName); err != nil {
		return nil, err
	}
	unlock, err := lockDir(s.in(lookName)) // a new one is never seen without its lock
	if err != nil {
		return nil, err
	}
	defer unlock()
	s.sweepRooms()
	dir, err := os.MkdirTemp(s.in(lookName), "*")
	if err != nil {
		return nil, unwritten("make room", s.in(lookName), err)
	}
	f, err := os.Open(dir)
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		return nil, unwritten("make room", dir, err)
	}
	return &sideRoom{dir, f}, nil
}

// sweepRooms removes what processes left behind that were killed.
func (s *State) sweepRooms() {
	entries, err := os.ReadDir(s.in(lookName))
	if err != nil {
		return // who needs the folder says what is wrong with it
	}
	for _, e := range entries {
		path := filepath.Join(s.in(lookName), e.Name())
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = os.RemoveAll(path) // the next one tries again
		}
		_ = f.Close() // opened for its lock only
	}
}

// in is a path in the folder.
func (s *sideRoom) in(name string) string { return filepath.Join(s.dir, name) }

// remove gives the folder back.
func (s *sideRoom) remove() error {
	err := os.RemoveAll(s.dir)
	if s.file != nil {
		err = first(err, s.file.Close())
	}
	return err
}
