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

// peerUID is the user at the other end of the socket.
func peerUID(c *net.UnixConn) (int, error) {
	return sockopt(c, func(fd int) (int, error) {
		cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if err != nil {
			return 0, err
		}
		return int(cred.Uid), nil
	})
}
