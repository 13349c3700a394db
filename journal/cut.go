package journal

import (
	"errors"
	"fmt"
)

// Cut takes the records after a number out of a journal that is a copy, because where
// the run is driven others came in their place. The first one stays. The journal of a
// run that is driven here is never cut.
func (r *Run) Cut(after int64) error {
	r.write.Lock()
	defer r.write.Unlock()
	switch {
	case r.broken != nil:
		return fmt.Errorf("cut copy: an earlier append did not succeed: %w", r.broken)
	case r.conn == nil || !r.loaded:
		return errors.New("cut copy: it is closed or was not loaded")
	case after < 1:
		return fmt.Errorf("cut copy after record %d: the first one stays", after)
	case after >= r.end.seq:
		return nil
	}
	end, err := tipAt(r.conn, r.Journal(), after)
	if err == nil {
		err = r.inPlace()
	}
	if err != nil {
		return err
	}
	r.end, r.epoch = end, end.epoch
	r.beat(r.last.sign()) // first: one that remembers more than there is says that records are missing
	if r.beats != nil {
		err = r.beats.Sync()
	}
	if err == nil {
		err = run(r.conn, "DELETE FROM records WHERE seq > ?", after)
	}
	if err != nil {
		r.broken = r.disk.unwritten("cut copy", r.Journal(), err)
	}
	return r.broken
}
