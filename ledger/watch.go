package ledger

import "github.com/belay-run/belay"

// WatchSchema makes the table of what the watch keeps of each run.
const WatchSchema = `
	CREATE TABLE watched (run TEXT PRIMARY KEY, memory TEXT NOT NULL) STRICT`

// Watched is what the watch keeps of all runs that it has looked at.
func (led *Ledger) Watched() (map[belay.RunID]string, error) {
	all := map[belay.RunID]string{}
	err := led.Store.Read("read what the watch knows", func(c Tx) error {
		return c.Each("SELECT run, memory FROM watched", nil, func(q Row) {
			all[belay.RunID(q.ColumnText(0))] = q.ColumnText(1)
		})
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
