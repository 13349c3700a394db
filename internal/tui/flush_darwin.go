package tui

import "golang.org/x/sys/unix"

// flush drops what a terminal holds for its reader.
func flush(fd int) { _ = unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, 1) } // FREAD; what cannot be dropped is read
