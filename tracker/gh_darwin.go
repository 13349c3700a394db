package tracker

import "syscall"

// withUs gives a child a group of its own. It is not told of our death here; the
// claim that it holds open keeps others away until it is done.
func withUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
