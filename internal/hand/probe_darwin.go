package hand

import (
	"os"

	"github.com/belay-run/belay/effect"
)

// scratch is a new file of a directory.
func scratch(dir string) (*os.File, func() error, error) { return named(dir) }

// OOMKills is 0: nobody counts them here.
func OOMKills() int64 { return 0 }

// gitLock says nothing: whose a lock is cannot be seen here.
func gitLock(string) (effect.LockState, string) { return effect.LockNone, "" }
