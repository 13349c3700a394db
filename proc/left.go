package proc

import (
	"fmt"
	"os"

	"github.com/belay-run/belay"
)

// Census is the living processes of this user that carry the mark of a run's
// folder, of all runs at once: who asks about many looks at the processes once.
type Census map[string][]Identity // by mark

// TakeCensus looks at all processes.
func TakeCensus() (Census, error) {
	boot, err := bootID()
	if err != nil {
		return nil, fmt.Errorf("read boot id: %w", err)
	}
	all, err := processes()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	found := Census{}
	for _, p := range all {
		if p.zombie || p.pid == os.Getpid() || !ownUser(p.pid) {
			continue
		}
		if mark := markOf(p.pid); mark != "" {
			found[mark] = append(found[mark], Identity{Pid: p.pid, Start: p.start, Boot: boot})
		}
	}
	return found, nil
}

// Left is what a census found of one run, and whether a keeper holds it.
func (c Census) Left(dir string, run belay.RunID) (list []Identity, held bool, err error) {
	mark, err := readMark(dir, run)
	if err != nil || len(c[mark]) == 0 {
		return nil, false, err
	}
	held, err = keeperLives(dir)
	if err != nil {
		return nil, false, err
	}
	return c[mark], held, nil
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
