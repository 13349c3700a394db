package worktree

import (
	"os"

	"golang.org/x/sys/unix"
)

// clone makes a file share the blocks of another.
func clone(to, from *os.File) error { return unix.IoctlFileClone(int(to.Fd()), int(from.Fd())) }
