package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Awake is how long this machine has been awake since it was booted: it stands
// still while the machine is suspended, and nobody can set it.
func Awake() (time.Duration, error) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return time.Duration(t.Nano()), err
}

func bootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b)), err
}

// ownPID is the number of this process where others are looked up: in a new PID
// namespace with the old /proc it is not the one that the kernel tells us.
func ownPID() int {
	if name, err := os.Readlink("/proc/self"); err == nil {
		if pid, err := strconv.Atoi(name); err == nil {
			return pid
		}
	}
	return os.Getpid()
}

// firstNamespace tells whether this process sees all others: it is in the PID
// namespace that the kernel made at boot.
func firstNamespace() bool {
	name, err := os.Readlink("/proc/self/ns/pid")
	return err == nil && name == "pid:[4026531836]" // PROC_PID_INIT_INO
}

// commandLine is how a process was started; a zombie has none.
func commandLine(pid int) ([]string, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil || len(b) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00"), nil
}

func look(pid int) (process, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			return process{}, ErrGone
		}
		return process{}, err
	}
	return parseStat(pid, b)
}

// The places of the fields of /proc/PID/stat, counted after the name: a name
// may hold spaces and brackets, so counting starts behind its last bracket.
const (
	statState = 0
	statPpid  = 1
	statPgid  = 2
	statSid   = 3
	statStart = 19
)

func parseStat(pid int, b []byte) (process, error) {
	at := bytes.LastIndexByte(b, ')')
	if at < 0 {
		return process{}, fmt.Errorf("stat of process %d: no name", pid)
	}
	f := strings.Fields(string(b[at+1:]))
	if len(f) <= statStart {
		return process{}, fmt.Errorf("stat of process %d: %d fields", pid, len(f))
	}
	p := process{pid: pid, zombie: f[statState] == "Z" || f[statState] == "X", frozen: strings.EqualFold(f[statState], "T")}
	var errs [4]error
	p.ppid, errs[0] = strconv.Atoi(f[statPpid])
	p.pgid, errs[1] = strconv.Atoi(f[statPgid])
	p.sid, errs[2] = strconv.Atoi(f[statSid])
	p.start, errs[3] = strconv.ParseUint(f[statStart], 10, 64)
	if err := errors.Join(errs[:]...); err != nil {
		return process{}, fmt.Errorf("stat of process %d: %w", pid, err)
	}
	return p, nil
}

// processes is every process that is there; one that leaves meanwhile is left out.
func processes() ([]process, error) {
	names, err := readNames("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var all []process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue // not a process
		}
		if p, err := look(pid); err == nil {
			all = append(all, p)
		}
	}
	return all, nil
}

func readNames(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}

// ownUser tells whether the process runs as this user.
func ownUser(pid int) bool {
	var st unix.Stat_t
	return unix.Stat("/proc/"+strconv.Itoa(pid), &st) == nil && st.Uid == uint32(os.Geteuid())
}

// environ is the environment the process was started with, NUL between the
// entries. It is empty for a zombie and in the middle of an exec.
func environ(pid int) ([]byte, error) {
	return os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
}

// signalExact opens the process before it looks at it: what was looked at is
// then what is signalled, even when the pid changes hands in between.
func signalExact(pid int, start uint64, sig syscall.Signal) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EINVAL) {
			return ErrGone
		}
		return fmt.Errorf("open process %d: %w", pid, err)
	}
	defer unix.Close(fd)
	p, err := look(pid)
	if err != nil || p.start != start || p.zombie {
		return ErrGone
	}
	if err := unix.PidfdSendSignal(fd, sig, nil, 0); err != nil {
		if errors.Is(err, unix.ESRCH) {
			return ErrGone
		}
		return fmt.Errorf("signal process %d: %w", pid, err)
	}
	return nil
}
