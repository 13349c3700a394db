package journal

import (
	"slices"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay"
)

// keptStays is how long it is remembered that a run worked somewhere. No attempt
// of an agent runs that long.
const keptStays = 30 * 24 * time.Hour

const staySchema = `
	CREATE TABLE stays (
		run TEXT NOT NULL, tree TEXT NOT NULL, place TEXT NOT NULL, began INTEGER NOT NULL, ended INTEGER NOT NULL
	) STRICT;
	CREATE INDEX stays_place ON stays (place, ended);
	CREATE INDEX stays_run ON stays (run, ended)`

// Stay notes that a run begins to work in places, until it leaves: a working
// tree, and what that is a part of. It is durable before anything of the run is
// started there. Who died there before is noted too, so that no doubt about it
// falls on this run.
func (s *State) Stay(id belay.RunID, tree string, places ...string) error {
	now := time.Now()
	old := now.Add(-keptStays)
	return s.change("note place of work", func(c *sqlite3.Conn) error {
		err := s.settleAll(c, "run <> ? AND began < ?", id.Root(), old)
		for _, place := range places {
			if err == nil {
				err = s.settleAll(c, "run <> ? AND place = ?", id.Root(), place)
			}
		}
		if err == nil {
			err = run(c, "DELETE FROM stays WHERE ended > 0 AND ended < ?", old)
		}
		for _, place := range places {
			if err == nil {
				err = run(c, `INSERT INTO stays SELECT ?1, ?2, ?3, ?4, 0
					WHERE NOT EXISTS (SELECT 1 FROM stays WHERE run = ?1 AND place = ?3 AND ended = 0)`, id.Root(), tree, place, now)
			}
		}
		return err
	})
}

// stay is one run in one place.
type stay struct {
	run          belay.RunID
	tree         string
	began, ended time.Time
}

// maxFound is how many other runs are told.
const maxFound = 20

// Beside lists the other runs that worked in one of the places at any time
// between two moments. Sessions that this run was started by, or that it started, are no
// others: they wait for each other.
func (s *State) Beside(id belay.RunID, tree string, places []string, from, to time.Time) ([]belay.RunID, error) {
	var found []belay.RunID
	err := s.inIndex("look for other runs", func(c *sqlite3.Conn) error {
		var stays []stay
		for _, place := range places {
			list, err := staysIn(c, id.Root(), place, from, to)
			if err != nil {
				return err
			}
			stays = append(stays, list...)
		}
		if len(stays) == 0 {
			return nil
		}
		family, err := familyOf(c, id.Root(), tree)
		if err != nil {
			return err
		}
		for _, st := range stays {
			if len(found) == maxFound {
				break
			}
			if slices.Contains(found, st.run) || st.tree == tree && family.has(st.run) {
				continue
			}
			was, err := s.was(c, st, from)
			if err != nil {
				return err
			}
			if was {
				found = append(found, st.run)
			}
		}
		return nil
	})
	slices.Sort(found)
	return found, err
}

const besideQuery = `
	SELECT run, tree, began, ended FROM stays WHERE place = ?1 AND ended = 0 AND began <= ?3 AND run <> ?4
	UNION ALL
	SELECT run, tree, began, ended FROM stays WHERE place = ?1 AND ended >= max(?2, 1) AND began <= ?3 AND run <> ?4`

// staysIn are those of other runs that overlap with a time. Each half of the
// question is a range of the index: runs that left before are not looked at.
func staysIn(c *sqlite3.Conn, id belay.RunID, place string, from, to time.Time) ([]stay, error) {
	var list []stay
	err := each(c, besideQuery, []any{place, from, to, id},
		func(q *sqlite3.Stmt) {
			list = append(list, stay{
				run: belay.RunID(q.ColumnText(0)), tree: q.ColumnText(1),
				began: fromNanos(q.ColumnInt64(2)), ended: fromNanos(q.ColumnInt64(3)),
			})
		})
	return list, err
}

// was tells whether a run was at work at or after a moment.
func (s *State) was(c *sqlite3.Conn, st stay, from time.Time) (bool, error) {
	if !st.ended.IsZero() {
		return true, nil
	}
	last, there, err := s.settle(c, st.run)
	return there || !last.Before(from) || !st.began.Before(from), err
}
