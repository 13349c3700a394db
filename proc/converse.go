package proc

import (
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/internal/ondisk"
)

// converse serves one connection until it ends or says something refused.
func (k *keeper) converse(c *link) {
	for {
		var r request
		if err := c.receive(&r); err != nil {
			break // hung up, superseded, or not our protocol
		}
		if !k.handle(c, &r) {
			break
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.links, c)
	_ = c.conn.Close() // what it had to say was said
	k.dropDriver(c)
	k.leaveIfIdle()
}

func (k *keeper) handle(c *link, r *request) bool {
	switch {
	case r.Hello != nil:
		return k.greet(c, r.Hello)
	case r.Spawn != nil:
		return k.spawn(c, r.Spawn)
	case r.Signal != nil:
		return k.signal(c, r.Signal)
	case r.Close != nil:
		return k.farewell(c)
	case r.Lease != nil:
		return k.lend(c, r.Lease)
	case r.Whose != nil:
		return k.whose(c)
	}
	return true // a newer driver's word: add-only means that it can be passed over
}

// dropDriver notes that the driver is gone; attempts without a deadline are
// held for the grace from now on. The caller holds mu.
func (k *keeper) dropDriver(c *link) {
	if k.driver != c {
		return
	}
	k.driver = nil
	k.alone = time.AfterFunc(k.o.Grace, k.graceOver)
}

func (k *keeper) graceOver() {
	k.mu.Lock()
	var over []*attempt
	if k.driver == nil {
		for _, a := range k.live {
			if a.s.Deadline <= 0 {
				over = append(over, a)
			}
		}
	}
	k.mu.Unlock()
	for _, a := range over {
		k.end(a, fault.KilledGrace, 0)
	}
}

// greet makes c the driver, when its epoch is not behind. From its answer on
// nothing that an earlier driver asked for is born any more, even if it lies
// unread in a socket.
func (k *keeper) greet(c *link, h *hello) bool {
	k.mu.Lock()
	if no := k.refuse(h); no != nil {
		k.mu.Unlock()
		_ = c.send(reply{Refused: no}) // it hangs up next, which says the same
		return false
	}
	if err := k.inaugurate(h); err != nil {
		k.mu.Unlock()
		_ = c.send(reply{Refused: &refusal{Cause: err.Error()}}) // it hangs up next
		return false
	}
	if old := k.driver; old != nil && old != c {
		old.stale = true
		_ = old.conn.Close() // what it still has to say counts for nothing
	}
	if k.alone != nil {
		k.alone.Stop()
	}
	k.driver = c
	answer, places := k.account(h.Open)
	c.out.Lock() // exits that come now must not overtake the answer
	k.mu.Unlock()
	defer c.out.Unlock()
	room := maxFrame / 2
	for _, p := range places {
		if room -= p.size; room < 0 && p.exit == nil {
			continue // the driver finds it in the log
		}
		if e := k.exitOf(p); e != nil {
			answer.Done = append(answer.Done, *e)
		}
	}
	b, err := json.Marshal(reply{Held: answer})
	return err == nil && c.write(b) == nil
}

func (k *keeper) refuse(h *hello) *refusal {
	switch {
	case h.Proto > protocol:
		return &refusal{Proto: protocol}
	case k.run != "" && h.Run != k.run:
		return &refusal{Run: k.run}
	case h.Epoch < k.epoch:
		return &refusal{Epoch: k.epoch}
	case k.leaving:
		return &refusal{}
	}
	return nil
}

// inaugurate writes the keeper line of the new epoch and takes it over. The driver
// does not wait until the first one of a log is on disk, but the first birth does.
func (k *keeper) inaugurate(h *hello) error {
	self, err := Self()
	if err != nil {
		return err
	}
	mark, err := makeMark(k.o.Dir, h.Run)
	if err != nil {
		return err
	}
	fresh := k.ledger.fresh()
	if err := k.ledger.add(keeperLine{Keeper: self, Epoch: h.Epoch}, false); err != nil {
		return err
	}
	if fresh {
		begun := make(chan error, 1)
		k.work.Go(func() { begun <- errors.Join(dataSync(k.ledger.f), ondisk.Names(k.o.Dir)) })
		k.begun = sync.OnceValue(func() error { return <-begun })
	}
	if h.Epoch > k.epoch {
		k.closed = false
	}
	k.run, k.epoch = h.Run, h.Epoch
	k.env = newEnvironment(h.Env, mark)
	return nil
}

func (k *keeper) account(open []belay.Key) (*held, []place) {
	answer := &held{}
	var places []place
	for _, key := range open {
		if p, ok := k.done[key]; ok {
			places = append(places, p)
		} else if k.live[key] != nil {
			answer.Running = append(answer.Running, key)
		}
	}
	return answer, places
}

func (k *keeper) exitOf(p place) *Exit {
	if p.exit != nil {
		return p.exit
	}
	e, err := k.ledger.exitAt(p.at, p.size)
	if err != nil {
		return nil // the driver reads the log itself and sees why
	}
	return e
}

// spawn is the door for births. What comes from a driver that is not the
// current one leaves no trace; a key that was seen is answered with what is
// known of it.
func (k *keeper) spawn(c *link, s *spawnAsk) bool {
	k.mu.Lock()
	if c != k.driver || s.Epoch != k.epoch {
		k.mu.Unlock()
		return false
	}
	if k.live[s.Key] != nil {
		k.mu.Unlock()
		return true
	}
	if p, ok := k.done[s.Key]; ok {
		k.mu.Unlock()
		if e := k.exitOf(p); e != nil {
			k.answer(c, e)
		}
		return true
	}
	if k.closed || k.leaving {
		k.mu.Unlock()
		k.answer(c, &Exit{Key: s.Key, Code: noCode, KilledBy: fault.KilledStop})
		return true
	}
	if k.lease.over {
		k.mu.Unlock()
		k.answer(c, &Exit{Key: s.Key, Code: noCode, KilledBy: fault.KilledLease})
		return true
	}
	a, exit := k.birth(&s.Spawn)
	k.mu.Unlock()
	if exit != nil {
		k.work.Go(func() { k.record(a, exit) }) // it sends; see answer
	}
	return true
}

// answer sends an exit. Whoever reads a connection must not wait for a write to
// it: the other end may not read before it has said all it has to say.
func (k *keeper) answer(c *link, e *Exit) {
	k.work.Go(func() {
		_ = c.send(reply{Exit: e}) // a driver that hung up finds it in the log
	})
}

// signal ends attempts. It is also granted to a connection that is no driver:
// a run can be stopped while its driver hangs.
func (k *keeper) signal(c *link, s *signalAsk) bool {
	k.mu.Lock()
	if c.stale {
		k.mu.Unlock()
		return false
	}
	if s.Close && !k.closed {
		k.closed = true
		_ = k.ledger.add(closedLine{Closed: k.epoch}, true) // on failure it still holds for this keeper's life
	}
	var hit []*attempt
	for key, a := range k.live {
		if s.Key == "" || s.Key == key {
			hit = append(hit, a)
		}
	}
	outside := c != k.driver
	k.mu.Unlock()
	for _, a := range hit {
		k.end(a, s.Why, s.Grace)
	}
	if outside {
		_ = c.send(reply{Bye: &bye{Running: len(hit)}}) // it asked, it may have left
	}
	return true
}

// farewell lets the driver go and tells it whether the keeper goes too.
func (k *keeper) farewell(c *link) bool {
	k.mu.Lock()
	running := len(k.live)
	k.mu.Unlock()
	_ = c.send(reply{Bye: &bye{Running: running}}) // it is leaving anyway
	return false
}
