package tracker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/exit"
)

// claim is the right to file one fingerprint on this machine. The kernel holds
// it for as long as this process lives, and the tracker's program which it
// started: who is killed in the middle of an act does not leave the act behind
// for another to overtake. The file stays.
type claim struct{ file *os.File }

// stake takes the claim, and waits for another process that has it.
func stake(ctx context.Context, state, repo, mark string, wait time.Duration) (*claim, error) {
	if err := makeShelf(state, repo); err != nil {
		return nil, err
	}
	path := strings.TrimSuffix(recordPath(state, repo, mark), ".json") + ".lock"
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, unwritten(path, err)
	}
	end := time.Now().Add(wait)
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return &claim{f}, nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			f.Close() // opened to be locked, and it was not
			return nil, unwritten(path, err)
		case time.Now().After(end):
			f.Close() // as above
			return nil, exit.New(exit.Busy, "claim issue", fmt.Errorf("another process has been filing %s for %s", mark, wait),
				"try again when it is done")
		}
		if err := rest(ctx, pause); err != nil {
			f.Close() // as above
			return nil, err
		}
	}
}

// release gives the claim back. Closing alone would leave it to a child that is
// just being forked, for as long as that has not come to its exec.
func (c *claim) release() {
	_ = unix.Flock(int(c.file.Fd()), unix.LOCK_UN) // closing it does the same
	_ = c.file.Close()                             // nothing was written in it
}

// rest waits, unless somebody wants us to stop.
func rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
