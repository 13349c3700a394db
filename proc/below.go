package proc

import (
	"fmt"
	"time"
)

// EndBelow ends everything that lives below the calling process: TERM, and
// KILL when the grace is over, until a look finds none. It tells how many there
// were. The caller must have waited for its own children first: what is left is
// reaped here. As a subreaper it also has the orphans of all its descendants,
// so nothing below it gets away by leaving a group, a session or a parent.
func EndBelow(grace time.Duration) (int, error) {
	if noChildren() {
		return 0, nil
	}
	h := newHunt(grace)
	for {
		all, err := processes()
		if err != nil {
			return len(h.seen), fmt.Errorf("end descendants: %w", err)
		}
		prey := livingTree(all, rootsOf(all, "", true, nil), nil)
		h.reapOwn()
		if len(prey) == 0 {
			reapLeft(0, true)
			return len(h.seen), nil
		}
		if !h.round(prey) {
			return len(h.seen), fmt.Errorf("end descendants: %d %w", len(prey), ErrSurvivors)
		}
	}
}

// ReapOrphans takes away the dead children of the calling process except one,
// which its starter waits for: a program that forks for hours would fill the
// process table of the subreaper above it.
func ReapOrphans(except int) {
	if zombies() {
		reapLeft(except, true)
	}
}
