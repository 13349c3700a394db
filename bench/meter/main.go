// Command meter stands before a program under its name and writes down what
// time of the processor that program had: `meter` is found as NAME in a folder of
// PATH, starts what METER_NAME says, and adds a line to the file METER_FILE.
// What a metered program starts is counted with it, and not twice.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	name := filepath.Base(os.Args[0])
	real, err := exec.LookPath(os.Getenv("METER_" + strings.ToUpper(name)))
	if err != nil {
		fail(err)
	}
	if os.Getenv("METERED") != "" {
		fail(syscall.Exec(real, os.Args, os.Environ()))
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP) // they reach the program as well: it is in our group
	pid, err := syscall.ForkExec(real, os.Args, &syscall.ProcAttr{
		Env:   append(os.Environ(), "METERED=1"),
		Files: []uintptr{0, 1, 2}, // and those that are left open on purpose
	})
	if err != nil {
		fail(err)
	}
	var ws syscall.WaitStatus
	var used, own syscall.Rusage
	for {
		if _, err = syscall.Wait4(pid, &ws, 0, &used); err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		fail(err)
	}
	f, err := os.OpenFile(os.Getenv("METER_FILE"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		fail(err)
	}
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &own) // it cannot fail for oneself
	fmt.Fprintf(f, "%s %d %d %s\n", name, spent(used), spent(own), strings.Join(os.Args[1:], " "))
	if ws.Signaled() {
		signal.Reset(ws.Signal())
		_ = syscall.Kill(os.Getpid(), ws.Signal()) // as it ended
	}
	os.Exit(ws.ExitStatus())
}

func spent(u syscall.Rusage) int64 { return u.Utime.Nano() + u.Stime.Nano() }

func fail(err error) {
	fmt.Fprintln(os.Stderr, "meter:", err)
	os.Exit(127)
}
