package proc

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// child is a started leader. Its handle sits in the runtime's poller, so that
// waiting for it takes no thread.
type child struct {
	pid    int
	handle *os.File
}

// startChild starts a program as the leader of a process group of its own.
func startChild(path string, argv, env []string, dir string, files []uintptr) (child, error) {
	fd := -1
	attr := &syscall.ProcAttr{
		Dir: dir, Env: env, Files: files,
		Sys: &syscall.SysProcAttr{Setpgid: true, PidFD: &fd},
	}
	pid, err := syscall.ForkExec(path, argv, attr)
	if err != nil {
		return child{}, err
	}
	return hold(pid, func(pid int) (child, error) {
		if err := unix.SetNonblock(fd, true); err != nil {
			if fd >= 0 { // a kernel without handles gives none
				_ = unix.Close(fd) // the first error is what counts
			}
			return child{}, err
		}
		return child{pid: pid, handle: os.NewFile(uintptr(fd), "process")}, nil
	})
}

// hold puts a watch on a leader that was just forked. One that cannot be
// watched is ended with its group and reaped: nobody would ever do it later.
func hold(pid int, watch func(pid int) (child, error)) (child, error) {
	c, err := watch(pid)
	if err == nil {
		return c, nil
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL) // unreaped, so nobody else's
	_ = syscall.Kill(pid, syscall.SIGKILL)  // it may have left its group
	for {
		if _, wait := syscall.Wait4(pid, nil, 0, nil); !errors.Is(wait, syscall.EINTR) {
			return child{}, &unwatched{pid: pid, err: err}
		}
	}
}

// await returns when the child has ended; it stays a zombie, so that its pid
// and its group cannot become a stranger's.
func (c child) await() error {
	raw, err := c.handle.SyscallConn()
	if err != nil {
		return err
	}
	var state error
	err = raw.Read(func(fd uintptr) bool {
		var ended bool
		ended, state = hasEnded(int(fd))
		return ended || state != nil
	})
	return errors.Join(err, state)
}

// ended tells whether the child is a zombie by now.
func (c child) ended() bool {
	raw, err := c.handle.SyscallConn()
	if err != nil {
		return true // closed: it was reaped long ago
	}
	ended := true
	if err := raw.Control(func(fd uintptr) {
		ended, err = hasEnded(int(fd))
	}); err != nil {
		return true
	}
	return ended || err != nil
}

func hasEnded(fd int) (bool, error) {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PIDFD, fd, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return false, nil
		case err != nil:
			return false, err
		}
		return info.Signo != 0, nil
	}
}

func (c child) release() { _ = c.handle.Close() } // nothing is written through it

// pipe is a new pipe: its read end in the poller, its write end for a child.
func pipe() (*os.File, int, error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return nil, -1, err
	}
	if err := unix.SetNonblock(p[0], true); err != nil {
		_ = unix.Close(p[0]) // nothing was written
		_ = unix.Close(p[1]) // as above
		return nil, -1, err
	}
	return os.NewFile(uintptr(p[0]), "pipe"), p[1], nil
}

// peak is the most memory that an ended child had, in KiB; 0 when that cannot be
// told. A child shares our memory until its exec, and the kernel counts that as
// its own: only what is above our own peak was surely the child's.
func peak(usage *syscall.Rusage) int64 {
	var own syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) != nil || usage.Maxrss <= own.Maxrss {
		return 0
	}
	return usage.Maxrss
}
