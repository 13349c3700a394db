package proc

import (
	"fmt"
	"time"

	"github.com/belay-run/belay/fault"
)

// leaseAsk says how long the attempts may go on unless it is said again: a driver
// that others may take for lost holds them no longer than it can prove that it is not.
type leaseAsk struct {
	For   time.Duration `json:"for"`             // from now on, by the keeper's own clock
	Grace time.Duration `json:"grace,omitempty"` // from TERM to KILL, within that time; 0 = none
}

// Lease has the keeper end all attempts after a time, and start none after it, unless
// it is called again before. From its first call on it holds for the keeper's life,
// also when this driver is gone.
func (k *Keeper) Lease(most, grace time.Duration) error {
	if err := k.link.send(request{Lease: &leaseAsk{For: most, Grace: grace}}); err != nil {
		return fmt.Errorf("renew lease: %w", err)
	}
	return nil
}

// lease is the keeper's end of it. The keeper's mu owns it.
type lease struct {
	turn  int // a timer of an earlier one changes nothing
	timer *time.Timer
	over  bool
}

// lend takes a lease in. Who is not the driver renews nothing.
func (k *keeper) lend(c *link, l *leaseAsk) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c != k.driver {
		return false
	}
	k.lease.turn++
	if k.lease.timer != nil {
		k.lease.timer.Stop()
	}
	k.lease.over = false
	turn := k.lease.turn
	k.lease.timer = time.AfterFunc(max(l.For-l.Grace, 0), func() { k.leaseOver(turn, l.Grace) })
	return true
}

// leaseOver ends all that runs.
func (k *keeper) leaseOver(turn int, grace time.Duration) {
	k.mu.Lock()
	if turn != k.lease.turn {
		k.mu.Unlock()
		return
	}
	k.lease.over = true
	var all []*attempt
	for _, a := range k.live {
		all = append(all, a)
	}
	k.mu.Unlock()
	for _, a := range all {
		k.end(a, fault.KilledLease, max(grace, time.Millisecond))
	}
}
