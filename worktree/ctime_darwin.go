package worktree

import "syscall"

// changedAt is the time of the last change of a file or of what is known of it.
func changedAt(st *syscall.Stat_t) int64 { return st.Ctimespec.Nano() }
