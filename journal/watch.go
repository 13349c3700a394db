package journal

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/proc"
)

// watchName is the lock of the watch that leads.
const watchName = "watch.lock"

// someName is the lock of a watch that was told which runs to look at. It stands
// back while one leads that looks at all.
const someName = "watch.some.lock"

// stoppedName is what the lock of a watch that was relieved is called, behind its name.
const stoppedName = ".stopped"

// relieveName is the lock of who relieves a watch, behind the name of its lock.
const relieveName = ".relieve"

// WatchLock is the right to act as the watch of a state directory. The kernel
// gives it back at the death of its process.
type WatchLock struct {
	file *os.File
	path string
}

// LeadWatch takes the right to act as the watch of all runs, or of some; nil when
// another process has it. Who looks at some runs only must ask WatchLeads, too.
func (s *State) LeadWatch(all bool) (*WatchLock, error) {
	if s.still != nil {
		return nil, s.still
	}
	l, err := s.lockWatch(s.watchPath(all))
	if l == nil || err != nil {
		return nil, err
	}
	if !l.Holds() { // another relieved the one who had it
		l.Release()
		return nil, nil
	}
	writeHolder(l.file, s.self)
	return l, nil
}

func (s *State) watchPath(all bool) string {
	if all {
		return filepath.Join(s.dir, watchName)
	}
	return filepath.Join(s.dir, someName)
}

// lockWatch locks a file, nil when another process has it.
func (s *State) lockWatch(path string) (*WatchLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_CLOEXEC, fileMode)
	if err != nil {
		return nil, unwritten("lead the watch", path, err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return &WatchLock{f, path}, nil
	}
	f.Close() // opened to be locked, and it was not
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, nil
	}
	return nil, unwritten("lead the watch", path, err)
}

// Holds tells whether the right is still that of this process: one that was stopped by
// a signal may have been relieved of it.
func (l *WatchLock) Holds() bool { return named(l.file, l.path) }

// WatchFrozen is the watch that has the right to act and is stopped by a signal; false
// when there is none.
func (s *State) WatchFrozen(all bool) (proc.Identity, bool) {
	f, err := os.OpenFile(s.watchPath(all), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return proc.Identity{}, false
	}
	defer f.Close()
	is := readHolder(f)
	return is, errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK) && is.Frozen()
}

// RelieveWatch takes the right to act from a watch that is stopped by a signal; nil when
// there is none, or another process is faster. The kernel leaves the old lock with the
// stopped one, so the file gets a new one in its place: the stopped one sees that it holds
// a file without a name. What it has begun is fenced by the index, where each decision is
// compared with what was known when it was taken.
func (s *State) RelieveWatch(all bool) (*WatchLock, error) {
	if s.still != nil {
		return nil, s.still
	}
	path := s.watchPath(all)
	turn, err := s.lockWatch(path + relieveName)
	if turn == nil || err != nil {
		return nil, err
	}
	defer turn.Release()
	if _, frozen := s.WatchFrozen(all); !frozen {
		return nil, nil
	}
	_ = os.Remove(path + stoppedName) // of an earlier one, if any
	if err := os.Link(path, path+stoppedName); err != nil {
		return nil, unwritten("relieve the watch", path, err)
	}
	_ = os.Remove(path + ".new") // of one who died here
	l, err := s.lockWatch(path + ".new")
	if l == nil || err != nil {
		return nil, err
	}
	writeHolder(l.file, s.self)
	if err := os.Rename(l.path, path); err != nil {
		l.Release()
		return nil, unwritten("relieve the watch", path, err)
	}
	l.path = path
	return l, nil
}

// WatchLeads tells whether a watch looks after all runs of this state directory.
// One that is stopped by a signal does not.
func (s *State) WatchLeads() bool {
	f, err := os.OpenFile(filepath.Join(s.dir, watchName), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK) && !readHolder(f).Frozen()
}

// Watches tells whether one of the processes is a watch of this state directory, was the
// last one, or was relieved.
func (s *State) Watches(chain []proc.Identity) bool {
	for _, name := range []string{watchName, someName, watchName + stoppedName, someName + stoppedName} {
		f, err := os.OpenFile(filepath.Join(s.dir, name), os.O_RDONLY|unix.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		is := slices.Contains(chain, readHolder(f))
		f.Close() // only read
		if is {
			return true
		}
	}
	return false
}

// Release gives the right back.
func (l *WatchLock) Release() {
	_ = (&lock{file: l.file}).release() // the end of the process does it otherwise
}

// Changed is when the journal of a run or its mailbox was written last; zero when
// that cannot be told.
func (f Folder) Changed() (last time.Time) {
	for _, name := range []string{journalName, journalName + "-wal", inName} {
		if info, err := os.Stat(f.in(name)); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// Mailed is when the oldest request was left that waits for a driver; zero for none.
func (f Folder) Mailed() (at time.Time) {
	entries, err := os.ReadDir(f.in(inName))
	if err != nil {
		return at // whoever drives the run next says why
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if info, err := e.Info(); err == nil && (at.IsZero() || info.ModTime().Before(at)) {
			at = info.ModTime()
		}
	}
	return at
}
