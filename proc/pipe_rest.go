package proc

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// restMost is the most that a pipe holds unless somebody made it bigger: who
// writes on and on is not followed past it.
const restMost = 1 << 20

// Rest hands out what lies in a pipe whose time is over, without waiting for
// more. The deadline of a read says nothing about what was written before it:
// after a slow disk, or a machine that stood still, all of it may lie there.
func Rest(r *os.File, buf []byte, take func([]byte)) {
	conn, err := r.SyscallConn()
	if err != nil || r.SetReadDeadline(time.Time{}) != nil { // over, it would refuse to look
		return
	}
	for left := restMost; left > 0; {
		n, failed := 0, error(nil)
		err := conn.Read(func(fd uintptr) bool {
			n, failed = unix.Read(int(fd), buf)
			return true // as it is: nothing is waited for
		})
		if errors.Is(failed, unix.EINTR) {
			continue
		}
		if err != nil || failed != nil || n <= 0 {
			return
		}
		take(buf[:n])
		left -= n
	}
}
