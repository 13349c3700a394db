package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// exitNoProgram is what a shell says of a program that cannot be started.
const exitNoProgram = 127

// deathFD is where the first process of a namespace tells, in one byte, which
// signal ended the program: its own exit code cannot say that.
const deathFD = 3

// probePatience is how long the probe of a namespace may take.
const probePatience = 5 * time.Second

// NamespaceAttr is how the first process of a new PID namespace is started: it
// leads a group of its own, and it dies with the thread that started it, and
// all that is in the namespace with it.
func NamespaceAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Setpgid:    true,
		Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS,
		Pdeathsig:  syscall.SIGKILL,
	}
}

// ProbeNamespace tells whether a PID namespace can be had. init is the command
// line that ends in NSInit; the program to run is put behind it.
func ProbeNamespace(ctx context.Context, init []string) error {
	if len(init) == 0 {
		return errors.New("probe namespace: no program for its first process")
	}
	if os.Geteuid() != 0 {
		return errors.New("probe namespace: not root")
	}
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, init[0], init[1:]...)
	cmd.SysProcAttr = NamespaceAttr()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("probe namespace: %w: %.200s", err, out)
	}
	return nil
}

// NSInit is the whole life of the first process of a PID namespace: it gives
// the namespace a /proc of its own, starts the program, passes TERM, INT and
// HUP on to it, takes away the dead, and ends with the program's code, 128 and
// the signal when it was ended by one; a pipe at descriptor 3 is told the signal
// too. When it returns and the process ends,
// the kernel ends everything in the namespace. With no program it only tries.
// What NamespaceArgs put in front of the program is left out.
func NSInit(argv []string) int {
	if len(argv) > 2 && argv[0] == keptFlag {
		argv = argv[3:]
	}
	if len(argv) > 0 && argv[0] == "--" {
		argv = argv[1:]
	}
	if os.Getpid() != 1 {
		fmt.Fprintln(os.Stderr, "belay: not the first process of a namespace")
		return exitNoProgram
	}
	if err := ownProc(); err != nil {
		fmt.Fprintln(os.Stderr, "belay:", err)
		return exitNoProgram
	}
	if len(argv) == 0 {
		return 0
	}
	unix.CloseOnExec(deathFD) // not the program's
	told := make(chan os.Signal, 8)
	signal.Notify(told, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	path, err := exec.LookPath(argv[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, "belay: start in namespace:", err)
		return exitNoProgram
	}
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "belay: start in namespace:", err)
		return exitNoProgram
	}
	letGo()
	stop := make(chan struct{})
	passed := make(chan struct{})
	go func() {
		defer close(passed)
		pass(told, stop, pid)
	}()
	code := reapUntil(pid)
	close(stop)
	<-passed
	return code
}

// ownProc shows the processes of this namespace under /proc, and only here.
func ownProc() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount proc: %w", err)
	}
	return nil
}

// letGo closes the streams of the first process, so that the reader of a pipe
// sees its end when the program and its children have closed it.
func letGo() {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return // the pipes then end with this process
	}
	defer null.Close()
	for fd := range 2 { // what it has to say goes to stderr
		_ = unix.Dup3(int(null.Fd()), fd, 0) // the same
	}
}

// pass hands signals on to the program until stop is closed.
func pass(told <-chan os.Signal, stop <-chan struct{}, pid int) {
	for {
		select {
		case <-stop:
			return
		case s := <-told:
			if sig, ok := s.(syscall.Signal); ok {
				_ = syscall.Kill(pid, sig) // one that is gone needs none
			}
		}
	}
}

// reapUntil takes away the dead until the program is among them.
func reapUntil(pid int) int {
	for {
		var status syscall.WaitStatus
		got, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return exitNoProgram // no child: it cannot be, the program is one
		case got == pid && status.Exited():
			return status.ExitStatus()
		case got == pid && status.Signaled():
			tellDeath(status.Signal())
			return 128 + int(status.Signal())
		}
	}
}

// tellDeath writes the signal to the pipe at deathFD, if there is one.
func tellDeath(sig syscall.Signal) {
	var st unix.Stat_t
	if unix.Fstat(deathFD, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO {
		_, _ = unix.Write(deathFD, []byte{byte(sig)}) // the code says it too, less well
	}
}
