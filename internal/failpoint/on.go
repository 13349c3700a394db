//go:build failpoints && linux

package failpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Armed tells whether this binary can die at its failpoints.
const Armed = true

// Hit marks a point at which a test may end or hold the process.
func Hit(name string) { process().hit(name) }

// process is the one table of this process. It is package state on purpose:
// the count of a point belongs to the process, and a table handed through every
// constructor would put test code in each of them.
var process = sync.OnceValue(func() *table {
	t, err := newTable(os.Getenv("BELAY_FP"), os.Getenv("BELAY_FP_TRACE"), os.Getenv("BELAY_FP_ONCE"))
	if err != nil {
		panic(err) // a test that arms nothing would pass for the wrong reason
	}
	return t
})

type table struct {
	mu    sync.Mutex
	arms  []arm
	count map[string]int
	trace *os.File // nil: not wanted
	once  string   // the file of the one action; "" = no limit
}

func newTable(spec, trace, once string) (*table, error) {
	arms, err := parse(spec)
	if err != nil {
		return nil, fmt.Errorf("read BELAY_FP: %w", err)
	}
	t := &table{arms: arms, count: map[string]int{}, once: once}
	if trace == "" {
		return t, nil
	}
	t.trace, err = os.OpenFile(trace, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open BELAY_FP_TRACE: %w", err)
	}
	return t, nil
}

// hit counts under the lock and acts outside it, so that a sleeping point does
// not hold up the others.
func (t *table) hit(name string) {
	for _, a := range t.due(name) {
		a.do()
	}
}

func (t *table) due(name string) []arm {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count[name]++
	n := t.count[name]
	line := fmt.Sprintf("%d %s %d\n", os.Getpid(), name, n)
	if t.trace != nil {
		if _, err := t.trace.WriteString(line); err != nil {
			panic(fmt.Errorf("write BELAY_FP_TRACE: %w", err)) // a gap in the list would hide a point
		}
	}
	var due []arm
	for _, a := range t.arms {
		if a.name == name && (a.nth == every || a.nth == n) {
			due = append(due, a)
		}
	}
	if len(due) > 0 && t.once != "" && !first(t.once, line) {
		return nil
	}
	return due
}

// first writes the line into a file that is not there yet, in one step for
// whoever reads it; false: another was first.
func first(file, line string) bool {
	own := fmt.Sprintf("%s.%d", file, os.Getpid())
	err := os.WriteFile(own, []byte(line), 0o600)
	if err == nil {
		err = os.Link(own, file)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		panic(fmt.Errorf("write BELAY_FP_ONCE: %w", err)) // a death without a name would be nobody's
	}
	return err == nil
}

func (a arm) do() {
	switch a.act {
	case actKill:
		signal(syscall.SIGKILL)
		for { // the kernel may let this thread run on for a moment
			time.Sleep(time.Hour)
		}
	case actStop:
		signal(syscall.SIGSTOP)
	case actPanic:
		panic("failpoint " + a.name)
	case actExit:
		os.Exit(a.code) // the one other exit: it stands for a death, not for an end
	case actSleep:
		time.Sleep(a.delay)
	}
}

// signal sends a signal to the calling thread. One to the process may be taken by
// another thread, which has to be woken for it: on a busy machine this one would
// pass the point meanwhile.
func signal(s syscall.Signal) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := syscall.Tgkill(os.Getpid(), syscall.Gettid(), s); err != nil {
		panic(fmt.Errorf("send %v to itself: %w", s, err))
	}
}
