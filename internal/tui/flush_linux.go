package tui

import "golang.org/x/sys/unix"

// flush drops what a terminal holds for its reader.
func flush(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) } // what cannot be dropped is read
