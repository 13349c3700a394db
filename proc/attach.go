package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/internal/failpoint"
)

// ErrKeeperSilent says that a keeper holds the run and does not answer: it is
// stopped or hangs. Nothing was taken over.
var ErrKeeperSilent = errors.New("keeper holds the run and does not answer")

// ErrStale says that a driver with a higher epoch has the run.
var ErrStale = errors.New("a newer driver has the run")

// ErrRefused says that the keeper will not serve this driver.
var ErrRefused = errors.New("keeper refused")

const (
	answerWithin = 10 * time.Second
	retryEvery   = 5 * time.Millisecond
)

// errRetry says that the keeper was on its way out.
var errRetry = errors.New("keeper is leaving")

// Options say which keeper a driver wants.
type Options struct {
	Dir    string      // the run's folder, absolute
	Socket string      // absolute
	Exe    []string    // the command line that starts the keeper; its first word is a path
	Run    belay.RunID // the root run
	Epoch  int64       // this driver's
	Env    []string    // the base environment of all attempts
	Early  *Early      // the keeper's process, if it is there already; it is used up

	// Orphans says that this process started the dead keeper, is a subreaper
	// and has no other children: all that came to it are ended with the run.
	Orphans bool

	silence time.Duration // 0 = answerWithin; shorter in tests
}

func (o Options) patience() time.Duration {
	if o.silence > 0 {
		return o.silence
	}
	return answerWithin
}

// Attach connects to the run's keeper and says of each open key what became of
// it. A living keeper is told the new epoch, and from its answer on nothing an
// earlier driver asked for is born. With no living keeper, what is left of the
// run is ended first, then the log is read, then a new keeper is started.
func Attach(ctx context.Context, o Options, open []belay.Key) (*Keeper, map[belay.Key]State, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerWithin+DefaultGrace+killPatience, ErrKeeperSilent)
	defer cancel()
	silentAt := time.Now().Add(o.patience())
	for {
		k, states, err := tryAttach(ctx, o, open, silentAt)
		if err == nil || !errors.Is(err, errRetry) {
			return k, states, err
		}
		if time.Now().After(silentAt) {
			return nil, nil, fmt.Errorf("attach to %s: %w: %w", o.Run, ErrKeeperSilent, err)
		}
		select {
		case <-ctx.Done():
			return nil, nil, fmt.Errorf("attach to %s: %w", o.Run, context.Cause(ctx))
		case <-time.After(retryEvery):
		}
	}
}

func tryAttach(ctx context.Context, o Options, open []belay.Key, silentAt time.Time) (*Keeper, map[belay.Key]State, error) {
	lock, err := tryLock(o.Dir)
	if err != nil {
		return nil, nil, err
	}
	if lock != nil {
		states, err := takeStock(o, open)
		_ = lock.Close() // the new keeper takes it
		if err != nil {
			return nil, nil, err
		}
		k, err := begin(ctx, o)
		return k, states, err
	}
	k, answer, err := greetKeeper(ctx, o, open, silentAt)
	if err != nil {
		return nil, nil, err
	}
	states, err := compare(o.Dir, open, answer)
	if err != nil {
		return nil, nil, errors.Join(err, k.hangUp())
	}
	k.listen()
	return k, states, nil
}

// takeStock is done with the keeper dead and its lock in our hand: end what is
// left, then read what was written.
func takeStock(o Options, open []belay.Key) (map[belay.Key]State, error) {
	b, err := readBook(o.Dir, open)
	if err != nil {
		return nil, err
	}
	orphans := o.Orphans && Containment() > LevelGroup
	if orphans && b.kept {
		awaitDeparture(b.keeper)
	}
	if err := sweep(o.Dir, o.Run, orphans); err != nil {
		return nil, err
	}
	if b.kept {
		reapLeft(b.keeper.Pid, orphans)
	}
	boot, err := bootID()
	if err != nil {
		return nil, fmt.Errorf("read boot id: %w", err)
	}
	states := map[belay.Key]State{}
	var guessed []belay.Key
	for _, key := range open {
		states[key] = b.found(key, boot)
		if states[key].Found == fault.Lost && !b.born[key] && !b.lost[key] {
			guessed = append(guessed, key)
		}
	}
	return states, writeLost(o.Dir, guessed)
}

