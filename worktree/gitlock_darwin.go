package worktree

// LockOf says nothing: whose a lock is cannot be seen here.
func LockOf(string) (path string, pid int, dead bool) { return "", 0, false }

func (place) unlock() error { return nil }
