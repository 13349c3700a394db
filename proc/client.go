package proc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/fault"
)

// ErrKeeperGone says that the keeper died or hung up.
var ErrKeeperGone = errors.New("keeper is gone")

// eventRoom is how many events wait in the channel before a backlog is made.
const eventRoom = 64

// Keeper is a driver's end of its run's keeper.
type Keeper struct {
	link   *link
	epoch  int64
	pid    int // of a keeper that this driver started and must reap; 0 = not its child
	events chan Event
	quit   chan struct{} // closed when nobody reads events any more
	once   sync.Once
	reader sync.WaitGroup
	byes   chan bye

	// What the driver has not taken yet. The connection is read on all the
	// same: a driver that is still asking must not stop the keeper's answers,
	// or both would wait for each other.
	mu         sync.Mutex
	backlog    []Event
	delivering bool
	deliverer  sync.WaitGroup
}

func newClient(l *link, o Options) *Keeper {
	return &Keeper{
		link: l, epoch: o.Epoch, events: make(chan Event, eventRoom),
		quit: make(chan struct{}), byes: make(chan bye, 1),
	}
}

// Spawn asks for an attempt. It does not wait: what comes of it is an event. A
// *TooBig says that nothing was sent and the connection is as good as before.
func (k *Keeper) Spawn(s Spawn) error {
	if err := k.link.send(request{Spawn: &spawnAsk{Epoch: k.epoch, Spawn: s}}); err != nil {
		return fmt.Errorf("spawn %s: %w", s.Key, err)
	}
	return nil
}

// Signal ends an attempt, or all of them when key is empty: TERM to the whole
// tree, KILL after the grace (0 = the attempt's own).
func (k *Keeper) Signal(key belay.Key, why fault.KilledBy, grace time.Duration) error {
	if err := k.link.send(request{Signal: &signalAsk{Key: key, Why: why, Grace: grace}}); err != nil {
		return fmt.Errorf("signal %s: %w", key, err)
	}
	return nil
}

// Stop ends all attempts and closes the door: in this epoch nothing is born any
// more. A Spawn that comes too late is answered by an exit that never began.
func (k *Keeper) Stop(why fault.KilledBy, grace time.Duration) error {
	if err := k.link.send(request{Signal: &signalAsk{Why: why, Grace: grace, Close: true}}); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return nil
}

// Events is everything the keeper says, in its order. The last one is Gone,
// unless Close was called; then the channel is closed.
func (k *Keeper) Events() <-chan Event { return k.events }

// Close says that the driver is done; it must be called once, after Gone too. A
// keeper with nothing to hold leaves, and if this driver started it, Close
// waits for it. One that still holds attempts goes on without a driver.
func (k *Keeper) Close(ctx context.Context) error {
	k.once.Do(func() { close(k.quit) })
	stays := false
	if k.link.send(request{Close: &struct{}{}}) == nil { // else it is gone already
		var err error
		if stays, err = k.parting(ctx); err != nil {
			return errors.Join(err, k.hangUp())
		}
	}
	err := k.hangUp()
	if k.pid == 0 || stays {
		return err
	}
	return errors.Join(err, reapWithin(ctx, k.pid))
}

// parting waits for the keeper's last word: does it stay?
func (k *Keeper) parting(ctx context.Context) (bool, error) {
	select {
	case b, ok := <-k.byes:
		return ok && b.Running > 0, nil
	case <-ctx.Done():
		return false, fmt.Errorf("leave keeper: %w", context.Cause(ctx))
	}
}

// hangUp closes the connection and waits for its reader.
func (k *Keeper) hangUp() error {
	k.once.Do(func() { close(k.quit) })
	err := k.link.conn.Close()
	k.reader.Wait()
	if err != nil {
		return fmt.Errorf("hang up: %w", err)
	}
	return nil
}

// listen starts the reader; hangUp waits for it.
func (k *Keeper) listen() { k.reader.Go(k.read) }

func (k *Keeper) read() {
	defer close(k.events)
	defer k.deliverer.Wait()
	defer close(k.byes)
	for {
		var r reply
		if err := k.link.receive(&r); err != nil {
			k.say(Event{Gone: fmt.Errorf("%w: %w", ErrKeeperGone, err)})
			return
		}
		switch {
		case r.Exit != nil:
			k.say(Event{Exit: r.Exit})
		case r.Bye != nil:
			k.byes <- *r.Bye // only one is ever sent to a driver
		}
	}
}

// say hands an event over, or puts it on the backlog; it never waits. Only the
// reader calls it.
func (k *Keeper) say(e Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.delivering {
		select {
		case k.events <- e:
			return
		default:
		}
		k.delivering = true
		k.deliverer.Go(k.deliver)
	}
	k.backlog = append(k.backlog, e)
}

// deliver empties the backlog, unless nobody listens any more.
func (k *Keeper) deliver() {
	for {
		k.mu.Lock()
		if len(k.backlog) == 0 {
			k.backlog, k.delivering = nil, false
			k.mu.Unlock()
			return
		}
		e := k.backlog[0]
		k.backlog = k.backlog[1:]
		k.mu.Unlock()
		select {
		case k.events <- e:
		case <-k.quit:
			return
		}
	}
}
