package proc

import (
	"fmt"
	"syscall"
	"time"
)

// EndBelow ends everything that lives below the calling process: TERM, and
// KILL when the grace is over, until there is none. It tells how many were seen.
// The caller must have waited for its own children first: what is left is
// reaped here. As a subreaper it also has the orphans of all its descendants,
// so nothing below it gets away by leaving a group, a session or a parent; and
// while it has no child at all, nobody is below it.
func EndBelow(grace time.Duration) (int, error) {
	if noChildren() {
		return 0, nil
	}
	h := newHunt(grace)
	met := 0 // 1: somebody was met in a chase, who may be in no list
	for {
		all, err := processes()
		if err != nil {
			return max(len(h.seen), met), fmt.Errorf("end descendants: %w", err)
		}
		prey := livingTree(all, rootsOf(all, "", true, nil), nil)
		h.reapOwn()
		if len(prey) == 0 {
			reapLeft(0, true)
			if noChildren() || Containment() == LevelGroup {
				return max(len(h.seen), met), nil
			} // else somebody was born while we looked
		}
		if !h.round(prey) {
			return max(len(h.seen), met), fmt.Errorf("end descendants: %d %w", max(len(prey), 1), ErrSurvivors)
		}
		if h.kills() && chase(nil) {
			met = 1
		}
	}
}

// chase kills and reaps the children of the calling process, except some, one
// look after the other: one that forks and leaves faster than a list of all
// processes can be read is met only so. An unreaped child's number is nobody
// else's; the caller sees to it that nobody else reaps meanwhile. It tells whether
// it met any.
func chase(spare func(pid int) bool) (met bool) {
	for end := time.Now().Add(chaseFor); time.Now().Before(end) && !noChildren(); {
		pids, err := children()
		if err != nil {
			return met // the next look at all tells
		}
		for _, pid := range pids {
			if spare != nil && spare(pid) {
				continue
			}
			met = true
			_ = syscall.Kill(pid, syscall.SIGKILL)               // it may be dead already
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // or not yet: then the next look takes it away
		}
	}
	return met
}

// ReapOrphans takes away the dead children of the calling process except one,
// which its starter waits for: a program that forks for hours would fill the
// process table of the subreaper above it.
func ReapOrphans(except int) {
	if zombies() {
		reapLeft(except, true)
	}
}
