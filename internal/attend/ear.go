package attend

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// maxLeft bounds what is read of a pipe after its time: no pipe holds more, and
// whoever still writes into it is not listened to for ever.
const maxLeft = 1 << 20

// ear reads a pipe until its end or its deadline, and then what lies in it by
// that time: it was said while the agent lived, however slowly we listened.
type ear struct {
	*os.File
	late int // read after the deadline
}

func (p *ear) Read(b []byte) (int, error) {
	n, err := p.File.Read(b)
	if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	conn, bad := p.SyscallConn()
	if bad != nil {
		return 0, err
	}
	bad = conn.Control(func(fd uintptr) { n, _ = unix.Read(int(fd), b[:min(len(b), maxLeft-p.late)]) }) // it does not wait
	if bad != nil || n <= 0 {
		return 0, err
	}
	p.late += n
	return n, nil
}
