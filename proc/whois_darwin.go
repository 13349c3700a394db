package proc

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerPID is the process at the other end of the socket.
func peerPID(c *net.UnixConn) (int, error) {
	return sockopt(c, func(fd int) (int, error) {
		return unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	})
}
