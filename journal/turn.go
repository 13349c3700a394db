package journal

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/exit"
)

// turnWithin is how long a process waits for its turn at the index. A turn
// takes a millisecond; whoever holds it that long is stopped.
const turnWithin = 30 * time.Second

// lockDir waits for the directory itself, so that no lock file is needed.
func lockDir(dir string) (unlock func(), err error) { return lockWithin(dir, turnWithin) }

func lockWithin(dir string, most time.Duration) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, unwritten("lock state directory", dir, err)
	}
	fd := int(d.Fd())
	err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		var late bool
		if late, err = waitTurn(d, fd, most); late {
			return nil, exit.New(exit.Infra, "lock state directory",
				fmt.Errorf("another process has held %s for %s", dir, most),
				"look for a stopped belay process (kill -CONT it, or end it), then try again")
		}
	}
	if err != nil {
		return nil, first(unwritten("lock state directory", dir, err), d.Close())
	}
	return func() { _ = d.Close() /* opened for its lock only */ }, nil
}

// waitTurn lets the kernel wait: it wakes one of those who wait, where asking
// again and again costs all of them, the more the longer the queue is. Such a
// call cannot be taken back. Who gives up leaves it behind, and the lock that it
// gets one day is given back at once.
func waitTurn(d *os.File, fd int, most time.Duration) (late bool, err error) {
	got := make(chan error)
	gaveUp := make(chan struct{})
	go func() {
		err := unix.Flock(fd, unix.LOCK_EX)
		for errors.Is(err, unix.EINTR) {
			err = unix.Flock(fd, unix.LOCK_EX)
		}
		select {
		case got <- err:
		case <-gaveUp:
			_ = d.Close() // opened for its lock only
		}
	}()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case err := <-got:
		return false, err
	case <-timer.C:
		close(gaveUp)
		return true, nil
	}
}
