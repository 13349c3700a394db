package tracker

import "syscall"

// withUs gives a child a group of its own, and lets it die when we do.
func withUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
