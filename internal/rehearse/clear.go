package rehearse

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

// Clear removes the folder of a rehearsal. A keeper that is on its way out may
// still write there: it is tried again for a while.
func Clear(folder string) error {
	until := time.Now().Add(clearWithin)
	for {
		open(folder)
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

// open makes folders that a step closed removable.
func open(folder string) {
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error { // what is not opened shows when it is removed
		if err == nil && d.IsDir() {
			if info, err := d.Info(); err == nil && info.Mode().Perm()&0o700 != 0o700 {
				_ = os.Chmod(path, 0o700) // as above
			}
		}
		return nil
	})
}
