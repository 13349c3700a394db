package journal

import (
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/belay-run/belay"
)

// Names of the caps of a tree of sessions. What each agent counts for stands
// under its key, so that nothing counts twice.
const (
	capAgents = "max agents"
	capTokens = "max tokens"
	capMicros = "max micro usd"
	capUntil  = "agents until" // milliseconds of the epoch
	agentPart = "agent "
	tokenPart = "tokens "
	microPart = "micro usd "
)

// BudgetUse is what the agents of a tree of sessions may use and have used.
type BudgetUse struct {
	Starts, MaxStarts int // with the one that was asked for
	Tokens, MaxTokens int64
	Micros, MaxMicros int64     // millionths of a dollar
	Until             time.Time // no agent starts after it; zero = no limit
}

// SetBudget writes down what the agents of a tree may use in all. Only the run
// that began the tree says so; those below it can keep themselves to less.
func (s *State) SetBudget(tree string, b belay.Budget, began time.Time) error {
	until := int64(0)
	if b.MaxWall > 0 {
		until = began.Add(b.MaxWall).UnixMilli()
	}
	return s.change("set a budget", func(c *sqlite3.Conn) error {
		for name, most := range map[string]int64{
			capAgents: int64(b.Starts()), capTokens: b.MaxTokens, capMicros: b.MaxMicroUSD, capUntil: until,
		} {
			if err := setCap(c, tree, name, most); err != nil {
				return err
			}
		}
		return nil
	})
}

func setCap(c *sqlite3.Conn, tree, name string, count int64) error {
	return run(c, "INSERT INTO caps VALUES (?,?,?) ON CONFLICT (run, name) DO UPDATE SET count = excluded.count", tree, name, count)
}

// Short is the closed list of what a budget can be out of.
type Short string

const (
	ShortNothing Short = ""
	ShortStarts  Short = "starts"
	ShortTokens  Short = "tokens"
	ShortMoney   Short = "money"
	ShortTime    Short = "time"
)

// Short is what keeps an agent from starting now, the one that was asked for
// counted.
func (p BudgetUse) Short(now time.Time) Short {
	switch {
	case p.Starts > p.MaxStarts:
		return ShortStarts
	case p.MaxTokens > 0 && p.Tokens >= p.MaxTokens:
		return ShortTokens
	case p.MaxMicros > 0 && p.Micros >= p.MaxMicros:
		return ShortMoney
	case !p.Until.IsZero() && !now.Before(p.Until):
		return ShortTime
	}
	return ShortNothing
}

// Further stands between the key of an attempt and the number of a further start
// of its CLI, where that is counted by itself.
const Further = "#"

// Permit counts one more start of an agent in a tree, unless the budget is out
// of something: what is refused is not counted. A key that was counted before
// is not counted again.
func (s *State) Permit(tree string, key belay.Key, now time.Time) (p BudgetUse, err error) {
	err = s.change("count an agent", func(c *sqlite3.Conn) error {
		if p, err = budgetUse(c, tree); err != nil {
			return err
		}
		had, err := askInt(c, "SELECT count(*) FROM caps WHERE run = ? AND name = ?", tree, agentPart+string(key))
		if err != nil || had > 0 {
			return err
		}
		if p.Starts++; p.Short(now) != ShortNothing {
			return nil
		}
		return setCap(c, tree, agentPart+string(key), 1)
	})
	return p, err
}

// Count counts the start of an agent that nobody was asked for, because a
// person allowed it. One that was counted before stays as it is.
func (s *State) Count(tree string, key belay.Key) error {
	return s.change("count an agent", func(c *sqlite3.Conn) error {
		return run(c, "INSERT INTO caps VALUES (?,?,1) ON CONFLICT (run, name) DO NOTHING", tree, agentPart+string(key))
	})
}

// Spend counts what one attempt of an agent used, once: how often its CLI was
// started, tokens and money.
func (s *State) Spend(tree string, key belay.Key, starts int, u belay.Usage) error {
	return s.change("count what an agent used", func(c *sqlite3.Conn) error {
		if err := setCap(c, tree, agentPart+string(key), int64(starts)); err != nil {
			return err
		}
		// What was counted start by start is in that number.
		further := agentPart + string(key) + Further
		if err := run(c, "DELETE FROM caps WHERE run = ? AND substr(name, 1, ?) = ?", tree, len(further), further); err != nil {
			return err
		}
		if err := setCap(c, tree, tokenPart+string(key), u.Tokens()); err != nil {
			return err
		}
		return setCap(c, tree, microPart+string(key), u.MicroUSD)
	})
}

// BudgetUse is what the agents of the tree that a run is in may use and have used,
// zero when nothing is known of it.
func (s *State) BudgetUse(id belay.RunID) (p BudgetUse, err error) {
	err = s.inIndex("read a budget", func(c *sqlite3.Conn) error {
		m, err := member(c, "run = ?", id.Root())
		if err != nil || m == nil {
			return err
		}
		p, err = budgetUse(c, m.Session.Tree)
		return err
	})
	return p, err
}

// budgetUse adds up what is counted under a tree.
func budgetUse(c *sqlite3.Conn, tree string) (p BudgetUse, err error) {
	sum := func(part string) (n int64) {
		if err == nil {
			n, err = askInt(c, "SELECT coalesce(sum(count), 0) FROM caps WHERE run = ? AND substr(name, 1, ?) = ?", tree, len(part), part)
		}
		return n
	}
	limit := func(name string) (n int64) {
		if err == nil {
			n, err = askInt(c, "SELECT count FROM caps WHERE run = ? AND name = ?", tree, name)
		}
		return n
	}
	p = BudgetUse{
		Starts: int(sum(agentPart)), MaxStarts: int(limit(capAgents)),
		Tokens: sum(tokenPart), MaxTokens: limit(capTokens),
		Micros: sum(microPart), MaxMicros: limit(capMicros),
	}
	if p.MaxStarts == 0 { // a root without agents set no budget, so it has the usual one
		p.MaxStarts = belay.DefaultMaxAgents
	}
	if until := limit(capUntil); until > 0 {
		p.Until = time.UnixMilli(until)
	}
	return p, err
}
