package ledger

import "github.com/belay-run/belay"

// RaiseCap keeps the highest count that was ever given for a cap of a run and
// returns it. It is durable when it returns, so a caller that raises before it
// acts cannot forget an act. The caps of a lost index are lost with it; a
// driver goes by the larger of the cap and its own count.
func (led *Ledger) RaiseCap(id belay.RunID, name string, n int64) (int64, error) {
	var count int64
	err := led.Store.Change("raise cap", func(c Tx) error {
		var err error
		count, err = number(c, `INSERT INTO caps VALUES (?,?,?) ON CONFLICT (run, name)
			DO UPDATE SET count = max(count, excluded.count) RETURNING count`, id, name, n)
		return err
	})
	return count, err
}

// ClearCaps forgets the caps of a run whose names begin so, or the one that is
// named so exactly.
func (led *Ledger) ClearCaps(id belay.RunID, name string, exactly bool) error {
	return led.Store.Change("clear caps", func(c Tx) error {
		if exactly {
			return c.Run("DELETE FROM caps WHERE run = ? AND name = ?", id, name)
		}
		return c.Run("DELETE FROM caps WHERE run = ? AND substr(name, 1, ?) = ?", id, len(name), name)
	})
}

// Cap is the highest count of a cap of a run; 0 when none was given.
func (led *Ledger) Cap(id belay.RunID, name string) (int64, error) {
	var count int64
	err := led.Store.Read("read cap", func(c Tx) error {
		var err error
		count, err = number(c, "SELECT count FROM caps WHERE run = ? AND name = ?", id, name)
		return err
	})
	return count, err
}
