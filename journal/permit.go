package journal

import (
	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay"
)

// Permit counts one more start of an agent in a tree of sessions, unless the
// limit is reached; of the limits that were ever given for the tree the
// smallest holds. A key that was counted before is not counted again. It gives
// how many there are, with this one, and the limit.
func (s *State) Permit(tree string, key belay.Key, limit int) (used, most int, err error) {
	err = s.change("count an agent", func(c *sqlite3.Conn) error {
		if _, err := askInt(c, `INSERT INTO caps VALUES (?,'max agents',?) ON CONFLICT (run, name)
			DO UPDATE SET count = min(count, excluded.count) RETURNING count`, tree, limit); err != nil {
			return err
		}
		n, err := askInt(c, "SELECT count FROM caps WHERE run = ? AND name = 'max agents'", tree)
		if err != nil {
			return err
		}
		most = int(n)
		had, err := askInt(c, "SELECT count(*) FROM caps WHERE run = ? AND name = ?", tree, "agent "+string(key))
		if err != nil {
			return err
		}
		if n, err = askInt(c, "SELECT count(*) FROM caps WHERE run = ? AND name LIKE 'agent %'", tree); err != nil {
			return err
		}
		used = int(n)
		if had > 0 {
			return nil
		}
		used++
		if used > most {
			return nil
		}
		_, err = askInt(c, "INSERT INTO caps VALUES (?,?,1) RETURNING count", tree, "agent "+string(key))
		return err
	})
	return used, most, err
}
