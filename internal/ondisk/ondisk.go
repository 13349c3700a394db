// Package ondisk makes what was written outlive a power cut.
package ondisk

import (
	"errors"
	"os"
)

// Names makes the names in a folder last, as new files and renamed ones; of a file,
// its bytes.
func Names(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
