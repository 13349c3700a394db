package main

import (
	"io"
	"net"
	"sync"
	"testing"
)

// way is a way to the server that can be blocked.
type way struct {
	at string

	mu      sync.Mutex
	blocked bool
	open    []net.Conn
}

func newWay(t *testing.T, to string) *way {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &way{at: l.Addr().String()}
	var pipes sync.WaitGroup
	pipes.Go(func() {
		for {
			here, err := l.Accept()
			if err != nil {
				return // the test is over
			}
			there, err := net.Dial("tcp", to)
			if err != nil || !w.take(here, there) {
				_ = here.Close() // who called sees that
				continue
			}
			pipes.Go(func() { pipe(here, there) })
			pipes.Go(func() { pipe(there, here) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close() // nobody calls any more
		w.block(true)
		pipes.Wait()
	})
	return w
}

// pipe hands on what one says to the other, until one of them is gone.
func pipe(to, from net.Conn) {
	_, _ = io.Copy(to, from) // one of them is gone
	_, _ = to.Close(), from.Close()
}

// take keeps two ends, so that they can be cut.
func (w *way) take(here, there net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.blocked {
		_ = there.Close() // nothing was said
		return false
	}
	w.open = append(w.open, here, there)
	return true
}

// block cuts all that is open, and lets nothing through until it is lifted.
func (w *way) block(is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.blocked = is; !is {
		return
	}
	for _, c := range w.open {
		_ = c.Close() // it may be closed already
	}
	w.open = nil
}
