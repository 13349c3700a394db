package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/belay-run/belay/exit"
)

// redrawEvery is how often a live view is drawn.
const redrawEvery = 100 * time.Millisecond

// echoWithin is how soon a second SIGTERM is the same request once more: timeout(1)
// sends it to the process and then to its group, and a service manager may too.
const echoWithin = time.Second

// Signalled is the cause of a stop: which signal asked for it.
type Signalled struct{ Signal syscall.Signal }

func (e *Signalled) Error() string {
	switch e.Signal {
	case syscall.SIGHUP:
		return "SIGHUP"
	case syscall.SIGINT:
		return "SIGINT"
	}
	return "SIGTERM"
}

// ExitCode is the code of a process that stops because of the signal.
func (e *Signalled) ExitCode() int {
	switch e.Signal {
	case syscall.SIGHUP:
		return exit.Hangup
	case syscall.SIGINT:
		return exit.Interrupt
	}
	return exit.Terminated
}

// attention watches for signals, and for the time, while a command works: the
// first signal cancels the context; another one that a person sends closes hard.
type attention struct {
	hard chan struct{}

	cancel context.CancelCauseFunc
	sigs   chan os.Signal
	quit   chan struct{}
	done   chan struct{}
	first  *Signalled // to be read after stop
	since  time.Time  // when it came

	hurried bool // hard is closed
}

// attend begins to watch and gives the context that the first signal cancels;
// the caller stops it. tick may be nil.
func attend(ctx context.Context, tick func(time.Time)) (context.Context, *attention) {
	t := &attention{
		hard: make(chan struct{}), sigs: make(chan os.Signal, 4),
		quit: make(chan struct{}), done: make(chan struct{}),
	}
	ctx, t.cancel = context.WithCancelCause(ctx)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // whoever started us with it ignored meant that
			signal.Notify(t.sigs, s)
		}
	}
	go t.watch(tick)
	return ctx, t
}

func (t *attention) watch(tick func(time.Time)) {
	defer close(t.done)
	var beat <-chan time.Time
	if tick != nil {
		ticker := time.NewTicker(redrawEvery)
		defer ticker.Stop()
		beat = ticker.C
	}
	for {
		select {
		case s := <-t.sigs:
			t.take(number(s), time.Now())
		case now := <-beat:
			tick(now)
		case <-t.quit:
			return
		}
	}
}

// take counts a signal. A terminal that goes away sends SIGHUP more than once,
// the kernel and the shell each on their own: it never means hurry. Nor does the
// echo of a SIGTERM.
func (t *attention) take(s syscall.Signal, now time.Time) {
	if t.first == nil {
		t.first, t.since = &Signalled{Signal: s}, now
		t.cancel(t.first)
		return
	}
	echo := s == syscall.SIGTERM && t.first.Signal == s && now.Sub(t.since) < echoWithin
	if s != syscall.SIGHUP && !echo && !t.hurried {
		t.hurried = true
		close(t.hard)
	}
}

func number(s os.Signal) syscall.Signal {
	if n, ok := s.(syscall.Signal); ok {
		return n
	}
	return syscall.SIGTERM // no other kind of signal was asked for
}

// stop ends the watch, waits for it, and gives the signal that came, nil when
// none did.
func (t *attention) stop() *Signalled {
	t.release()
	return t.settle()
}

// settle is stop, but signals that come later do nothing until release: how the
// process ends is known, and a signal during the clean-up does not change it.
func (t *attention) settle() *Signalled {
	close(t.quit)
	<-t.done
	t.cancel(nil) // nobody is left to be told
	return t.first
}

// release lets signals do again what they do without us.
func (t *attention) release() { signal.Stop(t.sigs) }

// catchPipe makes a broken pipe an error of the write. It is caught and not
// ignored, because what is ignored would be inherited by every step.
func catchPipe() (stop func()) {
	nobody := make(chan os.Signal, 1)
	signal.Notify(nobody, syscall.SIGPIPE)
	return func() { signal.Stop(nobody) }
}
