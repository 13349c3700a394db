package ledger

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
)

// zoned is a time as people read it, with its zone: the text becomes a record,
// and may be read elsewhere.
const zoned = "2006-01-02 15:04:05 MST"

// Tokens are counted in tenths, so that nothing is ever rounded.
const (
	fullTokens = 100              // where a service begins, and never above it
	failCost   = 10               // of a call that failed
	okGain     = 1                // of one that did not
	spentAt    = 50               // from here down nothing is tried again
	breakAfter = 5                // failures in a row that open the breaker
	firstPause = 30 * time.Second // how long it stays open then
	longPause  = 5 * time.Minute  // and at most, after trials that failed: the longest wait of a patient step
	trialLease = 10 * time.Minute // how long others wait for one trial
	lookAgain  = 30 * time.Second // when they ask again while it runs
)

// Account is what is counted of one service that agents call. It has no store: the
// ledger of a machine keeps it in a row, and a driver for many machines elsewhere.
type Account struct {
	Name     string        `json:"name"`
	Tokens   int64         `json:"tokens"` // tenths
	Failures int           `json:"failures,omitempty"`
	Opened   time.Time     `json:"opened,omitzero"`
	Pause    time.Duration `json:"pause,omitempty"`
	Trial    belay.Key     `json:"trial,omitempty"`
	Tried    time.Time     `json:"tried,omitzero"`
	Limited  time.Time     `json:"limited,omitzero"` // no call before it: the service said so itself
}

// NewAccount is a service that nobody called.
func NewAccount(name string) Account { return Account{Name: name, Tokens: fullTokens} }

// Call is what came of one call of a service.
type Call struct {
	Class belay.Class   `json:"class,omitempty"` // of its failure
	OK    bool          `json:"ok,omitempty"`
	After time.Duration `json:"after,omitempty"` // the service takes calls again after that; 0 = it did not say
}

// Allow tells whether an attempt may call the service. A breaker that was open for
// its time lets one attempt through, and this call makes the attempt that one.
func (v *Account) Allow(key belay.Key, retry bool, now time.Time) Allowance {
	g := v.allow(key, retry, now)
	if g.OK && !v.Opened.IsZero() {
		v.Trial, v.Tried = key, now
	}
	return g
}

// Calm tells that every attempt may call the service now, and a further try too.
func (v Account) Calm(now time.Time) bool {
	return v.Opened.IsZero() && v.Tokens > spentAt && !now.Before(v.Limited)
}

// Whole tells that a call which goes well changes nothing.
func (v Account) Whole() bool {
	return v.Opened.IsZero() && v.Tokens == fullTokens && v.Failures == 0
}

// allow decides; it changes nothing.
func (v Account) allow(key belay.Key, retry bool, now time.Time) Allowance {
	switch end := v.Opened.Add(v.Pause); {
	case retry && v.Tokens <= spentAt:
		return Allowance{Spent: true, Why: fmt.Sprintf("%s has %.1f of %d retry tokens left, and nothing is tried again at %d",
			v.Name, float64(v.Tokens)/10, fullTokens/10, spentAt/10)}
	case now.Before(v.Limited):
		return Allowance{Until: v.Limited, Why: fmt.Sprintf("%s takes no calls before %s, as it said itself",
			v.Name, v.Limited.Local().Format(zoned))}
	case v.Opened.IsZero():
		return Allowance{OK: true}
	case now.Before(end):
		return Allowance{Until: end, Why: fmt.Sprintf("%d calls of %s in a row failed, and it is left alone until %s",
			v.Failures, v.Name, end.Local().Format(zoned))}
	case v.Trial != "" && v.Trial != key && now.Before(v.Tried.Add(trialLease)):
		return Allowance{Until: earlier(now.Add(lookAgain), v.Tried.Add(trialLease)),
			Why: fmt.Sprintf("%s tries whether %s answers again", v.Trial, v.Name)}
	}
	return Allowance{OK: true}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// Count takes in what came of one call of an attempt. What says nothing about the
// service only ends the trial that the attempt may have been.
func (v *Account) Count(key belay.Key, c Call, now time.Time) {
	trial := v.Trial != "" && v.Trial == key
	if trial {
		v.Trial, v.Tried = "", time.Time{}
	}
	if c.OK { // whoever it was, the service answers
		v.Tokens = min(v.Tokens+okGain, fullTokens)
		if !v.Opened.IsZero() { // the outage is over: what it cost is nobody's fault
			v.Tokens = fullTokens
		}
		v.Failures, v.Opened, v.Pause, v.Trial, v.Tried = 0, time.Time{}, 0, "", time.Time{}
		return
	}
	if c.Class.Row().Costs {
		v.Tokens = max(v.Tokens-failCost, 0)
	}
	if until := now.Add(c.After); c.Class == belay.ClassRateLimit && c.After <= longPause && until.After(v.Limited) {
		v.Limited = until // a longer one is no wait: another agent takes over
	}
	if !c.Class.Row().Breaks {
		return
	}
	v.Failures++
	switch {
	case v.Opened.IsZero() && v.Failures >= breakAfter:
		v.Opened, v.Pause = now, firstPause
	case trial: // calls that began before it opened tell nothing new
		v.Opened, v.Pause = now, min(2*v.Pause, longPause)
	}
}

// TurnBack takes times that lie ahead for now: the clock was turned back, and a
// pause must not grow by that.
func (v *Account) TurnBack(now time.Time) (moved bool) {
	for _, t := range []*time.Time{&v.Opened, &v.Tried} {
		if t.After(now) {
			*t, moved = now, true
		}
	}
	if most := now.Add(longPause); v.Limited.After(most) {
		v.Limited, moved = most, true
	}
	return moved
}
