package proc

import (
	"fmt"
	"os"

	"github.com/belay-run/belay"
)

// Left is the living processes of this user that carry the mark of a run's
// folder, and whether a keeper holds them.
func Left(dir string, run belay.RunID) (list []Identity, held bool, err error) {
	mark, err := readMark(dir, run)
	if err != nil || mark == "" {
		return nil, false, err
	}
	held, err = keeperLives(dir)
	if err != nil {
		return nil, false, err
	}
	boot, err := bootID()
	if err != nil {
		return nil, false, fmt.Errorf("read boot id: %w", err)
	}
	all, err := processes()
	if err != nil {
		return nil, false, fmt.Errorf("list processes: %w", err)
	}
	for _, p := range all {
		if !p.zombie && p.pid != os.Getpid() && ownUser(p.pid) && marked(p.pid, mark) {
			list = append(list, Identity{Pid: p.pid, Start: p.start, Boot: boot})
		}
	}
	return list, held, nil
}

// Sweep ends what a dead keeper left of a run. While a keeper lives it ends
// nothing and says so.
func Sweep(dir string, run belay.RunID) error {
	lock, err := tryLock(dir)
	if err != nil {
		return err
	}
	if lock == nil {
		return fmt.Errorf("sweep %s: a keeper holds its processes", run)
	}
	defer func() { _ = lock.Close() }() // nothing was written
	return sweep(dir, run, false)
}

func keeperLives(dir string) (bool, error) {
	lock, err := tryLock(dir)
	if err != nil || lock == nil {
		return err == nil, err
	}
	return false, lock.Close()
}
