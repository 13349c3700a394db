package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Containment is the level this platform reaches.
func Containment() Level { return LevelSubreaper }

// BecomeSubreaper makes the orphans of every descendant come to the calling
// process instead of the first process of the system.
func BecomeSubreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	return nil
}

// enclose makes the calling process a keeper: a session of its own, the
// orphans of its steps, and a memory that no step of the same user can read.
func enclose() error {
	if err := leaveSession(); err != nil {
		return err
	}
	if err := BecomeSubreaper(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hide memory: %w", err)
	}
	return nil
}

// children is every child of the calling process, zombies too. The kernel lists
// them per thread; the list is whole as long as nobody reaps meanwhile.
func children() ([]int, error) {
	tids, err := readNames("/proc/self/task")
	if err != nil {
		return nil, fmt.Errorf("list children: %w", err)
	}
	var pids []int
	for _, tid := range tids {
		b, err := os.ReadFile("/proc/self/task/" + tid + "/children")
		if errors.Is(err, os.ErrNotExist) {
			if _, err := os.Stat("/proc/self/task/" + tid); err != nil {
				continue // the thread ended; its children moved to another
			}
			return childrenByParent() // a kernel without these lists
		}
		if err != nil {
			return nil, fmt.Errorf("list children: %w", err)
		}
		for _, f := range strings.Fields(string(b)) {
			if pid, err := strconv.Atoi(f); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids, nil
}

func childrenByParent() ([]int, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, p := range all {
		if p.ppid == os.Getpid() {
			pids = append(pids, p.pid)
		}
	}
	return pids, nil
}

// awaitDeparture returns when the last thread of a dying keeper that is the
// caller's child is gone: its lock is free before that, and its children come
// to the caller only then.
func awaitDeparture(keeper Identity) {
	for until := time.Now().Add(killPatience); time.Now().Before(until); time.Sleep(lookEvery) {
		if p, err := look(keeper.Pid); err != nil || p.start != keeper.Start {
			return // reaped already
		}
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, keeper.Pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		if errors.Is(err, unix.ECHILD) || err == nil && info.Signo != 0 {
			return // not ours to wait for, or dead as a whole
		}
	}
}

// zombies tells in one call whether any child is dead; it takes none away.
func zombies() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo != 0
}

// noChildren tells in one call that there is no child at all, not even a zombie.
func noChildren() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return errors.Is(err, unix.ECHILD)
}

// socketName is a name for the path that fits into a socket address. A long one
// goes through its opened folder, which must stay open until the name was used.
func socketName(path string) (string, *os.File, error) {
	if len(path) <= maxSocketName {
		return path, nil, nil
	}
	dir, err := os.OpenFile(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)), dir, nil
}

func dataSync(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }

func redirect(from, to int) error { return unix.Dup3(from, to, 0) }

// hasStream tells whether a standard stream of the process is the pipe.
func hasStream(pid int, inode uint64) bool {
	name := fmt.Sprintf("pipe:[%d]", inode)
	for _, fd := range []string{"0", "1", "2"} {
		if to, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/" + fd); err == nil && to == name {
			return true
		}
	}
	return false
}

// awaitExit waits for the end of a child, which is reaped by somebody else, but not
// longer than that.
func awaitExit(pid int, most time.Duration) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil { // an old kernel
		time.Sleep(time.Millisecond)
		return
	}
	defer unix.Close(fd)
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(most.Milliseconds())) // who asks looks again
}
