package supervise

import (
	"context"
	"io"
	"sync"
	"time"
)

const (
	maxAsked     = 256     // questions of an agent whose answers it has not taken
	maxAskedSize = 8 << 20 // the same, in bytes of questions
)

// asked counts the questions of an agent whose answers are on their way. The
// library answers each on its own, and an answer that the agent does not read
// waits: without a bound, all that it asks would be held.
type asked struct {
	mu    sync.Mutex
	n     int
	size  int           // of the questions since there was none
	freed chan struct{} // an answer was taken; at most one waits to be noticed
}

func newAsked() *asked { return &asked{freed: make(chan struct{}, 1)} }

// enter waits for room for a question; false when there is none in time.
func (a *asked) enter(ctx context.Context, size int, patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for !a.take(size) {
		select {
		case <-a.freed:
		case <-ctx.Done():
			return false
		case <-timer.C:
			return false
		}
	}
	return true
}

func (a *asked) take(size int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.n == 0 {
		a.size = 0
	}
	if a.n >= maxAsked || a.n > 0 && a.size+size > maxAskedSize {
		return false
	}
	a.n++
	a.size += size
	return true
}

func (a *asked) leave() {
	a.mu.Lock()
	a.n = max(0, a.n-1)
	a.mu.Unlock()
	select {
	case a.freed <- struct{}{}:
	default: // one waits already
	}
}

// answers is where the library writes, one message at a time. Our own few
// requests count as answers too: the bound is that much wider.
type answers struct {
	to    io.Writer
	asked *asked
}

func (w answers) Write(b []byte) (int, error) {
	defer w.asked.leave()
	return w.to.Write(b)
}
