package proc

import (
	"fmt"
	"net"
)

// Identity is the keeper's process, as the kernel names it.
func (k *Keeper) Identity() (Identity, error) {
	pid, err := peerPID(k.link.conn)
	if err != nil {
		return Identity{}, fmt.Errorf("identify keeper: %w", err)
	}
	return Identify(pid)
}

// sockopt asks the kernel about a connection.
func sockopt(c *net.UnixConn, ask func(fd int) (int, error)) (int, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var n int
	var optErr error
	if err := raw.Control(func(fd uintptr) { n, optErr = ask(int(fd)) }); err != nil {
		return 0, err
	}
	return n, optErr
}
