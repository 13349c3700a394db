package proc

import "fmt"

// unwatched says that a program began and was ended at once, because it could
// not be watched.
type unwatched struct {
	pid int
	err error
}

func (e *unwatched) Error() string { return fmt.Sprintf("watch process %d: %v", e.pid, e.err) }
func (e *unwatched) Unwrap() error { return e.err }
