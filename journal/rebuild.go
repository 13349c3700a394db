package journal

import (
	"errors"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/proc"
)

// Rebuild fills the lists of runs and sessions again from the journals. Caps,
// the keepers of sessions and what is known of services are not in the
// journals; it leaves caps and services as they are. With a lost index they are
// lost: every service then begins anew, with all its tokens and no breaker open.
func (s *State) Rebuild() error {
	return s.change("rebuild index", s.fill)
}

func (s *State) fill(c *sqlite3.Conn) error {
	ids, err := s.ids()
	if err != nil {
		return err
	}
	if err := c.Exec("DELETE FROM runs; DELETE FROM sessions"); err != nil {
		return err
	}
	for _, id := range ids {
		sum, m, err := s.retell(id)
		if err != nil {
			return err
		}
		if err := putRun(c, sum); err != nil {
			return err
		}
		if m == nil {
			continue
		}
		if err := putSession(c, *m); err != nil {
			return err
		}
	}
	return nil
}

// retell reads a run's line and its session from its journal. One damaged
// journal must not hide the other runs: it becomes the reason in its line.
func (s *State) retell(id belay.RunID) (Summary, *Member, error) {
	recs, err := s.records(id)
	var bad *Damaged
	var never *Unbegun
	switch {
	case errors.As(err, &bad):
		return Summary{ID: id, Code: belay.ExitDamaged, Reason: bad.Error()}, nil, nil
	case errors.As(err, &never):
		return Summary{ID: id, Code: belay.ExitInvalid, Reason: never.Error()}, nil, nil
	case err != nil:
		return Summary{}, nil, err
	}
	sum, m := summarize(id, recs)
	return sum, m, nil
}

func (s *State) records(id belay.RunID) ([]belay.Record, error) {
	v, err := s.View(id)
	if err != nil {
		return nil, err
	}
	recs, err := v.Load()
	return recs, first(err, v.Close())
}

// summarize is what NoteRun and Enter were told while the records were written.
func summarize(id belay.RunID, recs []belay.Record) (Summary, *Member) {
	sum := Summary{ID: id}
	var m *Member
	for _, rec := range recs {
		if rec.Run != id {
			continue // a child run
		}
		sum.Updated = rec.At
		switch e := rec.Event.(type) {
		case belay.RunStarted:
			sum.Name, sum.Dir, sum.Started, sum.Status = e.Name, e.Dir, rec.At, belay.Running
			if e.Session != nil {
				m = &Member{Run: id, Session: *e.Session, Started: rec.At}
			}
		case belay.RunAttached:
			sum.Driver = proc.Identity{Pid: e.Pid, Start: e.Start, Boot: e.Boot}
			sum.Status, sum.Code, sum.Reason = belay.Running, belay.ExitOK, ""
		case belay.RunReopened:
			sum.Status, sum.Code, sum.Reason, sum.Ended = belay.Running, belay.ExitOK, "", fromNanos(0)
		case belay.RunHeld:
			sum.Status, sum.Code = belay.Held, belay.ExitHeld
		case belay.RunStopped:
			sum.Status, sum.Code = belay.Stopped, belay.ExitTerminated
		case belay.RunEnded:
			sum.Status, sum.Code, sum.Reason, sum.Ended = e.Status, e.Code, e.Reason, rec.At
		}
	}
	if m != nil {
		m.Driver, m.Ended = sum.Driver, sum.Ended
		m.Alive = sum.Status == belay.Running
	}
	return sum, m
}
