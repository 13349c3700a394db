package ledger

import (
	"slices"
	"strings"

	"github.com/belay-run/belay"
)

// WatchSchema makes the table of what the watch keeps of each run.
const WatchSchema = `
	CREATE TABLE watched (run TEXT PRIMARY KEY, memory TEXT NOT NULL) STRICT`

// maxWatched is how many runs are asked for at once.
const maxWatched = 500

// Watched is what the watch keeps of runs; it has nothing of those that it has
// not looked at.
func (led *Ledger) Watched(ids ...belay.RunID) (map[belay.RunID]string, error) {
	return led.memories("read what the watch knows", "watched", ids)
}

// memories are what a table keeps of runs, and nothing of others: what ended long
// ago costs nothing.
func (led *Ledger) memories(op, table string, ids []belay.RunID) (map[belay.RunID]string, error) {
	all := map[belay.RunID]string{}
	err := led.Store.Read(op, func(c Tx) error {
		for chunk := range slices.Chunk(ids, maxWatched) {
			args := make([]any, len(chunk))
			for i, id := range chunk {
				args[i] = id
			}
			query := "SELECT run, memory FROM " + table + " WHERE run IN (?" + strings.Repeat(",?", len(args)-1) + ")"
			if err := c.Each(query, args, func(q Row) { all[belay.RunID(q.ColumnText(0))] = q.ColumnText(1) }); err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

// KeepWatched keeps what the watch knows of a run, if nobody has changed it since
// it was read. It is on disk when it returns, so that a try which is counted
// here before it is made cannot be forgotten, and two watches cannot make the same one.
func (led *Ledger) KeepWatched(id belay.RunID, was, is string) (kept bool, err error) {
	err = led.Store.Change("keep what the watch knows", func(c Tx) error {
		now := ""
		if err := c.Each("SELECT memory FROM watched WHERE run = ?", []any{id}, func(q Row) { now = q.ColumnText(0) }); err != nil {
			return err
		}
		if kept = now == was; !kept {
			return nil
		}
		return c.Run("INSERT INTO watched VALUES (?,?) ON CONFLICT (run) DO UPDATE SET memory = excluded.memory", id, is)
	})
	return kept && err == nil, err
}

// ForgetWatched takes back what the watch counts against a run.
func (led *Ledger) ForgetWatched(id belay.RunID) error {
	return led.Store.Change("forget what the watch knows", func(c Tx) error {
		return c.Run("DELETE FROM watched WHERE run = ?", id)
	})
}
