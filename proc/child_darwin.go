package proc

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// child is a started leader, watched through a kernel queue of its own.
type child struct {
	pid   int
	queue int
}

// startChild starts a program as the leader of a process group of its own. Its
// queue is made first: after the fork nothing may fail, or the child would run
// on with nobody to hold it.
func startChild(path string, argv, env []string, dir string, files []uintptr) (child, error) {
	syscall.ForkLock.RLock() // no fork may see the queue before it is marked
	queue, err := unix.Kqueue()
	if err == nil {
		unix.CloseOnExec(queue)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return child{}, fmt.Errorf("make a queue: %w", err)
	}
	attr := &syscall.ProcAttr{Dir: dir, Env: env, Files: files, Sys: &syscall.SysProcAttr{Setpgid: true}}
	pid, err := syscall.ForkExec(path, argv, attr)
	if err != nil {
		_ = unix.Close(queue) // nothing was put into it
		return child{}, err
	}
	return child{pid: pid, queue: queue}, nil
}

// await returns when the child has ended; it stays a zombie until it is reaped.
func (c child) await() error {
	change := []unix.Kevent_t{{Ident: uint64(c.pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT}}
	events := make([]unix.Kevent_t, 1)
	for {
		_, err := unix.Kevent(c.queue, change, events, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.ESRCH) {
			return nil // it ended before it was watched
		}
		return err
	}
}

func (c child) ended() bool {
	p, err := look(c.pid)
	return err != nil || p.zombie
}

func (c child) release() { _ = unix.Close(c.queue) } // nothing is written through it

func pipe() (*os.File, int, error) {
	var p [2]int
	syscall.ForkLock.RLock() // no fork may see the ends before they are marked
	err := syscall.Pipe(p[:])
	if err == nil {
		syscall.CloseOnExec(p[0])
		syscall.CloseOnExec(p[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, -1, err
	}
	if err := syscall.SetNonblock(p[0], true); err != nil {
		_ = syscall.Close(p[0]) // nothing was written
		_ = syscall.Close(p[1]) // as above
		return nil, -1, err
	}
	return os.NewFile(uintptr(p[0]), "pipe"), p[1], nil
}

// peak is the most memory that an ended child had, in KiB.
func peak(usage *syscall.Rusage) int64 { return usage.Maxrss / 1024 }
