//go:build !linux

package worktree

import (
	"errors"
	"os"
)

// clone is not known here: files are copied.
func clone(_, _ *os.File) error { return errors.ErrUnsupported }