// writeLost keeps what was concluded from a reboot or a lost log: the next
// keeper's line will be there and of this boot, and a later reader could not
// conclude it again.
func writeLost(dir string, keys []belay.Key) error {
	if len(keys) == 0 {
		return nil
	}
	l, err := openLedger(dir)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := l.add(lostLine{Lost: key}, true); err != nil {
			return errors.Join(err, l.close())
		}
	}
	return l.close()
}

// compare joins a living keeper's answer with the log: a key it never saw may
// have been an earlier keeper's.
func compare(dir string, open []belay.Key, answer *held) (map[belay.Key]State, error) {
	states := map[belay.Key]State{}
	for _, key := range answer.Running {
		states[key] = State{Found: fault.Adopted}
	}
	for i := range answer.Done {
		states[answer.Done[i].Key] = State{Found: fault.Harvested, Exit: &answer.Done[i]}
	}
	var unseen []belay.Key
	for _, key := range open {
		if _, ok := states[key]; !ok {
			unseen = append(unseen, key)
		}
	}
	if len(unseen) == 0 {
		return states, nil
	}
	b, err := readBook(dir, unseen)
	if err != nil {
		return nil, err
	}
	for _, key := range unseen {
		states[key] = b.found(key, b.keeper.Boot) // the last keeper lives, so its boot is this one
	}
	return states, nil
}

// begin starts a keeper and greets it.
func begin(ctx context.Context, o Options) (*Keeper, error) {
	pid, err := startKeeper(ctx, o)
	if err != nil {
		return nil, err
	}
	k, _, err := greetKeeper(ctx, o, nil, time.Now().Add(answerWithin))
	if err != nil {
		return nil, errors.Join(err, reapWithin(ctx, pid))
	}
	k.pid = pid
	k.listen()
	return k, nil
}

// startKeeper starts the keeper, unless its process is there already, and waits
// until it says that it is ready.
func startKeeper(ctx context.Context, o Options) (pid int, err error) {
	e := o.Early
	if e == nil || e.used {
		if e, err = StartEarly(o); err != nil {
			return 0, err
		}
	}
	if err := e.ready(ctx); err != nil {
		return 0, errors.Join(err, reapWithin(ctx, e.pid))
	}
	return e.pid, nil
}

func startError(ctx context.Context, line string, err error) error {
	switch word := strings.TrimSpace(line); {
	case word == sayHeld:
		return errRetry
	case ctx.Err() != nil:
		return fmt.Errorf("start keeper: %w", context.Cause(ctx))
	case word != "":
		return fmt.Errorf("start keeper: it said: %s", word)
	default:
		return fmt.Errorf("start keeper: it ended without a word: %w", err)
	}
}

// reapWithin waits for a keeper that is on its way out.
func reapWithin(ctx context.Context, pid int) error {
	for {
		if gone, err := reaped(pid); gone || err != nil {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("wait for keeper: %w", context.Cause(ctx))
		}
		awaitExit(pid, reapEach)
	}
}

// reaped takes a keeper away that has ended, and tells whether it is gone.
func reaped(pid int) (bool, error) {
	got, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	switch {
	case errors.Is(err, syscall.EINTR):
		return false, nil
	case errors.Is(err, syscall.ECHILD), got == pid:
		return true, nil // ECHILD: somebody else took it
	case err != nil:
		return false, fmt.Errorf("wait for keeper: %w", err)
	}
	return false, nil
}

// reapEach is how long a wait for the end of a keeper lasts before its context is
// asked.
const reapEach = 20 * time.Millisecond

