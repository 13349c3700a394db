package proc

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerPID is the process at the other end of the socket.
func peerPID(c *net.UnixConn) (int, error) {
	return sockopt(c, func(fd int) (int, error) {
		cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err != nil {
			return 0, err
		}
		return int(cred.Pid), nil
	})
}

// peerUID is the user at the other end of the socket.
func peerUID(c *net.UnixConn) (int, error) {
	return sockopt(c, func(fd int) (int, error) {
		cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err != nil {
			return 0, err
		}
		return int(cred.Uid), nil
	})
}
