package journal

import (
	"errors"
	"fmt"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/ledger"
	"github.com/belay-run/belay/proc"
)

// A run that somebody drives and that cannot be read is read again: so often.
const readTries = 5

// retry reads a run again that could not be read when the list was made. One
// whose driver has not written the first record yet is beginning: it runs, and
// nothing is wrong with it.
func (s *State) retry(sum *Summary) error {
	for n := 1; ; n++ {
		driven, driver, err := s.drivenBy(sum.ID) // before it is read: who ends meanwhile has written all
		if err != nil {
			return err
		}
		now, m := s.retell(sum.ID)
		now.Beat = readBeat(s.Folder(sum.ID))
		now.Gone = !exists(string(s.Folder(sum.ID)))
		*sum = now
		switch {
		case now.Gone:
			return nil // it was given up just now
		case now.Status != Unreadable:
			return s.catchUp(now, m)
		case driven && !s.Begun(sum.ID):
			*sum = Summary{ID: sum.ID, Status: belay.Running, Driver: driver, Beat: now.Beat, Beginning: true}
			return nil
		case !driven || n == readTries:
			return nil
		}
		time.Sleep(copyPause)
	}
}

// Unread is why a run could not be read: of one that has no record and that
// somebody drives, that it is beginning.
func (s *State) Unread(id belay.RunID, err error) error {
	var unbegun *Unbegun
	if !errors.As(err, &unbegun) {
		return err
	}
	if driven, _, asked := s.drivenBy(id.Root()); asked != nil || !driven {
		return err
	}
	return exit.New(exit.Busy, "read journal", fmt.Errorf("run %s is just beginning: nothing is on record yet", id.Root()),
		"ask again in a moment")
}

// drivenBy tells whether somebody drives a run, and who, as far as it is known.
// Who has the folder of all runs does not stand in the way of one that is made.
func (s *State) drivenBy(id belay.RunID) (bool, proc.Identity, error) {
	if s.still != nil { // nobody can be asked
		return false, proc.Identity{}, nil
	}
	unlock, err := s.lockRuns()
	if err != nil {
		return false, proc.Identity{}, err
	}
	defer unlock()
	path := s.Folder(id).in(lockName)
	if free(path) {
		return false, proc.Identity{}, nil
	}
	return true, holderOf(path), nil
}

// catchUp writes the line of a run that could not be read before, unless its
// driver has written one meanwhile.
func (s *State) catchUp(now Summary, m *ledger.Member) error {
	if s.still != nil {
		return nil
	}
	return s.change("note run", func(c *sqlite3.Conn) error {
		n, err := askInt(c, "SELECT count(*) FROM runs WHERE id = ? AND status = ?", now.ID, string(Unreadable))
		if err != nil || n == 0 {
			return err
		}
		return putBoth(c, now, m)
	})
}
