//go:build e2e && linux

// Package e2e runs real agent CLIs, as npm installs them, against the scripted
// model on loopback. Every process of these tests lives in a network of its own
// that has loopback and nothing else; every run has a fresh home. It installs
// nothing (make e2e does), needs no key, and never reaches a real service.
package e2e

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// inside is set to how the network is closed, for the tests that run in it.
const inside = "BELAY_E2E_NETWORK"

// builtIn is set to the folder of the program that is built for all of them.
const builtIn = "BELAY_E2E_BUILT"

const (
	byNamespace = "namespace" // only loopback exists
	byProxy     = "proxy"     // the CLIs are told to use a proxy that is not there
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	switch os.Getenv(inside) {
	case "":
		return enclose(m)
	case byNamespace:
		if err := raiseLoopback(); err != nil {
			fmt.Fprintln(os.Stderr, "e2e:", err)
			return 1
		}
	}
	dir, err := os.MkdirTemp("", "belay-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Setenv(builtIn, dir); err != nil {
		return 1
	}
	return m.Run()
}

// enclose runs this program once more in a network namespace, or says why that
// cannot be and goes on behind a proxy that is not there.
func enclose(m *testing.M) int {
	runtime.LockOSThread() // the child dies with this thread, so the thread must stay
	defer runtime.UnlockOSThread()
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), inside+"="+byNamespace)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 { // a user namespace is where one may have a network
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode()
	case errors.As(err, &exit):
		return 1
	}
	fmt.Fprintf(os.Stderr, "e2e: no network namespace can be had here (%v): the CLIs get a proxy that is not there instead\n", err)
	if err := os.Setenv(inside, byProxy); err != nil {
		return 1
	}
	return run(m)
}

// raiseLoopback switches on the loopback of a new network, where it is off.
func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open a socket: %w", err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("name loopback: %w", err)
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("switch loopback on: %w", err)
	}
	return nil
}

// TestNetworkIsClosed shows that the other tests reach nothing but loopback.
func TestNetworkIsClosed(t *testing.T) {
	t.Parallel()
	if how := os.Getenv(inside); how != byNamespace {
		t.Skipf("the network is closed by %s only: a CLI that ignores it could get out", how)
	}
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		if i.Flags&net.FlagLoopback == 0 && i.Flags&net.FlagUp != 0 {
			t.Errorf("%s is up", i.Name)
		}
	}
	dialer := net.Dialer{}
	conn, err := dialer.DialContext(t.Context(), "tcp", "192.0.2.1:443")
	if err == nil {
		conn.Close() // it should not be there
	}
	if !errors.Is(err, unix.ENETUNREACH) {
		t.Errorf("an address outside: %v, want %v", err, unix.ENETUNREACH)
	}
}
