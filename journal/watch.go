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

// WatchLock is the right to act as the watch of a state directory. The kernel
// gives it back at the death of its process.
type WatchLock struct{ file *os.File }

// LeadWatch takes the right to act as the watch of all runs, or of some; nil when
// another process has it. Who looks at some runs only must ask WatchLeads, too.
func (s *State) LeadWatch(all bool) (*WatchLock, error) {
	if s.still != nil {
		return nil, s.still
	}
	name := someName
	if all {
		name = watchName
	}
	path := filepath.Join(s.dir, name)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_CLOEXEC, fileMode)
	if err != nil {
		return nil, unwritten("lead the watch", path, err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		writeHolder(f, s.self)
		return &WatchLock{f}, nil
	}
	f.Close() // opened to be locked, and it was not
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, nil
	}
	return nil, unwritten("lead the watch", path, err)
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

// Watches tells whether one of the processes is a watch of this state directory, or was
// the last one.
func (s *State) Watches(chain []proc.Identity) bool {
	for _, name := range []string{watchName, someName} {
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
