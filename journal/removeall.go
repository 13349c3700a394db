package journal

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	clearWithin = 20 * time.Second
	clearEvery  = 50 * time.Millisecond
)

// RemoveAll removes a folder with runs that nobody needs any more. A keeper that
// is on its way out may still write there: it is tried again for a while.
func RemoveAll(folder string) error {
	until := time.Now().Add(clearWithin)
	for {
		unlock(folder)
		err := os.RemoveAll(folder)
		if err == nil {
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("remove %s: %w", folder, err)
		}
		time.Sleep(clearEvery)
	}
}

// unlock makes folders that a step closed removable.
func unlock(folder string) {
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error { // what is not opened shows when it is removed
		if err == nil && d.IsDir() {
			if info, err := d.Info(); err == nil && info.Mode().Perm()&0o700 != 0o700 {
				_ = os.Chmod(path, 0o700) // as above
			}
		}
		return nil
	})
}
