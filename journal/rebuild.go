package journal

import (
	"errors"
	"slices"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/ledger"
	"github.com/belay-run/belay/proc"
)

// fill fills the lists of runs and sessions again from the journals. Caps,
// the keepers of sessions, what is known of services and who works where are not
// in the journals; it leaves caps and services as they are. With a lost
// index they are lost: every service then begins anew, with all its tokens and no
// breaker open, and no run sees those that worked beside it before. A driver
// notes a place once, so one that lives through the loss is not seen there.
func (s *State) fill(c *sqlite3.Conn) error {
	ids, err := s.ids()
	if err != nil {
		return err
	}
	if err := c.Exec("DELETE FROM runs; DELETE FROM sessions"); err != nil {
		return err
	}
	type told struct {
		sum Summary
		m   *ledger.Member
	}
	all := make([]told, 0, len(ids))
	for _, id := range ids {
		sum, m := s.retell(id)
		all = append(all, told{sum, m})
	}
	slices.SortStableFunc(all, func(x, y told) int { return x.sum.Updated.Compare(y.sum.Updated) }) // what is achieved settles what was before
	for _, t := range all {
		if err := putBoth(c, t.sum, t.m); err != nil {
			return err
		}
	}
	return nil
}

// putBoth keeps a run's line and its session, if it has one.
func putBoth(c *sqlite3.Conn, sum Summary, m *ledger.Member) error {
	err := putRun(c, sum)
	if err == nil && m != nil {
		err = ledger.PutSession(tx{c}, *m)
	}
	return err
}

// retell reads a run's line and its session from its journal. One that cannot
// be read must not hide the other runs: that is the reason in its line.
func (s *State) retell(id belay.RunID) (Summary, *ledger.Member) {
	recs, err := s.records(id)
	if err == nil && len(recs) == 0 {
		err = NeverBegan(id)
	}
	if err == nil {
		return summarize(id, recs)
	}
	sum := Summary{ID: id, Status: Unreadable, Code: exit.Infra, Reason: err.Error()}
	var coded *exit.Error
	if errors.As(err, &coded) {
		sum.Code, sum.Reason, sum.Cure = coded.Code, coded.Err.Error(), coded.Hint
	}
	if sum.Cure == "" {
		sum.Cure = "look at " + string(s.Folder(id)) + ": nothing in it was changed"
	}
	return sum, nil
}

func (s *State) records(id belay.RunID) ([]event.Record, error) {
	f, err := s.folderOf(id)
	if err != nil {
		return nil, err
	}
	if f.untouched() {
		return nil, NeverBegan(id)
	}
	v, err := openView(f, s.disk)
	if err != nil {
		return nil, err
	}
	recs, err := v.Load()
	return recs, first(err, v.Close())
}

// summarize is what NoteRun and Enter were told while the records were written.
func summarize(id belay.RunID, recs []event.Record) (Summary, *ledger.Member) {
	sum := Summary{ID: id}
	var m *ledger.Member
	pausing := "" // who wants nothing new to start
	for _, rec := range recs {
		if rec.Run != id {
			continue // a child run
		}
		sum.Updated = rec.At
		switch e := rec.Event.(type) {
		case event.RunStarted:
			sum.Name, sum.Dir, sum.Work, sum.Started, sum.Status = e.Name, e.Dir, e.Work, rec.At, belay.Running
			if e.Session != nil {
				m = &ledger.Member{Run: id, Session: *e.Session, Started: rec.At}
			}
		case event.RunAttached:
			sum.Driver = proc.Identity{Pid: e.Pid, Start: e.Start, Boot: e.Boot}
			sum.Status, sum.Code, sum.Reason, sum.seen = belay.Running, exit.OK, "", false
		case event.RunReopened:
			sum.Status, sum.Code, sum.Reason, sum.Ended = belay.Running, exit.OK, "", fromNanos(0)
			pausing = ""
		case event.RequestReceived:
			if e.Request.Ask == event.RequestPause && e.Request.Run == id && pausing == "" {
				pausing = e.Request.By
			}
		case event.RunResumed:
			pausing = ""
		case event.RunHeld:
			if sum.Status, sum.Code, sum.Reason = belay.Held, exit.Held, e.Why; pausing != "" {
				sum.Status, sum.Reason = belay.Paused, "paused by "+pausing
			}
		case event.RunStopped:
			pausing = ""
			sum.Status, sum.Code = belay.Stopped, exit.Terminated
		case event.RunParked:
			sum.Status, sum.Code, sum.Reason = belay.Parked, exit.Window, e.For
		case event.RunPaused:
			sum.Status, sum.Code, sum.Reason = belay.Paused, exit.Held, "paused by "+e.By
		case event.RunCleared:
			sum.seen = sum.seen || e.What == event.CountInbox
		case event.RunEnded:
			sum.Status, sum.Code, sum.Reason, sum.Ended = e.Status, e.Code, e.Reason, rec.At
		}
	}
	if m != nil {
		m.Driver, m.Ended = sum.Driver, sum.Ended
		m.Alive = sum.Status == belay.Running
	}
	return sum, m
}
