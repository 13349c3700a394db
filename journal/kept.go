package journal

import (
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay"
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
	if e, ok := rec.Event.(belay.RunStarted); ok && e.Session != nil {
		return *e.Session, nil
	}
	return belay.Session{}, nil // begun by an older Belay
}

// first reads and proves the first record.
func (v *View) first() (belay.Record, error) {
	if _, err := soundVersion(v.conn, v.Folder); err != nil {
		return belay.Record{}, err
	}
	r := v.reader()
	s, _, err := r.conn.Prepare(selectRows + " LIMIT 1")
	if err != nil {
		return belay.Record{}, r.broken(err)
	}
	recs, _, err := r.rows(s, tip{})
	if err := first(err, s.Close()); err != nil {
		return belay.Record{}, err
	}
	if len(recs) == 0 {
		return belay.Record{}, NeverBegan(belay.RunID(filepath.Base(string(v.Folder))))
	}
	return recs[0], nil
}

// DrivenAbove is the run whose driver is the nearest of the processes, "" where
// none of them drives one.
func (s *State) DrivenAbove(chain []proc.Identity) (id belay.RunID, err error) {
	err = s.inIndex("find session", func(c *sqlite3.Conn) error {
		for _, p := range chain {
			m, err := member(c, "pid = ? AND start = ? AND boot = ? AND state = 'alive'", p.Pid, p.Start, p.Boot)
			if err != nil || m != nil {
				id = runOf(m)
				return err
			}
		}
		return nil
	})
	return id, err
}

func runOf(m *Member) belay.RunID {
	if m == nil {
		return ""
	}
	return m.Run
}

// Join notes a session whose place was given in another state directory: there
// it is counted, here it is only shown.
func (s *State) Join(claim Claim, place belay.Session) error {
	place.Tree += "@" + place.Home
	return s.change("join session", func(c *sqlite3.Conn) error {
		own, err := member(c, "run = ?", claim.Run.Root())
		if err != nil {
			return err
		}
		return enter(c, claim, place, own)
	})
}
