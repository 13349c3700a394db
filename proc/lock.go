package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// The files of a keeper in the run's folder.
const (
	lockName   = "keeper.lock"
	ledgerName = "keeper.log"
	markName   = "mark"
)

// tryLock takes the keeper's lock of the folder, or gives nil when a keeper
// holds it. The file is never removed: a lock on a removed file locks nobody out.
func tryLock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open keeper lock: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	_ = f.Close() // nothing was written
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, nil
	}
	return nil, fmt.Errorf("take keeper lock: %w", err)
}
