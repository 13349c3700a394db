package hand

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/worktree"
)

const (
	// lookWithin is how long a look at the machine may take. It takes less than
	// a millisecond, unless a disk does not answer.
	lookWithin = 2 * time.Second
	lookTimes  = 40
	leastFree  = 1 << 20
	lookBytes  = 4 << 10 // written where a quota may be used up though the disk is not
)

// Look looks at the machine for what makes any work fail: the disks of the
// working directory, of the state and of temporary files, the memory, and locks
// of git in the repository of the working directory.
// oomBefore is what OOMKills said when the driver began. A disk that does not
// answer is left alone: only the system call hangs then, until the disk answers
// or this process ends.
func Look(dir, state string, oomBefore int64) effect.Probe {
	return lookFor(lookWithin, func() effect.Probe { return look(dir, state, oomBefore) })
}

func lookFor(limit time.Duration, look func() effect.Probe) effect.Probe {
	found := make(chan effect.Probe, 1)
	go func() { found <- look() }()
	tick := time.NewTicker(max(limit/lookTimes, time.Microsecond))
	defer tick.Stop()
	if p, ok := hear(found, tick.C); ok {
		return p
	}
	return effect.Probe{Detail: fmt.Sprintf("the disks gave no answer within %s", limit)}
}

// hear waits for an answer, for a number of ticks: a machine that stands still
// for a while has few of them, and is no disk that does not answer.
func hear(found <-chan effect.Probe, tick <-chan time.Time) (effect.Probe, bool) {
	for range lookTimes {
		select {
		case p := <-found:
			return p, true
		case <-tick:
		}
	}
	return effect.Probe{}, false
}

func look(dir, state string, oomBefore int64) effect.Probe {
	var p effect.Probe
	var details []string
	say := func(at *bool, text string) {
		if text != "" {
			*at = true
			details = append(details, text)
		}
	}
	places := []string{dir, state, os.TempDir()}
	for i, place := range places {
		if !slices.Contains(places[:i], place) {
			say(&p.DiskFull, scarce(place))
		}
	}
	err := tryWrite(dir)
	switch {
	case errors.Is(err, unix.EROFS):
		say(&p.ReadOnly, dir+" is read-only")
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		say(&p.DiskFull, fmt.Sprintf("%s takes no more: %s", dir, err))
	}
	if n := OOMKills() - oomBefore; n > 0 {
		say(&p.OOMKill, fmt.Sprintf("%d processes were ended for want of memory", n))
	}
	switch path, pid, dead := worktree.LockOf(dir); {
	case pid != 0:
		p.Lock, details = effect.LockAlive, append(details, fmt.Sprintf("%s: process %d is at work", path, pid))
	case dead:
		p.Lock, details = effect.LockDead, append(details, path+" was left behind")
	}
	p.Detail = strings.Join(details, "; ")
	return p
}

// scarce says what the disk of a place is out of; "" = of nothing. A place that
// cannot be asked has other troubles.
func scarce(place string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(place, &st); err != nil {
		return ""
	}
	free := st.Bavail
	if os.Geteuid() == 0 { // who may use what is kept back for root
		free = st.Bfree
	}
	bytes := uint64(free) * uint64(st.Bsize) //nolint:gosec,unconvert // its type differs by system, and it is never negative
	switch {
	case st.Blocks > 0 && bytes < leastFree:
		return fmt.Sprintf("%s has %d KiB free", place, bytes>>10)
	case st.Files > 0 && st.Ffree == 0:
		return place + " has no inodes free"
	}
	return ""
}

// tryWrite writes a little into a new file of a directory, and leaves nothing.
func tryWrite(dir string) error {
	f, remove, err := scratch(dir)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, lookBytes))
	return errors.Join(err, f.Close(), remove())
}

// named is a file with a name of its own.
func named(dir string) (*os.File, func() error, error) {
	f, err := os.CreateTemp(dir, ".belay-look-*")
	if err != nil {
		return nil, nil, err
	}
	return f, func() error { return os.Remove(f.Name()) }, nil
}
