package journal

import (
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay"
)

// GiveBack takes a permit back that was not used: the service of the agent said
// no. An attempt that has used anything keeps its count.
func (s *State) GiveBack(tree string, key belay.Key) error {
	return s.change("give back a permit", func(c *sqlite3.Conn) error {
		return run(c, `DELETE FROM caps WHERE run = ?1 AND name = ?2
			AND NOT EXISTS (SELECT 1 FROM caps WHERE run = ?1 AND name = ?3)`,
			tree, agentPart+string(key), tokenPart+string(key))
	})
}

// ClearBudget forgets what the agents of a tree have used. What they may use
// stays as it is; its time begins anew.
func (s *State) ClearBudget(tree string, b belay.Budget, now time.Time) error {
	err := s.change("clear what agents used", func(c *sqlite3.Conn) error {
		for _, part := range []string{agentPart, tokenPart, microPart} {
			if err := run(c, "DELETE FROM caps WHERE run = ? AND substr(name, 1, ?) = ?", tree, len(part), part); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.SetBudget(tree, b, now)
}