// greetKeeper dials the keeper and says hello.
func greetKeeper(ctx context.Context, o Options, open []belay.Key, silentAt time.Time) (*Keeper, *held, error) {
	l, err := dial(o.Socket)
	if err != nil {
		return nil, nil, errors.Join(errRetry, err)
	}
	k := newClient(l, o)
	if err := l.conn.SetDeadline(silentAt); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("greet keeper: %w", err), k.hangUp())
	}
	stop := context.AfterFunc(ctx, func() { _ = l.conn.SetDeadline(time.Now()) }) // closed when it is too late
	defer stop()
	answer, err := sayHello(l, o, open)
	if err == nil {
		stop()
		err = l.conn.SetDeadline(time.Time{})
	}
	if err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = ErrKeeperSilent
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
		}
		return nil, nil, errors.Join(fmt.Errorf("greet keeper: %w", err), k.hangUp())
	}
	return k, answer, nil
}

func sayHello(l *link, o Options, open []belay.Key) (*held, error) {
	h := &hello{Proto: protocol, Run: o.Run, Epoch: o.Epoch, Open: open, Env: o.Env}
	var r reply
	if err := errors.Join(l.send(request{Hello: h})); err != nil {
		return nil, mayRetry(err)
	}
	failpoint.Hit("attach.greeted")
	if err := l.receive(&r); err != nil {
		return nil, mayRetry(err)
	}
	switch {
	case r.Held != nil:
		return r.Held, nil
	case r.Refused == nil:
		return nil, fmt.Errorf("%w: it answered something else", ErrRefused)
	case r.Refused.Epoch > o.Epoch:
		return nil, fmt.Errorf("epoch %d against %d: %w", o.Epoch, r.Refused.Epoch, ErrStale)
	case r.Refused.Run != "":
		return nil, fmt.Errorf("%w: it holds run %s", ErrRefused, r.Refused.Run)
	case r.Refused.Proto > 0:
		return nil, fmt.Errorf("%w: it speaks protocol %d", ErrRefused, r.Refused.Proto)
	case r.Refused.Cause != "":
		return nil, fmt.Errorf("%w: %s", ErrRefused, r.Refused.Cause)
	}
	return nil, errRetry
}

// mayRetry: a keeper that hung up without a word was leaving; one that took too
// long was not.
func mayRetry(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return errors.Join(errRetry, err)
}

// Halt ends all attempts of a run and closes it for births until a driver with
// a higher epoch comes. It needs no driver: it works while the driver hangs or
// is dead. It tells how many attempts were told to end; with no keeper that is
// none.
func Halt(ctx context.Context, o Options, why fault.KilledBy, grace time.Duration) (int, error) {
	if _, err := os.Stat(filepath.Join(o.Dir, lockName)); errors.Is(err, os.ErrNotExist) {
		return 0, nil // there was never a keeper
	}
	lock, err := tryLock(o.Dir)
	if err != nil {
		return 0, err
	}
	if lock != nil {
		return 0, lock.Close()
	}
	l, err := dial(o.Socket)
	if err != nil {
		return 0, err
	}
	defer l.conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = l.conn.SetDeadline(time.Now()) }) // closed when it is too late
	defer stop()
	if err := l.conn.SetDeadline(time.Now().Add(answerWithin)); err != nil {
		return 0, fmt.Errorf("halt %s: %w", o.Run, err)
	}
	if err := l.send(request{Signal: &signalAsk{Why: why, Grace: grace, Close: true}}); err != nil {
		return 0, fmt.Errorf("halt %s: %w", o.Run, err)
	}
	var r reply
	if err := l.receive(&r); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = ErrKeeperSilent
		}
		return 0, fmt.Errorf("halt %s: %w", o.Run, err)
	}
	if r.Bye == nil {
		return 0, fmt.Errorf("halt %s: %w", o.Run, ErrRefused)
	}
	return r.Bye.Running, nil
}
