package proc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	stateStopped = 4 // SSTOP
	stateZombie  = 5 // SZOMB
)

// Awake is how long this machine has been awake since it was booted: it stands
// still while the machine is suspended, and nobody can set it.
func Awake() (time.Duration, error) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_UPTIME_RAW, &t)
	return time.Duration(t.Nano()), err
}

func bootID() (string, error) { return unix.Sysctl("kern.bootsessionuuid") }

func ownPID() int { return os.Getpid() }

func firstNamespace() bool { return true }

// commandLine is how a process was started: behind the number of arguments and
// the path of the program, which is padded with NULs.
func commandLine(pid int) ([]string, error) {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	const count = 4
	if err != nil || len(b) < count {
		return nil, err
	}
	n := int(binary.LittleEndian.Uint32(b))
	_, rest, _ := bytes.Cut(b[count:], []byte{0})
	words := bytes.SplitN(bytes.TrimLeft(rest, "\x00"), []byte{0}, n+1)
	var argv []string
	for _, w := range words[:min(n, len(words))] {
		argv = append(argv, string(w))
	}
	return argv, nil
}

func look(pid int) (process, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		if errors.Is(err, unix.EIO) || errors.Is(err, unix.ESRCH) {
			return process{}, ErrGone
		}
		return process{}, err
	}
	return fromKernel(k), nil
}

func fromKernel(k *unix.KinfoProc) process {
	p := process{
		pid: int(k.Proc.P_pid), ppid: int(k.Eproc.Ppid), pgid: int(k.Eproc.Pgid),
		start:  uint64(k.Proc.P_starttime.Sec)*1e6 + uint64(k.Proc.P_starttime.Usec),
		zombie: k.Proc.P_stat == stateZombie,
		frozen: k.Proc.P_stat == stateStopped,
	}
	if sid, err := unix.Getsid(p.pid); err == nil {
		p.sid = sid
	}
	return p
}

func processes() ([]process, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	all := make([]process, 0, len(list))
	for i := range list {
		all = append(all, fromKernel(&list[i]))
	}
	return all, nil
}

func ownUser(pid int) bool {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && k.Eproc.Ucred.Uid == uint32(os.Geteuid())
}

// environ gives arguments and environment together, NUL between the entries:
// the kernel keeps them in one piece.
func environ(pid int) ([]byte, error) {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return nil, err
	}
	const count = 4 // the number of arguments comes first
	if len(b) < count || binary.LittleEndian.Uint32(b) == 0 {
		return nil, nil
	}
	return b[count:], nil
}

// signalExact has a small window here: there is no handle that pins a process.
func signalExact(pid int, start uint64, sig syscall.Signal) error {
	p, err := look(pid)
	if err != nil || p.start != start || p.zombie {
		return ErrGone
	}
	if err := syscall.Kill(pid, sig); err != nil {
		if errors.Is(err, syscall.ESRCH) {
			return ErrGone
		}
		return fmt.Errorf("signal process %d: %w", pid, err)
	}
	return nil
}
