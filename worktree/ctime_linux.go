package worktree

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// changedAt is the time of the last change of a file or of what is known of it.
func changedAt(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }

// madeAt is when a file was made; 0 where the file system does not tell.
func madeAt(path string) int64 {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st); err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
}
