package ledger

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
)

// zoned is a time as people read it, with its zone: the text becomes a record,
// and may be read elsewhere.
const zoned = "2006-01-02 15:04:05 MST"

// The services that agents call are counted for all runs on the machine: what
// one run learns of a service holds for the next.
// Tokens are counted in tenths, so that nothing is ever rounded.
const (
	fullTokens  = 100              // where a service begins, and never above it
	failCost    = 10               // of a call that failed
	okGain      = 1                // of one that did not
	spentAt     = 50               // from here down nothing is tried again
	breakAfter  = 5                // failures in a row that open the breaker
	firstPause  = 30 * time.Second // how long it stays open then
	longPause   = 5 * time.Minute  // and at most, after trials that failed: the longest wait of a patient step
	trialLease  = 10 * time.Minute // how long others wait for one trial
	lookAgain   = 30 * time.Second // when they ask again while it runs
	countedKeys = 4000             // how many attempts are remembered as counted
)

// ServiceSchema makes the tables of services.
const ServiceSchema = `
	CREATE TABLE services (
		name TEXT PRIMARY KEY, tokens INTEGER NOT NULL, failures INTEGER NOT NULL,
		opened INTEGER NOT NULL, pause INTEGER NOT NULL, trial TEXT NOT NULL, tried INTEGER NOT NULL
	) STRICT;
	CREATE TABLE told (
		n INTEGER PRIMARY KEY, name TEXT NOT NULL, key TEXT NOT NULL, UNIQUE (name, key)
	) STRICT`

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

// service is a row.
type service struct {
	name     string
	tokens   int64 // tenths
	failures int
	opened   time.Time
	pause    time.Duration
	trial    belay.Key
	tried    time.Time
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
		moved := v.turnBack(now)
		g = v.allow(key, retry, now)
		if g.OK && !v.opened.IsZero() {
			v.trial, v.tried, moved = key, now, true
		}
		if moved {
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
func (led *Ledger) Report(name string, key belay.Key, class belay.Class, ok bool, now time.Time) error {
	return led.Store.Change("count a call of a service", func(c Tx) error {
		had, err := number(c, "SELECT count(*) FROM told WHERE name = ? AND key = ?", name, string(key))
		if err != nil || had > 0 {
			return err
		}
		v, err := serviceOf(c, name)
		if err != nil {
			return err
		}
		v.turnBack(now)
		v.count(key, class, ok, now)
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
		return c.Each("SELECT * FROM services ORDER BY name", nil, func(q Row) {
			list = append(list, serviceAt(q).shown())
		})
	})
	return list, err
}

// ClearServices forgets what is counted of a service; "" = of all. Attempts
// that were counted stay so.
func (led *Ledger) ClearServices(name string) error {
	return led.Store.Change("clear a service", func(c Tx) error {
		if name == "" {
			return c.Run("DELETE FROM services")
		}
		return c.Run("DELETE FROM services WHERE name = ?", name)
	})
}

// allow decides; it changes nothing.
func (v service) allow(key belay.Key, retry bool, now time.Time) Allowance {
	switch end := v.opened.Add(v.pause); {
	case retry && v.tokens <= spentAt:
		return Allowance{Spent: true, Why: fmt.Sprintf("%s has %.1f of %d retry tokens left, and nothing is tried again at %d",
			v.name, float64(v.tokens)/10, fullTokens/10, spentAt/10)}
	case v.opened.IsZero():
		return Allowance{OK: true}
	case now.Before(end):
		return Allowance{Until: end, Why: fmt.Sprintf("%d calls of %s in a row failed, and it is left alone until %s",
			v.failures, v.name, end.Local().Format(zoned))}
	case v.trial != "" && v.trial != key && now.Before(v.tried.Add(trialLease)):
		return Allowance{Until: earlier(now.Add(lookAgain), v.tried.Add(trialLease)),
			Why: fmt.Sprintf("%s tries whether %s answers again", v.trial, v.name)}
	}
	return Allowance{OK: true}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// count takes in what came of one call.
func (v *service) count(key belay.Key, class belay.Class, ok bool, now time.Time) {
	trial := v.trial != "" && v.trial == key
	if trial {
		v.trial, v.tried = "", time.Time{}
	}
	if ok { // whoever it was, the service answers
		v.tokens = min(v.tokens+okGain, fullTokens)
		if !v.opened.IsZero() { // the outage is over: what it cost is nobody's fault
			v.tokens = fullTokens
		}
		v.failures, v.opened, v.pause, v.trial, v.tried = 0, time.Time{}, 0, "", time.Time{}
		return
	}
	cost, breaks := class.Row().Costs, class.Row().Breaks
	if cost {
		v.tokens = max(v.tokens-failCost, 0)
	}
	if !breaks {
		return
	}
	v.failures++
	switch {
	case v.opened.IsZero() && v.failures >= breakAfter:
		v.opened, v.pause = now, firstPause
	case trial: // calls that began before it opened tell nothing new
		v.opened, v.pause = now, min(2*v.pause, longPause)
	}
}

// turnBack takes times that lie ahead for now: the clock was turned back, and a
// pause must not grow by that.
func (v *service) turnBack(now time.Time) (moved bool) {
	for _, t := range []*time.Time{&v.opened, &v.tried} {
		if t.After(now) {
			*t, moved = now, true
		}
	}
	return moved
}

func (v service) shown() Service {
	s := Service{Name: v.name, Tokens: float64(v.tokens) / 10, Failures: v.failures, Opened: v.opened, Trial: v.trial}
	if !v.opened.IsZero() {
		s.Until = v.opened.Add(v.pause)
	}
	return s
}

// serviceOf is the row of a service; one that nobody called has all its tokens.
func serviceOf(c Tx, name string) (service, error) {
	v := service{name: name, tokens: fullTokens}
	err := c.Each("SELECT * FROM services WHERE name = ?", []any{name}, func(q Row) { v = serviceAt(q) })
	return v, err
}

func serviceAt(q Row) service {
	return service{
		name: q.ColumnText(0), tokens: q.ColumnInt64(1), failures: int(q.ColumnInt64(2)), opened: timeAt(q, 3),
		pause: time.Duration(q.ColumnInt64(4)), trial: belay.Key(q.ColumnText(5)), tried: timeAt(q, 6),
	}
}

func (v service) put(c Tx) error {
	return c.Run(`INSERT INTO services VALUES (?,?,?,?,?,?,?) ON CONFLICT (name) DO UPDATE SET
		tokens = excluded.tokens, failures = excluded.failures, opened = excluded.opened,
		pause = excluded.pause, trial = excluded.trial, tried = excluded.tried`,
		v.name, v.tokens, v.failures, v.opened, int64(v.pause), string(v.trial), v.tried)
}
