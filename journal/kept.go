package journal

import (
	"os"
	"path/filepath"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/proc"
)

// RunOfFolder is the state directory and the run of a run's folder.
func RunOfFolder(dir string) (state string, id belay.RunID) {
	dir = filepath.Clean(dir)
	return filepath.Dir(filepath.Dir(dir)), belay.RunID(filepath.Base(dir))
}

// Keepers are the keepers that may live in a state directory: each run that has
// a socket.
func Keepers(dir string) []proc.Kept {
	if dir == "" {
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(dir, sockName))
	if err != nil {
		return nil // there are none
	}
	var list []proc.Kept
	for _, e := range entries {
		list = append(list, proc.Kept{
			Dir: filepath.Join(dir, runsName, e.Name()), Socket: filepath.Join(dir, sockName, e.Name()),
		})
	}
	return list
}

// SessionOf is the place in its tree that a run was given when it began.
func (s *State) SessionOf(id belay.RunID) (belay.Session, error) {
	v, err := s.View(id)
	if err != nil {
		return belay.Session{}, err
	}
	rec, err := v.first()
	if err := first(err, v.Close()); err != nil {
		return belay.Session{}, err
	}
	if e, ok := rec.Event.(event.RunStarted); ok && e.Session != nil {
		return *e.Session, nil
	}
	return belay.Session{}, nil // begun by an older Belay
}

// first reads and proves the first record.
func (v *View) first() (event.Record, error) {
	if _, err := soundVersion(v.conn, v.Folder); err != nil {
		return event.Record{}, err
	}
	r := v.reader()
	s, _, err := r.conn.Prepare(selectRows + " LIMIT 1")
	if err != nil {
		return event.Record{}, r.broken(err)
	}
	var recs []event.Record
	_, err = r.rows(s, tip{}, func(some []event.Record) { recs = some })
	if err := first(err, s.Close()); err != nil {
		return event.Record{}, err
	}
	if len(recs) == 0 {
		return event.Record{}, NeverBegan(belay.RunID(filepath.Base(string(v.Folder))))
	}
	return recs[0], nil
}
