package journal

import (
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/proc"
)

// left notes that a run works nowhere any more.
func left(c *sqlite3.Conn, id belay.RunID, at time.Time) error {
	return run(c, "UPDATE stays SET ended = max(began, ?) WHERE run = ? AND ended = 0", at, id)
}

// leave is left for a run whose driver goes. While a keeper still holds
// something of it the run is there.
func (s *State) leave(c *sqlite3.Conn, id belay.RunID) error {
	m, err := member(c, "run = ?", id)
	if err != nil || m != nil && !s.dead(m.Keeper) {
		return err
	}
	return left(c, id, time.Now())
}

// settle notes until when a run was at work that left without a word, unless it
// is still there.
func (s *State) settle(c *sqlite3.Conn, id belay.RunID) (last time.Time, there bool, err error) {
	m, err := member(c, "run = ?", id)
	if err != nil {
		return last, false, err
	}
	if m != nil && (!s.dead(m.Keeper) || m.Alive && !s.dead(m.Driver)) {
		return last, true, nil
	}
	if last, there = s.lastSign(id); there {
		return last, true, nil
	}
	return last, false, left(c, id, last)
}

// lastSign is until when a run with a dead driver and a dead keeper was at work.
// The driver's beat does not tell: its keeper lets a step work on without it. Of
// a keeper that died over a step nobody knows when that ended: the run is there
// while anything of it lives, and else it was until now.
func (s *State) lastSign(id belay.RunID) (last time.Time, there bool) {
	folder := s.Folder(id)
	last = readBeat(folder).At
	wrote, open, err := proc.Last(string(folder))
	if wrote.After(last) {
		last = wrote
	}
	if err == nil && !open {
		return last, false
	}
	alive, held, err := proc.Left(string(folder), id)
	return time.Now(), err != nil || held || len(alive) > 0
}

// settleAll settles the runs with such stays that are not known to have ended.
func (s *State) settleAll(c *sqlite3.Conn, where string, args ...any) error {
	var runs []belay.RunID
	err := each(c, "SELECT DISTINCT run FROM stays WHERE ended = 0 AND "+where, args,
		func(q *sqlite3.Stmt) { runs = append(runs, belay.RunID(q.ColumnText(0))) })
	for _, id := range runs {
		if err == nil {
			_, _, err = s.settle(c, id)
		}
	}
	return err
}
