package ledger

import (
	"strconv"
	"time"

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
func (led *Ledger) SetBudget(tree string, b belay.Budget, began time.Time) error {
	until := int64(0)
	if b.MaxWall > 0 {
		until = began.Add(b.MaxWall).UnixMilli()
	}
	return led.Store.Change("set a budget", func(c Tx) error {
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

func setCap(c Tx, tree, name string, count int64) error {
	return c.Run("INSERT INTO caps VALUES (?,?,?) ON CONFLICT (run, name) DO UPDATE SET count = excluded.count", tree, name, count)
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

// further stands between the key of an attempt and the number of a further start
// of its CLI, where that is counted by itself.
const further = "#"

// Further is the key of the n-th start of the CLI in one attempt.
func Further(key belay.Key, n int) belay.Key {
	return key + further + belay.Key(strconv.Itoa(n))
}

// Permit counts one more start of an agent in a tree, unless the budget is out
// of something: what is refused is not counted. A key that was counted before
// is not counted again.
func (led *Ledger) Permit(tree string, key belay.Key, now time.Time) (p BudgetUse, err error) {
	err = led.Store.Change("count an agent", func(c Tx) error {
		if p, err = budgetUse(c, tree); err != nil {
			return err
		}
		had, err := number(c, "SELECT count(*) FROM caps WHERE run = ? AND name = ?", tree, agentPart+string(key))
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
func (led *Ledger) Count(tree string, key belay.Key) error {
	return led.Store.Change("count an agent", func(c Tx) error {
		return c.Run("INSERT INTO caps VALUES (?,?,1) ON CONFLICT (run, name) DO NOTHING", tree, agentPart+string(key))
	})
}

// Spend counts what one attempt of an agent used, once: how often its CLI was
// started, tokens and money.
func (led *Ledger) Spend(tree string, key belay.Key, starts int, u belay.Usage) error {
	return led.Store.Change("count what an agent used", func(c Tx) error {
		if err := setCap(c, tree, agentPart+string(key), int64(starts)); err != nil {
			return err
		}
		// What was counted start by start is in that number.
		starts := agentPart + string(key) + further
		if err := c.Run("DELETE FROM caps WHERE run = ? AND substr(name, 1, ?) = ?", tree, len(starts), starts); err != nil {
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
func (led *Ledger) BudgetUse(id belay.RunID) (p BudgetUse, err error) {
	err = led.Store.Read("read a budget", func(c Tx) error {
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
func budgetUse(c Tx, tree string) (p BudgetUse, err error) {
	sum := func(part string) (n int64) {
		if err == nil {
			n, err = number(c, "SELECT coalesce(sum(count), 0) FROM caps WHERE run = ? AND substr(name, 1, ?) = ?", tree, len(part), part)
		}
		return n
	}
	limit := func(name string) (n int64) {
		if err == nil {
			n, err = number(c, "SELECT count FROM caps WHERE run = ? AND name = ?", tree, name)
		}
		return n
	}
	p = BudgetUse{
		Starts: int(sum(agentPart)), MaxStarts: int(limit(capAgents)),
		Tokens: sum(tokenPart), MaxTokens: limit(capTokens),
		Micros: sum(microPart), MaxMicros: limit(capMicros),
	}
	if p.MaxStarts == 0 { // a root without agents set no budget, so it has the usual one
		p.MaxStarts = belay.Budget{}.Starts()
	}
	if until := limit(capUntil); until > 0 {
		p.Until = time.UnixMilli(until)
	}
	return p, err
}

// GiveBack takes a permit back that was not used: the service of the agent said
// no. An attempt that has used anything keeps its count.
func (led *Ledger) GiveBack(tree string, key belay.Key) error {
	return led.Store.Change("give back a permit", func(c Tx) error {
		return c.Run(`DELETE FROM caps WHERE run = ?1 AND name = ?2
			AND NOT EXISTS (SELECT 1 FROM caps WHERE run = ?1 AND name = ?3)`,
			tree, agentPart+string(key), tokenPart+string(key))
	})
}

// ClearBudget forgets what the agents of a tree have used. What they may use
// stays as it is; its time begins anew.
func (led *Ledger) ClearBudget(tree string, b belay.Budget, now time.Time) error {
	err := led.Store.Change("clear what agents used", func(c Tx) error {
		for _, part := range []string{agentPart, tokenPart, microPart} {
			if err := c.Run("DELETE FROM caps WHERE run = ? AND substr(name, 1, ?) = ?", tree, len(part), part); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return led.SetBudget(tree, b, now)
}
