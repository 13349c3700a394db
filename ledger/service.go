package ledger

import (
	"time"

	"github.com/belay-run/belay"
)

// countedKeys is how many attempts are remembered as counted.
const countedKeys = 4000

// The services that agents call are counted for all runs on the machine: what
// one run learns of a service holds for the next.

// ServiceSchema makes the tables of services.
const ServiceSchema = `
	CREATE TABLE services (
		name TEXT PRIMARY KEY, tokens INTEGER NOT NULL, failures INTEGER NOT NULL,
		opened INTEGER NOT NULL, pause INTEGER NOT NULL, trial TEXT NOT NULL, tried INTEGER NOT NULL
	) STRICT;
	CREATE TABLE told (
		n INTEGER PRIMARY KEY, name TEXT NOT NULL, key TEXT NOT NULL, UNIQUE (name, key)
	) STRICT`

// LimitSchema makes the table of services that said until when they take no calls.
const LimitSchema = "CREATE TABLE limits (name TEXT PRIMARY KEY, until INTEGER NOT NULL) STRICT"

// Service is what is known of a service that agents call.
type Service struct {
	Name     string
	Tokens   float64   // retries that are left: 10 at most, and none from 5 down
	Failures int       // in a row
	Opened   time.Time // when its breaker opened; zero = it is closed
	Until    time.Time // no call before it
	Trial    belay.Key // the one attempt that is let through to see whether it answers again
}

// Allowance is the answer to whether an agent may call its service now.
type Allowance struct {
	OK    bool
	Until time.Time // when to ask again
	Spent bool      // there are no retries left, whatever the time
	Why   string
}

// Allow asks whether the agent of an attempt may call its service. A breaker
// that was open for its time lets one attempt through, and this call makes the
// attempt that one: whoever was let through must be reported with Report.
func (led *Ledger) Allow(name string, key belay.Key, retry bool, now time.Time) (g Allowance, err error) {
	err = led.Store.Change("ask for a service", func(c Tx) error {
		v, err := serviceOf(c, name)
		if err != nil {
			return err
		}
		was := v
		v.TurnBack(now)
		if g = v.Allow(key, retry, now); v != was {
			err = v.put(c)
		}
		if err == nil && g.OK { // an attempt that starts anew is counted anew
			err = c.Run("DELETE FROM told WHERE name = ? AND key = ?", name, string(key))
		}
		return err
	})
	return g, err
}

// Report counts what came of one call of a service, once for each attempt. What
// says nothing about the service only ends the trial that it may have been.
func (led *Ledger) Report(name string, key belay.Key, call Call, now time.Time) error {
	return led.Store.Change("count a call of a service", func(c Tx) error {
		had, err := number(c, "SELECT count(*) FROM told WHERE name = ? AND key = ?", name, string(key))
		if err != nil || had > 0 {
			return err
		}
		v, err := serviceOf(c, name)
		if err != nil {
			return err
		}
		v.TurnBack(now)
		v.Count(key, call, now)
		if err := v.put(c); err != nil {
			return err
		}
		if err := c.Run("INSERT INTO told (name, key) VALUES (?,?)", name, string(key)); err != nil {
			return err
		}
		return c.Run("DELETE FROM told WHERE n <= (SELECT max(n) FROM told) - ?", countedKeys)
	})
}

// Services lists what is known of all services, by name.
func (led *Ledger) Services() ([]Service, error) {
	var list []Service
	err := led.Store.Read("list services", func(c Tx) error {
		return c.Each(selectServices+" ORDER BY name", nil, func(q Row) {
			list = append(list, serviceAt(q).shown())
		})
	})
	return list, err
}

// ClearServices forgets what is counted of a service; "" = of all. Attempts
// that were counted stay so.
func (led *Ledger) ClearServices(name string) error {
	return led.Store.Change("clear a service", func(c Tx) error {
		for _, table := range []string{"services", "limits"} {
			if err := c.Run("DELETE FROM "+table+" WHERE ? IN ('', name)", name); err != nil {
				return err
			}
		}
		return nil
	})
}

func (v Account) shown() Service {
	s := Service{Name: v.Name, Tokens: float64(v.Tokens) / 10, Failures: v.Failures, Opened: v.Opened, Until: v.Limited, Trial: v.Trial}
	if end := v.Opened.Add(v.Pause); !v.Opened.IsZero() && end.After(s.Until) {
		s.Until = end
	}
	return s
}

const selectServices = "SELECT services.*, coalesce(until, 0) FROM services LEFT JOIN limits USING (name)"

// serviceOf is the row of a service; one that nobody called has all its tokens.
func serviceOf(c Tx, name string) (Account, error) {
	v := NewAccount(name)
	err := c.Each(selectServices+" WHERE name = ?", []any{name}, func(q Row) { v = serviceAt(q) })
	return v, err
}

func serviceAt(q Row) Account {
	return Account{
		Name: q.ColumnText(0), Tokens: q.ColumnInt64(1), Failures: int(q.ColumnInt64(2)), Opened: timeAt(q, 3),
		Pause: time.Duration(q.ColumnInt64(4)), Trial: belay.Key(q.ColumnText(5)), Tried: timeAt(q, 6), Limited: timeAt(q, 7),
	}
}

func (v Account) put(c Tx) error {
	err := c.Run(`INSERT INTO services VALUES (?,?,?,?,?,?,?) ON CONFLICT (name) DO UPDATE SET
		tokens = excluded.tokens, failures = excluded.failures, opened = excluded.opened,
		pause = excluded.pause, trial = excluded.trial, tried = excluded.tried`,
		v.Name, v.Tokens, v.Failures, v.Opened, int64(v.Pause), string(v.Trial), v.Tried)
	if err != nil || v.Limited.IsZero() {
		return err
	}
	return c.Run("INSERT INTO limits VALUES (?,?) ON CONFLICT (name) DO UPDATE SET until = excluded.until", v.Name, v.Limited)
}
