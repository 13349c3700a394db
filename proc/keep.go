package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/belay-run/belay"
)

// ErrHeld says that another keeper holds the folder.
var ErrHeld = errors.New("another keeper holds the run")

// DefaultKeeperGrace is how long an attempt without a deadline may go on
// without a driver.
const DefaultKeeperGrace = 6 * time.Hour

const (
	firstDriver = 10 * time.Second       // a keeper that nobody greets leaves
	notShort    = 20 * time.Millisecond  // from here on the pid is worth a line
	syncAfter   = time.Second            // from here on an exit is worth a sync
	afterGood   = 300 * time.Millisecond // what a background child gets after success
	drainFor    = 2 * time.Second        // how long a pipe may stay open when all are dead
	reapEvery   = 250 * time.Millisecond // while anything runs: how long a dead orphan stays
	pumpSize    = 32 << 10
)

// KeepOptions say what a keeper works on.
type KeepOptions struct {
	Dir    string                                          // the run's folder, absolute
	Socket string                                          // absolute
	Filter func(mask []string, w io.Writer) io.WriteCloser // hides secrets in one stream; nil = none
	Grace  time.Duration                                   // 0 = DefaultKeeperGrace
}

// keeper holds the attempts of a run.
type keeper struct {
	o       KeepOptions
	ledger  *ledger
	null    *os.File // standard input of every step
	buffers sync.Pool
	work    sync.WaitGroup // connections and attempts
	leave   chan struct{}  // closed when it is time to go

	// mu is the lock of all births and reaps. What is forked is registered, and
	// what is reaped is struck off, before anyone else looks: so a child that is
	// not registered is an orphan, and an unreaped pid is nobody else's.
	mu      sync.Mutex
	run     belay.RunID
	env     *environment
	epoch   int64
	closed  bool // no births in this epoch
	leaving bool
	quit    bool                   // the driver is not waited for
	driver  *link                  // the current one; nil = none
	links   map[*link]bool         // all that are open
	live    map[belay.Key]*attempt // from birth to written exit
	leaders map[int]*attempt       // by pid, until reaped
	done    map[belay.Key]place
	alone   *time.Timer // runs while there is no driver
	lease   lease
	reaping bool // a look for dead orphans is due
	boot    string
	begun   func() error // waits until a log that is new is on disk; nil = it was there
}

// place is where an exit is: in the log, or here when the log refused it.
type place struct {
	at   int64
	size int
	exit *Exit
}

// Keep is the whole life of a keeper. Where its standard input is a pipe it waits
// for a word there, and leaves when none comes. It tells its starter on standard
// output that it is ready, then serves drivers until none is there and nothing runs.
// Ending ctx makes it leave as soon as nothing runs; it never ends a step.
func Keep(ctx context.Context, o KeepOptions) error {
	if !wanted(os.Stdin) {
		return nil
	}
	lock, err := tryLock(o.Dir)
	if err == nil && lock == nil {
		err = ErrHeld
	}
	if err != nil {
		return tell(err)
	}
	defer lock.Close()
	// A channel that nobody reads: the signals are caught, not ignored, because
	// what is ignored is inherited by every step.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer signal.Stop(caught)
	k, err := newKeeper(o)
	if err != nil {
		return tell(err)
	}
	defer k.ledger.close()
	defer k.null.Close()
	listener, err := listen(o.Socket)
	if err != nil {
		return tell(err)
	}
	defer os.Remove(o.Socket)
	if err := errors.Join(tell(nil), silence()); err != nil {
		return errors.Join(err, listener.Close())
	}
	return k.serve(ctx, listener)
}

func newKeeper(o KeepOptions) (*keeper, error) {
	if o.Grace <= 0 {
		o.Grace = DefaultKeeperGrace
	}
	if err := enclose(); err != nil {
		return nil, err
	}
	boot, err := bootID()
	if err != nil {
		return nil, fmt.Errorf("read boot id: %w", err)
	}
	past, err := readBook(o.Dir, nil)
	if err != nil {
		return nil, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, fmt.Errorf("open null device: %w", err)
	}
	l, err := openLedger(o.Dir)
	if err != nil {
		return nil, errors.Join(err, null.Close())
	}
	return &keeper{
		o: o, ledger: l, null: null, boot: boot, epoch: past.epoch, closed: past.closed > 0 && past.closed >= past.epoch,
		buffers: sync.Pool{New: func() any { b := make([]byte, pumpSize); return &b }},
		leave:   make(chan struct{}), links: map[*link]bool{},
		live: map[belay.Key]*attempt{}, leaders: map[int]*attempt{}, done: map[belay.Key]place{},
	}, nil
}

// The first line of a keeper on its standard output, and the word to it.
const (
	sayReady = "ready"
	sayHeld  = "held"
	sayBegin = "begin"
)

// tell says on standard output how the start went and gives the error back.
func tell(err error) error {
	line := sayReady
	switch {
	case errors.Is(err, ErrHeld):
		line = sayHeld
	case err != nil:
		line = err.Error()
	}
	_, _ = fmt.Fprintln(os.Stdout, line) // a starter that died is no reason to stop
	return err
}

// silence puts the standard streams on the null device: nobody reads them, and
// a terminal must not be kept open.
func silence() error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("open null device: %w", err)
	}
	defer null.Close()
	for fd := range 3 {
		if err := redirect(int(null.Fd()), fd); err != nil {
			return fmt.Errorf("leave standard streams: %w", err)
		}
	}
	return nil
}

// leaveSession makes the calling process the leader of a session of its own,
// unless its starter did.
func leaveSession() error {
	if _, err := syscall.Setsid(); err != nil && !errors.Is(err, syscall.EPERM) {
		return fmt.Errorf("leave session: %w", err)
	}
	return nil
}

// serve runs until it is time to leave and waits for everything it started.
func (k *keeper) serve(ctx context.Context, l *net.UnixListener) error {
	first := time.AfterFunc(firstDriver, k.nobodyCame)
	defer first.Stop()
	stop := context.AfterFunc(ctx, k.stopWaiting)
	defer stop()
	k.work.Go(func() { k.accept(l) })
	<-k.leave
	err := l.Close()
	k.mu.Lock()
	for c := range k.links {
		_ = c.conn.Close() // the other end sees that we are gone
	}
	k.mu.Unlock()
	k.work.Wait()
	k.clearRest()
	return err
}

func (k *keeper) nobodyCame() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.leaveIfIdle()
}

func (k *keeper) stopWaiting() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.quit = true
	k.leaveIfIdle()
}

// leaveIfIdle ends the keeper when there is no driver and nothing runs. The
// caller holds mu.
func (k *keeper) leaveIfIdle() {
	if k.leaving || len(k.live) > 0 || (k.driver != nil && !k.quit) {
		return
	}
	k.leaving = true
	close(k.leave)
}

func (k *keeper) accept(l *net.UnixListener) {
	for {
		c, err := l.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors: let some go and try again
			time.Sleep(lookAtMost)
			continue
		}
		if checkPeer(c) != nil {
			_ = c.Close() // another user: nothing to say
			continue
		}
		k.mu.Lock()
		if k.leaving {
			k.mu.Unlock()
			_ = c.Close() // it will find the lock free
			return
		}
		in := newLink(c)
		k.links[in] = true
		k.mu.Unlock()
		k.work.Go(func() { k.converse(in) })
	}
}
