package proc

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/belay-run/belay"
)

const (
	lookEvery    = 2 * time.Millisecond  // first pause between two looks
	lookAtMost   = 50 * time.Millisecond // longest
	killPatience = 10 * time.Second      // how long a killed process may take to be gone
	chaseFor     = 20 * time.Millisecond // how long the fast ones are hunted between two looks
)

// ErrSurvivors says that processes are there that not even KILL has ended.
var ErrSurvivors = errors.New("processes survive")

// sweep ends every living process of this user that carries the mark of the
// run's folder, and what is below it: TERM, then KILL. It is for a run whose
// keeper is dead. The caller and its own ancestors are spared; those of the
// ended that were the caller's children are reaped. With orphans it also ends
// all that is below the caller: what shed its mark came there.
func sweep(dir string, run belay.RunID, orphans bool) error {
	mark, err := readMark(dir, run)
	if err != nil {
		return fmt.Errorf("sweep %s: %w", run, err)
	}
	if mark == "" && !orphans {
		return nil // it was never handed out
	}
	spare, err := spared()
	if err != nil {
		return fmt.Errorf("sweep %s: %w", run, err)
	}
	h := newHunt(DefaultGrace)
	for {
		all, err := processes()
		if err != nil {
			return fmt.Errorf("sweep %s: %w", run, err)
		}
		prey := h.withDying(all, livingTree(all, rootsOf(all, mark, orphans, spare), spare))
		h.reapOwn()
		if len(prey) == 0 {
			return nil
		}
		if !h.round(prey) {
			return fmt.Errorf("sweep %s: %d %w", run, len(prey), ErrSurvivors)
		}
	}
}

// spared is the caller and the chain above it.
func spared() (map[int]bool, error) {
	chain, err := Ancestors(os.Getpid())
	if err != nil {
		return nil, err
	}
	spare := map[int]bool{os.Getpid(): true}
	for _, id := range chain {
		spare[id.Pid] = true
	}
	return spare, nil
}

// rootsOf is the living processes with the mark, and with orphans the caller's
// living children.
func rootsOf(all []process, mark string, orphans bool, spare map[int]bool) map[int]bool {
	roots := map[int]bool{}
	for _, p := range all {
		switch {
		case p.zombie || spare[p.pid]:
		case orphans && p.ppid == os.Getpid(), mark != "" && ownUser(p.pid) && marked(p.pid, mark):
			roots[p.pid] = true
		}
	}
	return roots
}

// livingTree is the roots and all that lives below them.
func livingTree(all []process, roots, spare map[int]bool) []process {
	var tree []process
	for _, p := range all {
		if roots[p.pid] {
			tree = append(tree, p)
		}
	}
	for _, p := range descendants(all, roots, spare) {
		if !p.zombie {
			tree = append(tree, p)
		}
	}
	return tree
}

// hunt ends processes, round by round: TERM at first sight, KILL when the grace
// is over, until a round finds none.
type hunt struct {
	killAt, giveUpAt time.Time
	pause            time.Duration
	seen             map[int]process
}

func newHunt(grace time.Duration) *hunt {
	now := time.Now()
	return &hunt{
		killAt: now.Add(grace), giveUpAt: now.Add(grace + killPatience),
		pause: lookEvery, seen: map[int]process{},
	}
}

// round signals those that are there and pauses; false: it is time to give up.
func (h *hunt) round(prey []process) bool {
	now := time.Now()
	if now.After(h.giveUpAt) {
		return false
	}
	for _, p := range prey {
		old, known := h.seen[p.pid]
		known = known && old.start == p.start
		h.seen[p.pid] = p
		switch {
		case !now.Before(h.killAt):
			_ = signalExact(p.pid, p.start, syscall.SIGKILL) // the next look tells whether it worked
		case !known:
			_ = signalExact(p.pid, p.start, syscall.SIGTERM) // the next look tells whether it worked
			_ = signalExact(p.pid, p.start, syscall.SIGCONT) // a stopped one would not hear it
		}
	}
	pause := h.pause
	if left := time.Until(h.killAt); left > 0 {
		pause = min(pause, left)
	}
	time.Sleep(pause)
	h.pause = min(2*h.pause, lookAtMost)
	return true
}

// withDying adds those that were hunted before and are still there: a process that
// dies loses its memory, and with it the mark, a moment before it is a zombie.
func (h *hunt) withDying(all, prey []process) []process {
	for _, p := range all {
		old, known := h.seen[p.pid]
		if known && old.start == p.start && !p.zombie && !slices.ContainsFunc(prey, func(q process) bool { return q.pid == p.pid }) {
			prey = append(prey, p)
		}
	}
	return prey
}

// kills tells whether the grace is over.
func (h *hunt) kills() bool { return !time.Now().Before(h.killAt) }

// spareTerm notes processes that were told to end already.
func (h *hunt) spareTerm(p process) { h.seen[p.pid] = p }

// reapOwn takes away the zombies among the hunted that are the caller's children.
func (h *hunt) reapOwn() {
	for pid := range h.seen {
		if p, err := look(pid); err == nil && p.zombie && p.ppid == os.Getpid() {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // another look follows
		}
	}
}

// reapLeft takes away the zombies that a dead keeper's session left to the
// caller, or all of the caller's; the keeper itself is its starter's to wait for.
func reapLeft(keeper int, all bool) {
	pids, err := children()
	if err != nil {
		return // zombies cost a table entry until the caller ends
	}
	for _, pid := range pids {
		p, err := look(pid)
		if err != nil || !p.zombie || pid == keeper || p.ppid != os.Getpid() {
			continue
		}
		if all || p.sid == keeper {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // it is a zombie: there is nothing to wait for
		}
	}
}
