package proc

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Containment is the level this platform reaches: there is no subreaper.
func Containment() Level { return LevelGroup }

// BecomeSubreaper does nothing: the platform has none, and Containment says so.
func BecomeSubreaper() error { return nil }

// enclose makes the calling process a keeper, as far as the platform can.
func enclose() error { return leaveSession() }

// children is every process that may be an orphan of a step: without a
// subreaper they go to the first process of the system, and only the marker or
// the group tells whose they are.
func children() ([]int, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, p := range all {
		if p.pid > 1 && (p.ppid == os.Getpid() || p.ppid == 1 && ownUser(p.pid)) {
			pids = append(pids, p.pid)
		}
	}
	return pids, nil
}

func awaitDeparture(Identity) {} // without a subreaper nothing comes to the caller

// awaitExit waits a moment for the end of a child.
func awaitExit(_ int, most time.Duration) { time.Sleep(min(most, time.Millisecond)) }

func zombies() bool { return false } // orphans go to the first process of the system

func noChildren() bool { return false } // orphans are not ours here; only a look can tell

func socketName(path string) (string, *os.File, error) {
	if len(path) <= maxSocketName {
		return path, nil, nil
	}
	return "", nil, errors.New("socket path is too long for this platform")
}

func dataSync(f *os.File) error { return f.Sync() }

func redirect(from, to int) error { return unix.Dup2(from, to) }

func hasStream(int, uint64) bool { return false } // nothing here tells
