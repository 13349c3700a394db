package hand

import "os"

// scratch is a new file of a directory.
func scratch(dir string) (*os.File, func() error, error) { return named(dir) }

// OOMKills is 0: nobody counts them here.
func OOMKills() int64 { return 0 }
