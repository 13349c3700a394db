package worktree

import "syscall"

// changedAt is the time of the last change of a file or of what is known of it.
func changedAt(st *syscall.Stat_t) int64 { return st.Ctimespec.Nano() }

// madeAt is when a file was made; 0 where the file system does not tell.
func madeAt(path string) int64 {
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil {
		return 0
	}
	return st.Birthtimespec.Nano()
}
